// SPDX-License-Identifier: MIT

import Dispatch
import FeatureRelay
import RaceSupport
import Testing

/// Quiescence, emptying, closing and the relay's own end.
@MainActor
struct RelayTests {
  let relay = Relay(scope: "relay")
  let ledger = Ledger()

  @Test func anIdleRelayIsIdleAtOnce() async {
    await relay.waitUntilIdle()
    relay.write(1)
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 1)
  }

  @Test func idleMeansThatEverythingDeliverableHasRun() async {
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    let mirror = Mirror { number in if number < 5 { relay.writeElsewhere(number) } }
    relay.register(mirror, for: MirrorFeature.self)
    ledger.onWrite = { number in onAnotherThread { relay.show(number + 1) } }
    relay.writeElsewhere(1)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3, 4])
    #expect(mirror.numbers == [2, 3, 4, 5])
  }

  @Test func idleWaitsForAsynchronousCommands() async {
    let latch = Latch()
    let relay = relay
    let ledger = ledger
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    let task = Task { @MainActor in
      await relay.waitUntilIdle()
      return ledger.numbers
    }
    for _ in 0..<5 { await mainTurn() }
    latch.open()
    #expect(await task.value == [1])
  }

  @Test func idleCanBeAwaitedFromAnywhere() async {
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    await Task.detached {
      relay.write(1)
      await relay.waitUntilIdle()
      #expect(relay.counts.delivered == 1)
    }.value
  }

  @Test func aCommandDoesNotWaitForItself() async {
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      relay.show(1)
      await relay.waitUntilIdle()
      try ledger.write(1)
    }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aCommandDoesNotWaitForWhatWaitsForItsLane() async {
    let child = Relay(scope: "child", parent: relay)
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      child.write(2)
      await child.waitUntilIdle()
      try ledger.write(1)
    }
    await relay.waitUntilIdle()
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func aCommandWaitsForTheOthers() async {
    let latch = Latch()
    let mirror = Mirror()
    let relay = relay
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    relay.dispatch(MirrorFeature.self) { mirror async throws in
      await latch.wait()
      try mirror.show(1)
    }
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      latch.open()
      await relay.waitUntilIdle()
      try ledger.write(mirror.numbers.count)
    }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aClosedRelayIsIdle() async {
    let latch = Latch()
    let relay = relay
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    let task = Task { await relay.waitUntilIdle() }
    await mainTurn()
    relay.close()
    await task.value
    latch.open()
  }

  @Test func aResetEndsEverythingAndTheRelayCanBeUsedAgain() async {
    let latch = Latch()
    let relay = relay
    relay.register(ledger, for: LedgerFeature.self)
    let running = relay.dispatch(LedgerFeature.self, unique: .keepFirst("k")) {
      ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }.id!
    await latch.arrival()
    relay.gate(for: LedgerFeature.self).close(for: "kept")
    let waiting = relay.write(2).id!
    relay.reset()
    #expect(relay.status(of: running) == .dropped(.reset))
    #expect(relay.status(of: waiting) == .dropped(.reset))
    #expect(!relay.isRegistered(LedgerFeature.self))
    #expect(relay.pendingCount == 0)
    #expect(relay.gate(for: LedgerFeature.self).reasons == ["kept"])
    #expect(relay.counts.accepted == 2)
    relay.gate(for: LedgerFeature.self).open(for: "kept")
    let fresh = Ledger()
    relay.register(fresh, for: LedgerFeature.self)
    await mainTurn()
    #expect(relay.write(3, unique: .keepFirst("k")).outcome == .delivered)
    latch.open()
    while ledger.numbers.isEmpty { await mainTurn() }
    #expect(relay.counts.delivered == 1)
    #expect(relay.counts.isBalanced)
    #expect(fresh.numbers == [3])
  }

  @Test func aResetFromElsewhereCancelsTheTask() async {
    let latch = Latch()
    let wasCancelled = Latched(false)
    let relay = relay
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { _ async in
      await latch.wait()
      wasCancelled.update { $0 = Task.isCancelled }
    }
    await latch.arrival()
    onAnotherThread { relay.reset() }
    latch.open()
    while !wasCancelled.value { await mainTurn() }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .delivered)
  }

  @Test func aClosedRelayRefusesEverything() async {
    relay.register(ledger, for: LedgerFeature.self)
    relay.gate.close(for: "test")
    let id = relay.write(1).id!
    relay.close()
    relay.close()
    #expect(relay.status(of: id) == .dropped(.closed))
    #expect(relay.write(2).outcome == .refused(.closed))
    #expect(relay.show(2).outcome == .refused(.closed))
    relay.register(ledger, for: LedgerFeature.self)
    #expect(!relay.isRegistered(LedgerFeature.self))
    relay.gate.open(for: "test")
    relay.reset()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(relay.counts.refusedClosed == 2)
    #expect(relay.counts.offered == 3)
    #expect(relay.snapshot().isClosed)
  }

  @Test func aRelaysEndIsItsClose() async {
    let released = ReleaseTally()
    var brief: Relay? = Relay(scope: "brief")
    weak let reference = brief
    let events = brief!.events
    let token = Latched<Token?>(Token { released.add(1) })
    brief!.dispatch(LedgerFeature.self) { [token = token.value!] _ in _ = token }
    token.update { $0 = nil }
    brief = nil
    #expect(reference == nil && brief == nil)
    #expect(released.count == 1)
    var reasons: [DropReason] = []
    for await event in events {
      if case .dropped(let reason) = event.kind { reasons.append(reason) }
    }
    #expect(reasons == [.closed])
  }

  @Test func aDeliveryOnItsWayKeepsTheRelayForOneTurn() async {
    var brief: Relay? = Relay(scope: "brief")
    weak let reference = brief
    brief!.register(ledger, for: LedgerFeature.self)
    brief!.writeElsewhere(1)
    brief = nil
    await mainTurn()
    await mainTurn()
    #expect(ledger.numbers == [1])
    #expect(reference == nil && brief == nil)
  }

  @Test func aHandlerMayDropTheLastReferenceToItsRelay() {
    let brief = Latched<Relay?>(Relay(scope: "brief"))
    ledger.onWrite = { _ in brief.update { $0 = nil } }
    brief.value!.register(ledger, for: LedgerFeature.self)
    #expect(brief.value!.write(1).outcome == .delivered)
    #expect(ledger.numbers == [1])
    #expect(brief.value == nil)
  }

  @Test func aChildKeepsItsParentButNotTheOtherWayRound() {
    var parent: Relay? = Relay(scope: "parent")
    weak let weakParent = parent
    var child: Relay? = Relay(scope: "child", parent: parent)
    weak let weakChild = child
    parent = nil
    #expect(weakParent != nil && parent == nil)
    #expect(child?.parent === weakParent)
    child = nil
    #expect(weakChild == nil && weakParent == nil && child == nil)
  }

  @Test func thousandsOfChildrenLeaveNothingWithTheirParent() {
    for number in 0..<2_000 {
      let child = Relay(scope: "child \(number)", parent: relay)
      child.write(number)
    }
    let late = Relay(scope: "late", parent: relay)
    late.write(1)
    relay.register(ledger, for: LedgerFeature.self)
    late.write(2)
    #expect(ledger.numbers == [1, 2])
  }

  @Test func countsAreOfOneFeatureOrOfAll() {
    relay.write(1)
    relay.show(1)
    relay.show(2)
    #expect(relay.pendingCount(LedgerFeature.self) == 1)
    #expect(relay.pendingCount(MirrorFeature.self) == 2)
    #expect(relay.pendingCount(Ledger.self) == 0)
    #expect(relay.pendingCount == 3)
    #expect(relay.counts(of: MirrorFeature.self).accepted == 2)
    #expect(relay.counts.accepted == 3)
  }

  @Test func aHandlerThatInstallsItsSuccessorGetsNoFurtherCommand() async {
    let (relay, next) = (relay, Ledger())
    ledger.onWrite = { _ in relay.register(next, for: LedgerFeature.self) }
    for number in 1...3 { relay.write(number) }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    relay.write(4)
    #expect(ledger.numbers == [1])
    #expect(next.numbers == [2, 3, 4])
  }

  @Test func aHandlerThatGoesDuringItsCallLeavesTheRestWaiting() async {
    let relay = relay
    let brief = Latched<Ledger?>(Ledger())
    brief.value!.onWrite = { _ in brief.update { $0 = nil } }
    for number in 1...3 { relay.write(number) }
    relay.register(brief.value!, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(brief.value == nil)
    #expect(relay.counts.delivered == 1)
    #expect(relay.pendingCount == 2)
  }

  @Test func aParentsHandlerIsNotARegistrationOfTheChild() {
    let child = Relay(scope: "child", parent: relay)
    relay.register(ledger, for: LedgerFeature.self)
    #expect(!child.isRegistered(LedgerFeature.self))
    #expect(child.write(1).outcome == .delivered)
  }

  @Test func immediateReplayDeliversBeforeRegisterReturns() throws {
    let relay = Relay(scope: "test", configuration: try RelayConfiguration(replay: .immediate))
    relay.write(1)
    relay.writeElsewhere(2)
    relay.register(ledger, for: LedgerFeature.self)
    #expect(ledger.numbers == [1, 2])
    relay.gate.close(for: "test")
    relay.write(3)
    relay.gate.open(for: "test")
    #expect(ledger.numbers == [1, 2, 3])
    relay.gate(for: LedgerFeature.self).close(for: "test")
    relay.write(4)
    relay.gate(for: LedgerFeature.self).open(for: "test")
    #expect(ledger.numbers == [1, 2, 3, 4])
  }

  @Test func immediateReplayReachesChildren() throws {
    let configuration = try RelayConfiguration(replay: .immediate)
    let parent = Relay(scope: "parent", configuration: configuration)
    let child = Relay(scope: "child", parent: parent, configuration: configuration)
    child.write(1)
    parent.register(ledger, for: LedgerFeature.self)
    #expect(ledger.numbers == [1])
    parent.gate.close(for: "test")
    child.write(2)
    parent.gate.open(for: "test")
    #expect(ledger.numbers == [1, 2])
  }

  @Test func immediateReplayElsewhereIsALaterTurn() async throws {
    let relay = Relay(scope: "test", configuration: try RelayConfiguration(replay: .immediate))
    let ledger = ledger
    relay.write(1)
    onAnotherThread { relay.register(ledger, for: LedgerFeature.self) }
    #expect(ledger.numbers == [])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  /// How far the handler has come after each of its turns: looked at between two of them.
  private func progress(to count: Int) async -> [Int] {
    let ledger = ledger
    let seen = Latched<[Int]>([])
    @Sendable func look(_ done: CheckedContinuation<Void, Never>) {
      DispatchQueue.main.async {
        let delivered = MainActor.assumeIsolated { ledger.numbers.count }
        seen.update { $0.append(delivered) }
        if delivered < count { look(done) } else { done.resume() }
      }
    }
    await withCheckedContinuation { look($0) }
    return seen.value
  }

  @Test func aBatchYieldsAfter256Commands() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "batch", configuration: try RelayConfiguration(clock: clock.relayClock))
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<600 { relay.write(number) } }
    #expect(await progress(to: 600) == [256, 512, 600])
  }

  @Test func aBatchYieldsAfterTwoMillisecondsOfTheRelaysClock() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "slow", configuration: try RelayConfiguration(clock: clock.relayClock))
    ledger.onWrite = { _ in clock.advance(by: .milliseconds(1)) }
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<6 { relay.write(number) } }
    #expect(await progress(to: 6) == [2, 4, 6])
  }

  @Test func aSlowCommandIsStillOnePerTurn() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "slow", configuration: try RelayConfiguration(clock: clock.relayClock))
    ledger.onWrite = { _ in clock.advance(by: .seconds(1)) }
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<3 { relay.write(number) } }
    #expect(await progress(to: 3) == [1, 2, 3])
  }

  @Test func aBatchWithinACallHasNoBound() {
    let relay = relay
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<600 { relay.write(number) } }
    relay.write(600)
    #expect(ledger.numbers.count == 601)
  }

  @Test func oneFeaturesFloodDoesNotStarveAnother() async {
    let relay = relay
    let mirror = Mirror()
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    let (ledger, before) = (ledger, Latched(-1))
    onAnotherThread {
      for number in 0..<5_000 { relay.write(number) }
      relay.dispatch(MirrorFeature.self) { _ in
        before.update { $0 = ledger.numbers.count }
      }
    }
    await relay.waitUntilIdle()
    #expect((0..<5_000).contains(before.value))
    #expect(ledger.numbers == Array(0..<5_000))
  }
}
