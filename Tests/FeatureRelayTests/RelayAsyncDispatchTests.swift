// SPDX-License-Identifier: MIT

import Dispatch
import FeatureRelay
import RaceSupport
import Testing

private struct Slow: AsyncRelayCommand {
  static let policy = CommandPolicy(
    retry: .later(.constant(.seconds(1), attempts: 2)), executionLimit: .seconds(10))
  let latch: Latch
  var number: Int
  func execute(on ledger: any LedgerFeature) async throws {
    try ledger.write(number)
    await latch.wait()
  }
}

@MainActor
struct RelayAsyncDispatchTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "async", configuration: try RelayConfiguration(clock: clock.relayClock))
    relay.register(ledger, for: LedgerFeature.self)
  }

  @Test func anAsynchronousCommandStartsInALaterTurn() async {
    let acceptance = relay.dispatch(LedgerFeature.self) { ledger async throws in
      MainActor.assertIsolated()
      try ledger.write(1)
    }
    #expect(acceptance.outcome == .waiting)
    #expect(ledger.numbers == [])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(acceptance.id.flatMap { relay.status(of: $0) } == .delivered)
  }

  @Test func itHoldsTheLaneUntilItEnds() async {
    let latch = Latch()
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    #expect(relay.write(2).outcome == .waiting)
    #expect(relay.write(3, priority: .critical).outcome == .waiting)
    #expect(relay.counts.running == 1)
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 3, 2])
  }

  @Test func atItsExecutionLimitItIsCancelledAndTheLaneIsFree() async {
    let latch = Latch()
    let wasCancelled = Latched(false)
    let id = relay.dispatch(LedgerFeature.self, executionLimit: .seconds(10)) {
      ledger async throws in
      await latch.wait()
      wasCancelled.update { $0 = Task.isCancelled }
      try ledger.write(1)
    }.id!
    await latch.arrival()
    relay.write(2)
    clock.advance(by: .seconds(10) - .nanoseconds(1))
    await mainTurn()
    #expect(ledger.numbers == [])
    clock.advance(by: .nanoseconds(1))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [2])
    #expect(relay.status(of: id) == .dropped(.timedOut))
    let counts = relay.counts
    latch.open()
    while ledger.numbers.count < 2 { await mainTurn() }
    await mainTurn()
    #expect(wasCancelled.value)
    #expect(relay.status(of: id) == .dropped(.timedOut))
    #expect(relay.counts == counts)
    #expect(counts.isBalanced && counts.dropped(.timedOut) == 1)
    #expect(relay.write(3).outcome == .delivered)
  }

  @Test func theExecutionLimitRunsFromTheStart() async {
    let latch = Latch()
    relay.gate.close(for: "test")
    let id = relay.dispatch(LedgerFeature.self, executionLimit: .seconds(10)) { _ async in
      await latch.wait()
    }.id!
    clock.advance(by: .seconds(100))
    relay.gate.open(for: "test")
    await latch.arrival()
    clock.advance(by: .seconds(9))
    await mainTurn()
    #expect(relay.status(of: id) == .running)
    latch.open()
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .delivered)
  }

  @Test func theTimeToLiveEndsWithTheStart() async {
    let latch = Latch()
    let id = relay.dispatch(LedgerFeature.self, timeToLive: .seconds(1)) { _ async in
      await latch.wait()
    }.id!
    await latch.arrival()
    clock.advance(by: .seconds(100))
    await mainTurn()
    #expect(relay.status(of: id) == .running)
    latch.open()
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .delivered)
  }

  @Test func afterATimeoutThePolicyHasAFurtherAttempt() async {
    let latch = Latch()
    let id = relay.dispatch(Slow(latch: latch, number: 1)).id!
    await latch.arrival()
    clock.advance(by: .seconds(10))
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .waiting)
    clock.advance(by: .seconds(1))
    await latch.arrival(2)
    #expect(relay.status(of: id) == .running)
    clock.advance(by: .seconds(10))
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .dropped(.timedOut))
    #expect(ledger.numbers == [1, 1])
    #expect(relay.counts.isBalanced)
    latch.open()
  }

  @Test func theLateEndOfAnEarlierAttemptChangesNothing() async {
    let latch = Latch()
    let id = relay.dispatch(Slow(latch: latch, number: 1)).id!
    await latch.arrival()
    clock.advance(by: .seconds(10))
    await relay.waitUntilIdle()
    // The first attempt ends while the command waits for its second one.
    latch.open()
    for _ in 0..<5 { await mainTurn() }
    #expect(relay.status(of: id) == .waiting)
    #expect(relay.counts.delivered == 0)
    clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .delivered)
    #expect(relay.counts.delivered == 1)
  }

  @Test func aCancelledCommandThatRunsIntoItsLimitDoesNotComeAgain() async {
    let latch = Latch()
    let id = relay.dispatch(Slow(latch: latch, number: 1), tags: ["t"]).id!
    await latch.arrival()
    #expect(relay.cancel(tagged: "t", includingRunning: true) == 1)
    clock.advance(by: .seconds(10))
    await relay.waitUntilIdle()
    #expect(relay.status(of: id)?.isFinal == true)
    clock.advance(by: .seconds(10))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    latch.open()
  }

  @Test func cancellingIncludingRunningCancelsTheTask() async {
    let latch = Latch()
    let id = relay.dispatch(LedgerFeature.self, tags: ["t"]) { _ async throws in
      await latch.wait()
      try Task.checkCancellation()
    }.id!
    await latch.arrival()
    #expect(relay.cancel(tagged: "t") == 0)
    #expect(relay.cancel(tagged: "t", includingRunning: true) == 1)
    #expect(relay.status(of: id) == .running)
    latch.open()
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .dropped(.cancelled))
    #expect(relay.counts.dropped(.cancelled) == 1)
  }

  @Test func aCancelledCommandThatEndsAllTheSameIsDelivered() async {
    let latch = Latch()
    let id = relay.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }.id!
    await latch.arrival()
    #expect(!relay.cancel(id))
    #expect(relay.cancel(id, includingRunning: true))
    latch.open()
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .delivered)
  }

  @Test func aGoneOwnerDropsTheCommand() async {
    var owner: Token? = Token {}
    let id = relay.dispatch(LedgerFeature.self, owner: owner!) { ledger, _ async throws in
      try ledger.write(1)
    }.id!
    owner = nil
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .dropped(.ownerGone) && owner == nil)
    #expect(ledger.numbers == [])
    #expect(relay.counts.dropped(.ownerGone) == 1)
  }

  @Test func aLivingOwnerIsHandedOverAndLives() async {
    let mirror = Mirror()
    relay.dispatch(LedgerFeature.self, owner: mirror) { ledger, mirror async throws in
      try mirror.show(1)
      try ledger.write(2)
    }
    await relay.waitUntilIdle()
    #expect(mirror.numbers == [1] && ledger.numbers == [2])
  }

  @Test func aCommandThatThrowsIsToldAndTheLaneIsFree() async {
    let id = relay.dispatch(LedgerFeature.self) { _ async throws in throw Refusal() }.id!
    relay.write(2)
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .dropped(.failed))
    #expect(ledger.numbers == [2])
    #expect(relay.snapshot().problems.count == 1)
  }

  @Test func whatWasResetBeforeItsFirstTurnDoesNotStart() async {
    let relay = relay
    relay.dispatch(LedgerFeature.self) { ledger async throws in try ledger.write(1) }
    relay.reset()
    await mainTurn()
    await mainTurn()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(relay.counts.dropped(.reset) == 1)
  }

  @Test func anExecutionLimitCountsFromTheStart() async {
    relay.dispatch(LedgerFeature.self, executionLimit: .seconds(1)) { ledger async throws in
      try ledger.write(1)
    }
    clock.advance(by: .seconds(1))
    _ = relay.pendingCount
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.counts.dropped(.timedOut) == 0)
  }

  /// Does something between the dispatch of an asynchronous command, when it could be delivered, and
  /// its first turn.
  private func beforeTheFirstTurn(_ action: () -> Void) async {
    relay.dispatch(LedgerFeature.self, tags: ["t"]) { ledger async throws in try ledger.write(1) }
    action()
    for _ in 0..<4 { await mainTurn() }
    #expect(relay.counts.isBalanced)
  }

  @Test func aRegistrationCancelledBeforeTheFirstTurnGetsNoCommand() async {
    await beforeTheFirstTurn { [relay, ledger] in
      relay.unregister(ledger, for: LedgerFeature.self)
    }
    #expect(ledger.numbers == [])
    #expect(relay.pendingCount == 1)
    #expect(relay.snapshot().features[0].waiting[0].attempts == 0)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aHandlerRegisteredBeforeTheFirstTurnGetsTheCommand() async {
    let next = Ledger()
    await beforeTheFirstTurn { [relay] in relay.register(next, for: LedgerFeature.self) }
    #expect(ledger.numbers == [] && next.numbers == [1])
  }

  @Test func aGateClosedBeforeTheFirstTurnHoldsTheCommandBackInItsPlace() async {
    await beforeTheFirstTurn { [relay] in
      relay.gate.close(for: "background")
      relay.write(2)
    }
    #expect(ledger.numbers == [])
    #expect(relay.pendingCount == 2)
    clock.advance(by: .seconds(299))
    relay.gate.open(for: "background")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func whatWasHeldBackBeforeTheFirstTurnStillExpires() async {
    await beforeTheFirstTurn { [relay] in relay.gate.close(for: "background") }
    clock.advance(by: .seconds(300))
    await mainTurn()
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func whatWasCancelledAndHeldBackBeforeTheFirstTurnEnds() async {
    await beforeTheFirstTurn { [relay] in
      relay.cancel(tagged: "t", includingRunning: true)
      relay.gate.close(for: "background")
    }
    #expect(ledger.numbers == [])
    #expect(relay.counts.dropped(.cancelled) == 1)
    relay.gate.open(for: "background")
    #expect(relay.write(2).outcome == .delivered)
  }

  @Test func aParentsHandlerCancelledBeforeTheFirstTurnGetsNoCommand() async {
    let child = Relay(scope: "child", parent: relay)
    let (relay, ledger) = (relay, ledger)
    child.dispatch(LedgerFeature.self) { ledger async throws in try ledger.write(1) }
    relay.unregister(ledger, for: LedgerFeature.self)
    for _ in 0..<4 { await mainTurn() }
    #expect(ledger.numbers == [] && child.pendingCount == 1)
    let next = Ledger()
    relay.register(next, for: LedgerFeature.self)
    #expect(relay.write(2).outcome != .refused(.full))
    await child.waitUntilIdle()
    #expect(next.numbers.sorted() == [1, 2])
  }

  @Test func nextToAnotherFeaturesAsynchronousCommandNothingWaits() async {
    let latch = Latch()
    let mirror = Mirror()
    relay.register(mirror, for: MirrorFeature.self)
    relay.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    #expect(relay.show(1).outcome == .delivered)
    latch.open()
    await relay.waitUntilIdle()
  }

  @Test func aChainOfTenThousandAsynchronousCommandsEnds() async {
    let relay = relay
    ledger.onWrite = { number in
      guard number < 10_000 else { return }
      relay.dispatch(LedgerFeature.self) { ledger async throws in try ledger.write(number + 1) }
    }
    relay.write(1)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(1...10_000))
  }
}
