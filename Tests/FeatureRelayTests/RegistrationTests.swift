// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private final class Coordinator: LedgerFeature, MirrorFeature {
  var log: [String] = []
  func write(_ number: Int) { log.append("write \(number)") }
  func show(_ number: Int) { log.append("show \(number)") }
}

private class Screen {
  var log: [Int] = []
}

private final class LedgerScreen: Screen, LedgerFeature, @unchecked Sendable {
  func write(_ number: Int) { log.append(number) }
}

private struct NoClass: Sendable {}
private protocol Unbound: Sendable {}
private struct Unbounded: Unbound {}

@MainActor
struct RegistrationTests {
  let relay = Relay(scope: "registration")
  let ledger = Ledger()

  @Test func idsAreUnique() {
    let ids = (0..<100).map { _ in relay.register(ledger, for: LedgerFeature.self).id }
    #expect(Set(ids).count == 100)
  }

  @Test func droppingARegistrationChangesNothing() {
    var registration: Registration? = relay.register(ledger, for: LedgerFeature.self)
    registration = nil
    relay.write(1)
    #expect(ledger.numbers == [1] && registration == nil)
  }

  @Test func aCoordinatorThatWasUsedInOneFeatureIsNotSaidToBeUnused() {
    var coordinator: Coordinator? = Coordinator()
    relay.register(coordinator!, for: LedgerFeature.self, MirrorFeature.self)
    relay.write(1)
    coordinator = nil
    relay.show(1)
    #expect(relay.snapshot().problems.isEmpty && coordinator == nil)
  }

  @Test func aCoordinatorThatWasNeverUsedIsSaidToBe() {
    var coordinator: Coordinator? = Coordinator()
    relay.register(coordinator!, for: LedgerFeature.self, MirrorFeature.self)
    coordinator = nil
    relay.show(1)
    #expect(relay.snapshot().problems.count == 1 && coordinator == nil)
  }

  @Test func cancellingTwiceIsOnce() {
    let below = Ledger()
    relay.register(below, for: LedgerFeature.self)
    let registration = relay.register(ledger, for: LedgerFeature.self)
    registration.cancel()
    registration.cancel()
    relay.write(1)
    #expect(below.numbers == [1])
  }

  @Test func cancellingWorksFromAnyThread() {
    let registration = relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { registration.cancel() }
    #expect(!relay.isRegistered(LedgerFeature.self))
    #expect(relay.write(1).outcome == .waiting)
  }

  @Test func cancellingAfterTheRelayIsGoneIsHarmless() {
    var relay: Relay? = Relay(scope: "brief")
    let registration = relay!.register(ledger, for: LedgerFeature.self)
    relay = nil
    registration.cancel()
    #expect(registration.next(LedgerFeature.self) == nil && relay == nil)
  }

  @Test func aRegistrationKeepsNeitherRelayNorHandlerAlive() {
    var relay: Relay? = Relay(scope: "brief")
    var handler: Ledger? = Ledger()
    weak let weakRelay = relay
    weak let weakHandler = handler
    let registration = relay!.register(handler!, for: LedgerFeature.self)
    relay = nil
    handler = nil
    #expect(weakRelay == nil && weakHandler == nil)
    registration.cancel()
  }

  @Test func whenTheNewestGoesTheOneBelowIsActiveAgain() {
    let (middle, top) = (Ledger(), Ledger())
    relay.register(ledger, for: LedgerFeature.self)
    let second = relay.register(middle, for: LedgerFeature.self)
    let third = relay.register(top, for: LedgerFeature.self)
    relay.write(1)
    third.cancel()
    relay.write(2)
    second.cancel()
    relay.write(3)
    #expect(top.numbers == [1] && middle.numbers == [2] && ledger.numbers == [3])
  }

  @Test func whenTheNewestDiesTheOneBelowIsActiveAgain() {
    relay.register(ledger, for: LedgerFeature.self)
    var top: Ledger? = Ledger()
    relay.register(top!, for: LedgerFeature.self)
    relay.write(1)
    top = nil
    relay.write(2)
    #expect(ledger.numbers == [2] && top == nil)
  }

  @Test func cancellingTheNewestHandsTheQueueToTheOneBelow() async {
    relay.register(ledger, for: LedgerFeature.self)
    let top = Ledger()
    let registration = relay.register(top, for: LedgerFeature.self)
    relay.writeElsewhere(1)
    registration.cancel()
    await relay.waitUntilIdle()
    #expect(top.numbers == [])
    #expect(ledger.numbers == [1])
  }

