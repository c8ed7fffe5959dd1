// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

@MainActor
struct GateTests {
  let relay = Relay(scope: "gate")
  let ledger = Ledger()
  let mirror = Mirror()

  init() {
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
  }

  @Test func reasonsStandInTheOrderInWhichTheyCame() {
    #expect(relay.gate.isOpen)
    relay.gate.close(for: "login")
    relay.gate.close(for: "splash")
    relay.gate.close(for: "login")
    #expect(relay.gate.reasons == ["login", "splash"])
    #expect(!relay.gate.isOpen)
    relay.gate.open(for: "login")
    relay.gate.open(for: "nonsense")
    #expect(relay.gate.reasons == ["splash"])
    relay.gate.open(for: "splash")
    #expect(relay.gate.isOpen)
  }

  @Test func theGateIsOpenOnlyWhenNoReasonIsLeft() async {
    relay.gate.close(for: "login")
    relay.gate.close(for: "splash")
    relay.write(1)
    relay.gate.open(for: "login")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    relay.gate.open(for: "splash")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aFeaturesGateHoldsBackThatFeatureOnly() async {
    relay.gate(for: LedgerFeature.self).close(for: "splash")
    #expect(relay.write(1).outcome == .waiting)
    #expect(relay.show(1).outcome == .delivered)
    #expect(relay.gate.isOpen)
    #expect(relay.gate(for: MirrorFeature.self).isOpen)
    #expect(relay.gate(for: LedgerFeature.self).reasons == ["splash"])
    relay.gate(for: LedgerFeature.self).open(for: "splash")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func bothGatesHaveToBeOpen() async {
    relay.gate.close(for: "a")
    relay.gate(for: LedgerFeature.self).close(for: "b")
    relay.write(1)
    relay.gate.open(for: "a")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    relay.gate(for: LedgerFeature.self).open(for: "b")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aFeatureUsedForTheFirstTimeFollowsAClosedGate() {
    let relay = Relay(scope: "new")
    relay.gate.close(for: "a")
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .waiting)
  }

  @Test func exemptFeaturesIgnoreTheRelaysGateButNotTheirOwn() throws {
    relay.configure(MirrorFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    relay.gate.close(for: "background")
    #expect(relay.show(1).outcome == .delivered)
    relay.gate(for: MirrorFeature.self).close(for: "own")
    #expect(relay.show(2).outcome == .waiting)
    #expect(mirror.numbers == [1])
  }

  @Test func aFeatureExemptedWhileTheGateIsClosedIsDelivered() async throws {
    relay.gate.close(for: "background")
    relay.show(1)
    relay.configure(MirrorFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    await relay.waitUntilIdle()
    #expect(mirror.numbers == [1])
  }

  @Test func aFeatureExemptedWhileAParentServesItIsDelivered() async throws {
    let child = Relay(scope: "child", parent: relay)
    child.gate.close(for: "background")
    child.show(1)
    child.configure(MirrorFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    await mainTurn()
    #expect(mirror.numbers == [1])
  }

  @Test func parentsGatesStandOnTheWayToTheirHandlers() async {
    let child = Relay(scope: "child", parent: relay)
    let grandchild = Relay(scope: "grandchild", parent: child)
    for closed in [relay, child, grandchild] {
      let before = ledger.numbers.count
      closed.gate.close(for: "test")
      #expect(grandchild.write(1).outcome == .waiting)
      await grandchild.waitUntilIdle()
      #expect(ledger.numbers.count == before)
      closed.gate.open(for: "test")
      #expect(ledger.numbers.count == before)
      await grandchild.waitUntilIdle()
      #expect(ledger.numbers.count == before + 1)
    }
  }

  @Test func parentsFeatureGatesStandOnTheWayToo() async {
    let child = Relay(scope: "child", parent: relay)
    relay.gate(for: LedgerFeature.self).close(for: "test")
    child.write(1)
    await child.waitUntilIdle()
    #expect(ledger.numbers == [])
    relay.gate(for: LedgerFeature.self).open(for: "test")
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aParentsGateDoesNotMatterToTheChildsOwnHandler() {
    let child = Relay(scope: "child", parent: relay)
    let own = Ledger()
    child.register(own, for: LedgerFeature.self)
    relay.gate.close(for: "test")
    #expect(child.write(1).outcome == .delivered)
    #expect(own.numbers == [1])
  }

  @Test func closingBetweenTwoCommandsHoldsTheSecondBack() async {
    let relay = relay
    ledger.onWrite = { number in
      if number == 1 { relay.gate(for: LedgerFeature.self).close(for: "test") }
    }
    onAnotherThread { for number in 1...2 { relay.write(number) } }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.pendingCount == 1)
  }

  @Test func aCommandThatRunsIsNotInterrupted() async {
    let latch = Latch()
    let relay = relay
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    relay.gate.close(for: "test")
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aClosedGateKeepsOrderAndPriorities() async {
    relay.gate.close(for: "test")
    relay.write(1)
    relay.writeElsewhere(2)
    relay.write(3, priority: .high)
    relay.gate.open(for: "test")
    relay.gate.close(for: "again")
    relay.write(4)
    relay.gate.open(for: "again")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [3, 1, 2, 4])
  }

  @Test func openingWorksFromAnyThread() async {
    relay.gate.close(for: "test")
    relay.write(1)
    let relay = relay
    onAnotherThread { relay.gate.open(for: "test") }
    #expect(ledger.numbers == [])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func manyThreadsClosingAndOpeningLeaveTheGateAsTheReasonsSay() async {
    let relay = relay
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for _ in 0..<500 {
            relay.gate.close(for: "\(thread)")
            relay.gate.open(for: "\(thread)")
          }
        }
      }
    }
    #expect(relay.gate.isOpen)
    #expect(relay.write(1).outcome == .delivered)
    let isOpen = relay.snapshot().features.map(\.isOpen)
    #expect(isOpen == [true, true])
  }
}
