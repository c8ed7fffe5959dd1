// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private struct Typed: RelayCommand, Equatable {
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

@MainActor
struct RelayDispatchTests {
  let relay = Relay(scope: "dispatch")
  let ledger = Ledger()

  @Test func aDeliveredCommandNeedsNoId() {
    relay.register(ledger, for: LedgerFeature.self)
    let acceptance = relay.write(1)
    #expect(acceptance.outcome == .delivered && acceptance.id == nil && acceptance.isAccepted)
    #expect(acceptance.durability == .inMemory)
    #expect(relay.dispatch(Typed(number: 2)).outcome == .delivered)
    #expect(ledger.numbers == [1, 2])
  }

  @Test func aFailedCommandSaysSo() {
    ledger.onWrite = { _ in throw Refusal() }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .failed)
    #expect(relay.dispatch(Typed(number: 2)).outcome == .failed)
    let owned = relay.dispatch(LedgerFeature.self, owner: ledger) { ledger, _ in try ledger.write(3)
    }
    #expect(owned.outcome == .failed)
    #expect(relay.counts.dropped(.failed) == 3)
    #expect(relay.counts.isBalanced)
  }

  @Test func afterAFailureTheLaneIsFree() {
    ledger.onWrite = { [relay] number in
      if number == 1 {
        relay.write(2)
        throw Refusal()
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .failed)
    #expect(ledger.numbers == [1, 2])
    #expect(relay.write(3).outcome == .delivered)
  }

  @Test func anEmptiedCommandSaysHowItEnded() async {
    // The first of two waiting commands resets the relay: the second one's dispatch tells it.
    let relay = relay
    ledger.onWrite = { number in if number == 1 { relay.reset() } }
    relay.write(1)
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(2).outcome == .dropped(.reset))
    #expect(ledger.numbers == [1])
  }

  @Test func theResultOfAClosureIsIgnored() {
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { _ in 42 }
    relay.dispatch(LedgerFeature.self, owner: ledger) { _, _ in "text" }
    #expect(relay.counts.delivered == 2)
  }

  @Test func anOwnerIsHandedOverWhileItLives() async {
    let mirror = Mirror()
    relay.dispatch(LedgerFeature.self, owner: mirror) { ledger, mirror in
      try mirror.show(1)
      try ledger.write(1)
    }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    relay.dispatch(LedgerFeature.self, owner: mirror) { _, mirror in try mirror.show(2) }
    #expect(mirror.numbers == [1, 2] && ledger.numbers == [1])
  }

  @Test func aGoneOwnersCommandIsDroppedWithoutACall() async {
    var owner: Mirror? = Mirror()
    let id = relay.dispatch(LedgerFeature.self, owner: owner!) { ledger, _ in try ledger.write(1) }
      .id!
    relay.write(2)
    owner = nil
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .dropped(.ownerGone) && owner == nil)
    #expect(ledger.numbers == [2])
  }

  @Test func aDispatchFromADeinitIsAnOrdinaryOne() {
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    var token: Token? = Token { relay.write(1) }
    token = nil
    #expect(ledger.numbers == [1] && token == nil)
  }

  @Test func captureListsThatRegisterCancelAndDispatchArePartOfTheCommand() {
    let relay = relay
    let other = Ledger()
    let registration = relay.register(ledger, for: LedgerFeature.self)
    var handler: Ledger? = ledger
    func disturb() -> Int {
      registration.cancel()
      relay.register(other, for: LedgerFeature.self)
      relay.write(2)
      handler = nil
      return 1
    }
    relay.dispatch(LedgerFeature.self) { [number = disturb()] in try $0.write(number) }
    #expect(ledger.numbers == [1])
    #expect(other.numbers == [2] && handler == nil)
    #expect(relay.counts.isBalanced)
  }

  @Test func commandsOfManyTypesAndFeaturesFindTheirHandlers() async {
    // More features than the first table has cells.
    let relay = relay
    var delivered = 0
    func serve<F: AnyObject & Sendable>(_ handler: F) {
      relay.register(handler, for: F.self, ownership: .owned)
      relay.dispatch(F.self) { _ in delivered += 1 }
    }
    serve(Generic<Int>())
    serve(Generic<Int8>())
    serve(Generic<Int16>())
    serve(Generic<Int32>())
    serve(Generic<Int64>())
    serve(Generic<UInt>())
    serve(Generic<UInt8>())
    serve(Generic<UInt16>())
    serve(Generic<UInt32>())
    serve(Generic<UInt64>())
    serve(Generic<Float>())
    serve(Generic<String>())
    serve(Generic<Bool>())
    serve(Generic<Character>())
    relay.dispatch(Generic<Int>.self) { _ in delivered += 1 }
    #expect(delivered == 15)
    #expect(relay.snapshot().features.count == 14)
  }

  @Test func aClassHierarchyIsSeveralFeatures() {
    class Base: @unchecked Sendable {}
    final class Derived: Base, @unchecked Sendable {}
    let derived = Derived()
    relay.register(derived, for: Derived.self)
    #expect(relay.dispatch(Base.self) { _ in }.outcome == .waiting)
    relay.register(derived, for: Base.self)
    #expect(relay.dispatch(Base.self) { _ in }.outcome == .delivered)
  }
}

private final class Generic<Value>: Sendable {}

@MainActor
struct CommandValueTests {
  @Test func tagsAreNamedOrUnique() {
    #expect(CommandTag("a") == "a")
    #expect(CommandTag() != CommandTag())
    #expect(CommandTag.user(42) == CommandTag("user-42"))
    #expect(CommandTag("a").description == "a")
    #expect(CommandTag().description.hasPrefix("#"))
  }

  @Test func timesToLiveSayWhatTheyAre() {
    #expect(TimeToLive.seconds(3) == .limited(.seconds(3)))
    #expect(TimeToLive.milliseconds(3) == .limited(.milliseconds(3)))
    #expect(TimeToLive.unlimited.description == "unlimited")
  }

  @Test func outcomesAndReasonsReadLikeWords() {
    #expect(Acceptance.Outcome.refused(.full).description == "refused (full)")
    #expect(Acceptance.Outcome.dropped(.ownerGone).description == "dropped (owner gone)")
    let texts = Set(DropReason.allCases.map(\.description))
    #expect(texts.count == DropReason.allCases.count)
  }

  @Test func prioritiesAndDurabilitiesAreOrdered() {
    #expect(CommandPriority.allCases.sorted() == [.low, .normal, .high, .critical])
    #expect(Durability.inMemory < .survivesProcessDeath)
    #expect(Durability.survivesProcessDeath < .survivesPowerLoss)
  }
}