  @Test func nextIsTheLiveHandlerBelow() {
    let (dead, top) = (Latched<Ledger?>(Ledger()), Ledger())
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(dead.value!, for: LedgerFeature.self)
    let registration = relay.register(top, for: LedgerFeature.self)
    #expect(registration.next(LedgerFeature.self) === dead.value)
    dead.update { $0 = nil }
    #expect(registration.next(LedgerFeature.self) === ledger)
    relay.unregister(ledger, for: LedgerFeature.self)
    #expect(registration.next(LedgerFeature.self) == nil)
  }

  @Test func nextGoesOnInTheParents() throws {
    let child = Relay(scope: "child", parent: relay)
    let registration = child.register(ledger, for: LedgerFeature.self)
    #expect(registration.next(LedgerFeature.self) == nil)
    let parents = Ledger()
    relay.register(parents, for: LedgerFeature.self)
    #expect(registration.next(LedgerFeature.self) === parents)
  }

  @Test func aHandlerMayPassOnWhatItDoesNotHandle() {
    let top = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    let registration = relay.register(top, for: LedgerFeature.self)
    top.onWrite = { number in
      if number == 2 { try registration.next(LedgerFeature.self)?.write(number) }
    }
    relay.write(1)
    relay.write(2)
    #expect(top.numbers == [1, 2])
    #expect(ledger.numbers == [2])
  }

  @Test func nextOfAnEndedRegistrationIsNothing() {
    relay.register(ledger, for: LedgerFeature.self)
    let registration = relay.register(Ledger(), for: LedgerFeature.self, ownership: .owned)
    #expect(registration.next(LedgerFeature.self) === ledger)
    registration.cancel()
    #expect(registration.next(LedgerFeature.self) == nil)
  }

  @Test func nextIsPerFeature() {
    let (coordinator, mirror) = (Coordinator(), Mirror())
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    let both = relay.register(coordinator, for: LedgerFeature.self, MirrorFeature.self)
    #expect(both.next(LedgerFeature.self) === ledger)
    #expect(both.next(MirrorFeature.self) === mirror)
    let one = relay.register(Ledger(), for: LedgerFeature.self, ownership: .owned)
    #expect(one.next(MirrorFeature.self) == nil)
  }

  @Test func aCoordinatorServesAllItsFeaturesUnderOneRegistration() {
    let coordinator = Coordinator()
    let registration = relay.register(coordinator, for: LedgerFeature.self, MirrorFeature.self)
    relay.write(1)
    relay.show(2)
    #expect(coordinator.log == ["write 1", "show 2"])
    #expect(relay.isRegistered(MirrorFeature.self))
    registration.cancel()
    #expect(!relay.isRegistered(LedgerFeature.self))
    #expect(!relay.isRegistered(MirrorFeature.self))
  }

  @Test func aBagEndsItsRegistrationsWithItsLife() {
    var bag: RegistrationBag? = RegistrationBag()
    relay.register(ledger, for: LedgerFeature.self).store(in: bag!)
    let mirror = Mirror()
    bag!.insert(relay.register(mirror, for: MirrorFeature.self))
    #expect(relay.isRegistered(LedgerFeature.self) && relay.isRegistered(MirrorFeature.self))
    bag = nil
    #expect(!relay.isRegistered(LedgerFeature.self) && !relay.isRegistered(MirrorFeature.self))
    #expect(bag == nil)
  }

  @Test func aBagCanBeEmptiedAndUsedAgain() {
    let bag = RegistrationBag()
    relay.register(ledger, for: LedgerFeature.self).store(in: bag)
    bag.cancelAll()
    #expect(!relay.isRegistered(LedgerFeature.self))
    let kept = relay.register(ledger, for: LedgerFeature.self)
    bag.cancelAll()
    #expect(relay.isRegistered(LedgerFeature.self))
    kept.store(in: bag)
    bag.cancelAll()
    #expect(!relay.isRegistered(LedgerFeature.self))
  }

  @Test func unregisteringAFeatureRemovesItsWholeStack() {
    let mirror = Mirror()
    relay.register(Ledger(), for: LedgerFeature.self, ownership: .owned)
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    relay.unregister(LedgerFeature.self)
    #expect(!relay.isRegistered(LedgerFeature.self))
    #expect(relay.isRegistered(MirrorFeature.self))
    relay.unregisterAll()
    #expect(!relay.isRegistered(MirrorFeature.self))
  }

