// SPDX-License-Identifier: MIT

import Dispatch
import FeatureRelay
import RaceSupport
import Testing

/// What happens between threads, and while a handler is suspended.
@MainActor
struct ConcurrencyTests {
  let relay = Relay(scope: "concurrency")
  let ledger = Ledger()

  @Test func handlersRunOnTheMainActorWhereverTheCommandComesFrom() async {
    ledger.onWrite = { _ in MainActor.assertIsolated() }
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    let queue = DispatchQueue(label: "delegate")
    await withCheckedContinuation { continuation in
      queue.async {
        relay.dispatch(LedgerFeature.self) { ledger in
          MainActor.assertIsolated()
          try ledger.write(1)
        }
        continuation.resume()
      }
    }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    await withCheckedContinuation { continuation in
      timer.setEventHandler { @Sendable in
        relay.write(2)
        continuation.resume()
      }
      timer.schedule(deadline: .now())
      timer.resume()
    }
    timer.cancel()
    await Task.detached { _ = relay.write(3) }.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
  }

  @Test func whileAHandlerIsSuspendedNothingStartsTwiceAndNothingAfterAReset() async {
    let latch = Latch()
    let relay = relay
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      try ledger.write(1)
      await latch.wait()
      try ledger.write(10)
    }
    await latch.arrival()
    relay.write(2, tags: ["a"])
    relay.write(3)
    await mainTurn()
    #expect(ledger.numbers == [1])
    #expect(relay.cancel(tagged: "a") == 1)
    relay.reset()
    registration.cancel()
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(4)
    latch.open()
    await relay.waitUntilIdle()
    await mainTurn()
    #expect(ledger.numbers.filter { $0 != 10 } == [1, 4])
    #expect(relay.counts.delivered == 1)
    #expect(relay.counts.dropped(.reset) == 2)
    #expect(relay.counts.isBalanced)
  }

  @Test func aHandlerThatIsCancelledDuringAnAsynchronousCommandGetsNoFurtherOne() async {
    let latch = Latch()
    let next = Ledger()
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { ledger async throws in
      try ledger.write(1)
      await latch.wait()
    }
    await latch.arrival()
    relay.write(2)
    registration.cancel()
    relay.register(next, for: LedgerFeature.self)
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(next.numbers == [2])
  }

  @Test func aHandlerMayCallTheRelayWhileOthersDo() {
    let other = Mirror()
    ledger.onWrite = { [relay] number in
      guard number < 1_000 else { return }
      let registration = relay.register(other, for: MirrorFeature.self)
      // Another thread is in the relay at the same time: it must not wait for this handler's end.
      onAnotherThread {
        relay.write(1_000 + number)
        relay.cancel(tagged: "none")
        _ = relay.pendingCount
        _ = relay.dump()
        _ = relay.counts
        relay.register(other, for: MirrorFeature.self).cancel()
      }
      registration.cancel()
      relay.write(2_000 + number)
      relay.cancel(tagged: "none", includingRunning: true)
      _ = relay.pendingCount
      relay.unregister(other, for: MirrorFeature.self)
      relay.clearQueue(MirrorFeature.self)
      _ = relay.isRegistered(LedgerFeature.self)
    }
    relay.register(ledger, for: LedgerFeature.self)
    for number in 0..<20 { relay.write(number) }
    #expect(ledger.numbers.count == 60)
    #expect(relay.counts.isBalanced)
  }

  @Test func aHandlerMayResetOrCloseTheRelayThatCallsIt() {
    ledger.onWrite = { [relay] number in
      if number == 1 { relay.reset() }
      if number == 3 { relay.close() }
    }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .delivered)
    #expect(!relay.isRegistered(LedgerFeature.self))
    #expect(relay.write(2).outcome == .waiting)
    relay.register(ledger, for: LedgerFeature.self)
    relay.clearQueue()
    #expect(relay.write(3).outcome == .delivered)
    #expect(relay.write(4).outcome == .refused(.closed))
    #expect(ledger.numbers == [1, 3])
    #expect(relay.counts.isBalanced)
  }

  @Test func whatAHandlerQueuedBeforeItResetsIsDroppedAndSaidSo() {
    var inner: Acceptance?
    ledger.onWrite = { [relay] number in
      guard number == 1 else { return }
      inner = relay.write(2)
      relay.reset()
    }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    #expect(ledger.numbers == [1])
    #expect(inner?.id.flatMap { relay.status(of: $0) } == .dropped(.reset))
  }

  @Test func aConsumersEndLosesNoCommands() async {
    let relay = relay
    for number in 1...5 { relay.write(number) }
    let first = Ledger()
    first.onWrite = { [unowned first] number in
      if number == 2 { relay.unregister(first, for: LedgerFeature.self) }
    }
    relay.register(first, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(first.numbers == [1, 2])
    #expect(relay.pendingCount == 3)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [3, 4, 5])
  }

  @Test func aCancelledTaskMayStillDispatch() async {
    let relay = relay
    relay.register(ledger, for: LedgerFeature.self)
    let task = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(Task.isCancelled)
      return relay.write(1)
    }
    #expect(await task.value.isAccepted)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func registeringNeverDeliversBeforeItReturns() async {
    relay.write(1)
    relay.write(2)
    relay.register(ledger, for: LedgerFeature.self)
    #expect(ledger.numbers == [])
    await mainTurn()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func twoAlertsAreShownOneAfterTheOther() async {
    let latches = [Latch(), Latch()]
    let shown = Latched((now: 0, most: 0, order: [Int]()))
    let relay = relay
    for alert in 0..<2 {
      relay.dispatch(LedgerFeature.self) { _ async in
        shown.update {
          $0.now += 1
          $0.most = max($0.most, $0.now)
          $0.order.append(alert)
        }
        await latches[alert].wait()
        shown.update { $0.now -= 1 }
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    await latches[0].arrival()
    await mainTurn()
    #expect(shown.value.order == [0])
    latches[0].open()
    await latches[1].arrival()
    latches[1].open()
    await relay.waitUntilIdle()
    #expect(shown.value.most == 1)
    #expect(shown.value.order == [0, 1])
  }

  @Test func aBusyPresenterGetsItsCommandAgain() async throws {
    struct ShowAlert: AsyncRelayCommand {
      static let policy = CommandPolicy(retry: .later(.constant(.seconds(1))))
      var number: Int
      func execute(on ledger: any LedgerFeature) async throws { try ledger.write(number) }
    }
    let clock = ManualClock()
    let relay = Relay(
      scope: "alerts", configuration: try RelayConfiguration(clock: clock.relayClock))
    var isBusy = true
    ledger.onWrite = { _ in if isBusy { throw Refusal() } }
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(ShowAlert(number: 1))
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 1)
    isBusy = false
    clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 1])
    #expect(relay.counts.delivered == 1)
  }

  @Test func aHandlerThatNeverReturnsBlocksNoOtherFeature() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "stuck", configuration: try RelayConfiguration(clock: clock.relayClock))
    let latch = Latch()
    let mirror = Mirror()
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    relay.dispatch(LedgerFeature.self, executionLimit: .seconds(30)) { _ async in
      await latch.wait()
    }
    await latch.arrival()
    relay.write(2)
    #expect(relay.show(1).outcome == .delivered)
    clock.advance(by: .seconds(30))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [2])
    latch.open()
  }

  @Test func aGateThatTheFirstCommandClosesHoldsTheSecondBack() async {
    let relay = relay
    ledger.onWrite = { number in if number == 1 { relay.gate.close(for: "background") } }
    relay.gate.close(for: "background")
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    relay.write(2)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    relay.gate.open(for: "background")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.pendingCount == 1)
  }

  @Test func analyticsNeedNoVisibleApp() async throws {
    relay.configure(MirrorFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    let mirror = Mirror()
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    relay.gate.close(for: "background")
    relay.write(1)
    #expect(relay.show(1).outcome == .delivered)
    #expect(ledger.numbers == [])
  }

  @Test func aResetFromElsewhereMidDeliveryEndsIt() async {
    let relay = relay
    for number in 1...5 { relay.write(number) }
    ledger.onWrite = { number in if number == 2 { onAnotherThread { relay.reset() } } }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
    #expect(relay.counts.dropped(.reset) == 3)
  }
}