  @Test func unregisteringAHandlerLeavesOthersAlone() {
    let other = Ledger()
    relay.register(other, for: LedgerFeature.self)
    relay.register(ledger, for: LedgerFeature.self)
    relay.unregister(ledger, for: LedgerFeature.self)
    relay.unregister(Ledger(), for: LedgerFeature.self)
    relay.write(1)
    #expect(other.numbers == [1])
    #expect(ledger.numbers == [])
  }

  @Test func anOwnedHandlerLivesUntilItIsUnregistered() async {
    var handler: Ledger? = Ledger()
    weak let reference = handler
    let registration = relay.register(handler!, for: LedgerFeature.self, ownership: .owned)
    handler = nil
    #expect(relay.write(1).outcome == .delivered)
    #expect(reference?.numbers == [1])
    registration.cancel()
    await mainTurn()
    #expect(reference == nil && handler == nil)
  }

  @Test func anOwnedHandlerGoesWithItsRelay() async {
    var relay: Relay? = Relay(scope: "owner")
    weak var reference: Ledger?
    do {
      let handler = Ledger()
      reference = handler
      relay!.register(handler, for: LedgerFeature.self, ownership: .owned)
    }
    #expect(reference != nil)
    relay = nil
    await mainTurn()
    #expect(reference == nil && relay == nil)
  }

  @Test func anOwnedHandlerGoesWithAReset() async {
    weak var reference: Ledger?
    do {
      let handler = Ledger()
      reference = handler
      relay.register(handler, for: LedgerFeature.self, ownership: .owned)
    }
    relay.reset()
    await mainTurn()
    #expect(reference == nil)
  }

  @Test func ownershipFollowsTheLastRegistrationOfAnObject() async {
    var handler: Ledger? = Ledger()
    weak let reference = handler
    relay.register(handler!, for: LedgerFeature.self, ownership: .owned)
    relay.register(handler!, for: LedgerFeature.self, ownership: .weak)
    handler = nil
    await mainTurn()
    #expect(reference == nil && handler == nil)
  }

  @Test func aWeakHandlerOutlivesNoCall() {
    var handler: Ledger? = Ledger()
    weak let reference = handler
    relay.register(handler!, for: LedgerFeature.self)
    let isAliveInside = Latched(false)
    handler!.onWrite = { _ in isAliveInside.update { $0 = true } }
    relay.write(1)
    handler = nil
    #expect(reference == nil && isAliveInside.value && handler == nil)
  }

  @Test func compositionsBaseClassesAndClassesAreFeatures() {
    let screen = LedgerScreen()
    relay.register(screen, for: (Screen & LedgerFeature).self)
    relay.dispatch((Screen & LedgerFeature).self) { screen in
      try screen.write(1)
      screen.log.append(2)
    }
    relay.register(screen, for: LedgerScreen.self)
    relay.dispatch(LedgerScreen.self) { $0.write(3) }
    let coordinator = Coordinator()
    relay.register(coordinator, for: (LedgerFeature & MirrorFeature).self)
    relay.dispatch((LedgerFeature & MirrorFeature).self) { both in
      try both.write(4)
      try both.show(5)
    }
    #expect(screen.log == [1, 2, 3])
    #expect(coordinator.log == ["write 4", "show 5"])
  }

  @Test func aStructAsHandlerTrapsWithASentence() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Relay(scope: "trap").register(NoClass(), for: NoClass.self)
    }
    #expect(text(result.standardErrorContent).contains("a handler has to be a class"))
  }

  @Test func anOptionalAsHandlerTrapsWithASentence() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await MainActor.run {
        let ledger: Ledger? = Ledger()
        _ = Relay(scope: "trap").register(ledger, for: Ledger?.self)
      }
    }
    #expect(text(result.standardErrorContent).contains("unwrap the handler"))
  }

  @Test func aProtocolThatIsNotClassBoundTrapsWithASentence() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Relay(scope: "trap").register(Unbounded(), for: Unbound.self)
    }
    #expect(text(result.standardErrorContent).contains("Let it inherit from RelayFeature"))
  }

  @Test func aCoordinatorThatLacksAFeatureTrapsWithASentence() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await MainActor.run {
        _ = Relay(scope: "trap").register(
          Ledger(), for: LedgerFeature.self, MirrorFeature.self)
      }
    }
    #expect(text(result.standardErrorContent).contains("does not conform to"))
  }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
