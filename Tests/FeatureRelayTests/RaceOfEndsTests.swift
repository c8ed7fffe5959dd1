// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Synchronization
import XCTest

// Races of everything that ends commands: cancelling, clearing, timing out, reset, close and the
// relay's own end.

private protocol WorkFeature: RelayFeature {
  func work()
  func work(isLate: Bool)
  func wait(for latch: Latch) async
  func takeTurns(_ turns: Int) async throws
}

private final class RacingWorker: WorkFeature {
  var count = 0
  var lateCount = 0
  var started = 0

  func work() {
    MainActor.assertIsolated()
    count += 1
  }

  func work(isLate: Bool) {
    count += 1
    if isLate { lateCount += 1 }
  }

  func wait(for latch: Latch) async {
    started += 1
    await latch.wait()
  }

  func takeTurns(_ turns: Int) async throws {
    started += 1
    for _ in 0..<turns { await Task.yield() }
    try Task.checkCancellation()
  }
}

private final class Flag: Sendable {
  let isSet = Atomic<Bool>(false)
}

@MainActor
final class RaceOfEndsTests: XCTestCase {
  // MARK: reset and close

  func testResetMeetsDispatch() async {
    let rounds = raceRounds(10_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      let outcome = rival.race(tuner) {
        relay.dispatch(WorkFeature.self) { $0.work() }.outcome
      } rival: {
        relay.reset()
      }
      await relay.waitUntilIdle()
      // Before the reset it found the handler; after it, it waits, since registrations went as
      // well. Between being accepted and being delivered it may have been met by the reset.
      let counts = relay.counts
      let isRight =
        switch outcome {
        case .delivered: worker.count == 1 && counts.delivered == 1
        case .waiting: worker.count == 0 && relay.pendingCount == 1
        case .dropped(.reset): worker.count == 0 && counts.dropped(.reset) == 1
        default: false
        }
      tuner.record(firstWon: outcome != .waiting)
      if !isRight || !counts.isBalanced || counts.accepted != 1 {
        wrong.append("\(outcome), \(counts)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  func testCloseMeetsDispatchesElsewhere() async {
    let rounds = raceRounds(10_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      let refused = Atomic<Int>(0)
      rival.race(tuner) {
        relay.close()
      } rival: {
        for _ in 0..<4 {
          let acceptance = relay.dispatch(WorkFeature.self) { $0.work() }
          if acceptance.outcome == .refused(.closed) { refused.add(1, ordering: .relaxed) }
        }
      }
      await relay.waitUntilIdle()
      await mainTurn()
      let counts = relay.counts
      let refusedCount = refused.load(ordering: .relaxed)
      tuner.record(firstWon: refusedCount == 4)
      // Main was at closing: whatever was accepted was still on its way.
      let isRight =
        worker.count == 0 && counts.dropped(.closed) == UInt64(4 - refusedCount)
        && counts.refusedClosed == UInt64(refusedCount) && counts.offered == 4
      if !isRight || !counts.isBalanced { wrong.append("\(refusedCount), \(counts)") }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  func testNothingThatWasDispatchedBeforeAResetStartsAfterIt() async {
    let rounds = raceRounds(2_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var interrupted = 0
    var wrong: [String] = []
    for _ in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      let reset = Flag()
      onAnotherThread {
        for _ in 0..<50 {
          relay.dispatch(WorkFeature.self) {
            $0.work(isLate: reset.isSet.load(ordering: .acquiring))
          }
        }
      }
      // The dispatch delivers the backlog within its own call: the reset falls into that.
      rival.race(tuner) {
        relay.dispatch(WorkFeature.self) {
          $0.work(isLate: reset.isSet.load(ordering: .acquiring))
        }
      } rival: {
        relay.reset()
        reset.isSet.store(true, ordering: .releasing)
      }
      await relay.waitUntilIdle()
      let counts = relay.counts
      tuner.record(firstWon: worker.count > 25)
      if worker.count > 0 && worker.count < 51 { interrupted += 1 }
      // One may have been taken by the main actor already, without having begun.
      if worker.lateCount > 1 || counts.delivered != UInt64(worker.count) || !counts.isBalanced
        || counts.delivered + counts.dropped(.reset) + counts.waiting != 51
      {
        wrong.append("\(worker.lateCount) late, \(counts)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
    requireMet(interrupted > 0, "no reset fell into a delivery of many")
  }

  func testResetMeetsTheEndOfAnAsynchronousCommand() async {
    await asynchronousEndMeets {
      $0.reset()
    } expected: {
      $0.dropped(.reset)
    }
  }

  func testCloseMeetsTheEndOfAnAsynchronousCommand() async {
    await asynchronousEndMeets {
      $0.close()
    } expected: {
      $0.dropped(.closed)
    }
  }

  /// Lets a running command end on the main actor while another thread ends it in its own way.
  private func asynchronousEndMeets(
    _ action: @escaping @Sendable (Relay) -> Void, expected: (RelayCounts) -> UInt64
  ) async {
    let rounds = raceRounds(5_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      let latch = Latch()
      relay.dispatch(WorkFeature.self) { await $0.wait(for: latch) }
      await latch.arrival()
      rival.start(tuner) { action(relay) }
      latch.open()
      await relay.waitUntilIdle()
      rival.finish()
      await relay.waitUntilIdle()
      let counts = relay.counts
      tuner.record(firstWon: counts.delivered == 1)
      if counts.delivered + expected(counts) != 1 || !counts.isBalanced || counts.running != 0 {
        wrong.append("\(counts)")
      }
      // The lane is free, whoever won.
      if !relay.snapshot().isClosed {
        relay.register(worker, for: WorkFeature.self)
        let outcome = relay.dispatch(WorkFeature.self) { $0.work() }.outcome
        if outcome != .delivered { wrong.append("the lane is stuck: \(outcome)") }
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  // MARK: Time

  func testExecutionLimitMeetsTheEndOfTheCommand() async throws {
    let rounds = raceRounds(5_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let clock = ManualClock()
      let relay = Relay(
        scope: "race", configuration: try RelayConfiguration(clock: clock.relayClock))
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      let latch = Latch()
      relay.dispatch(WorkFeature.self, executionLimit: .seconds(1)) { await $0.wait(for: latch) }
      relay.dispatch(WorkFeature.self) { $0.work() }
      await latch.arrival()
      rival.start(tuner) { clock.advance(by: .seconds(2)) }
      latch.open()
      await relay.waitUntilIdle()
      rival.finish()
      await relay.waitUntilIdle()
      let counts = relay.counts
      let timedOut = counts.dropped(.timedOut)
      tuner.record(firstWon: timedOut == 0)
      // What stood behind it had its turn in both cases.
      if counts.delivered + timedOut != 2 || worker.count != 1 || worker.started != 1
        || !counts.isBalanced
      {
        wrong.append("\(counts), \(worker.count)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  // MARK: Cancelling

  func testCancellingMeetsDelivery() async {
    let rounds = raceRounds(10_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.dispatch(WorkFeature.self, tags: ["mine"]) { $0.work() }
      relay.register(worker, for: WorkFeature.self)
      let cancelled = Atomic<Int>(0)
      rival.race(tuner) {
        relay.dispatch(WorkFeature.self) { _ in }
      } rival: {
        cancelled.store(relay.cancel(tagged: "mine"), ordering: .releasing)
      }
      await relay.waitUntilIdle()
      let counts = relay.counts
      let count = cancelled.load(ordering: .acquiring)
      tuner.record(firstWon: count == 0)
      if worker.count + count != 1 || counts.dropped(.cancelled) != UInt64(count)
        || counts.delivered != UInt64(2 - count) || !counts.isBalanced
      {
        wrong.append("\(count), \(worker.count), \(counts)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  func testCancellingMeetsTheStartOfAnAsynchronousCommand() async {
    let rounds = raceRounds(5_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var outcomes: Set<String> = []
    var wrong: [String] = []
    for number in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      relay.dispatch(WorkFeature.self, tags: ["mine"]) { try await $0.takeTurns(number % 4) }
      let cancelled = Atomic<Int>(0)
      // Now and then so late that it may meet the end instead.
      let isLate = number % 4 == 3
      rival.start(tuner, lag: isLate ? 50_000 : 0) {
        let count = relay.cancel(tagged: "mine", includingRunning: true)
        cancelled.store(count, ordering: .releasing)
      }
      await relay.waitUntilIdle()
      rival.finish()
      await relay.waitUntilIdle()
      let counts = relay.counts
      let count = UInt64(cancelled.load(ordering: .acquiring))
      if !isLate { tuner.record(firstWon: worker.started == 1) }
      outcomes.insert("started \(worker.started), cancelled \(counts.dropped(.cancelled))")
      let isRight =
        counts.isBalanced && counts.delivered + counts.dropped(.cancelled) == 1
        && counts.dropped(.cancelled) <= count
        && (worker.started == 1 || counts.dropped(.cancelled) == 1)
      if !isRight { wrong.append("\(worker.started), \(count), \(counts)") }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
    XCTAssert(outcomes.contains("started 0, cancelled 1"), "\(outcomes)")
    XCTAssert(outcomes.contains("started 1, cancelled 0"), "\(outcomes)")
    XCTAssert(outcomes.contains("started 1, cancelled 1"), "\(outcomes)")
  }

  func testCancellingTheAskingTaskMeetsTheAnswer() async {
    let rounds = raceRounds(5_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for number in 0..<rounds {
      let relay = Relay(scope: "race")
      let worker = RacingWorker()
      relay.register(worker, for: WorkFeature.self)
      let asking = Task.detached {
        try await relay.request(WorkFeature.self) {
          try await $0.takeTurns(1)
          return number
        }
      }
      // In most rounds the question is on its way already.
      for _ in 0..<number % 3 { await mainTurn() }
      rival.start(tuner) { asking.cancel() }
      let answer = await asking.result
      rival.finish()
      await relay.waitUntilIdle()
      let counts = relay.counts
      var isRight = counts.isBalanced && counts.running == 0 && counts.waiting == 0
      switch answer {
      case .success(let value):
        isRight = isRight && value == number && counts.delivered == 1
        tuner.record(firstWon: true)
      case .failure(let error):
        isRight = isRight && error is CancellationError && counts.delivered == 0
        tuner.record(firstWon: false)
      }
      if !isRight { wrong.append("\(answer), \(counts)") }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  // MARK: The relay's own end

  func testLastReleaseOfTheRelayMeetsDispatchElsewhere() async {
    let rounds = raceRounds(10_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let worker = RacingWorker()
      let place = Handover<Relay>()
      let isGone = self.place(Relay(scope: "race"), worker, place)
      let wasDispatched = Atomic<Bool>(false)
      rival.race(tuner) {
        place.current = nil
      } rival: {
        guard let relay = place.current else { return }
        relay.dispatch(WorkFeature.self) { $0.work() }
        wasDispatched.store(true, ordering: .releasing)
      }
      await mainTurn()
      await mainTurn()
      let expected = wasDispatched.load(ordering: .acquiring)
      tuner.record(firstWon: !expected)
      // The relay lives for the turn that delivers what is in transit, and no longer.
      if worker.count != (expected ? 1 : 0) || !isGone() {
        wrong.append("\(worker.count), gone: \(isGone())")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  private func place(
    _ relay: Relay, _ worker: RacingWorker, _ place: Handover<Relay>
  ) -> () -> Bool {
    relay.register(worker, for: WorkFeature.self)
    place.current = relay
    return { [weak relay] in relay == nil }
  }

  func testLastReleaseOfTheRelayMeetsCancellingARegistration() async {
    let rounds = raceRounds(10_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    for _ in 0..<rounds {
      let place = Handover<Relay>()
      place.current = Relay(scope: "race")
      let registration = place.current?.register(
        RacingWorker(), for: WorkFeature.self, ownership: .owned)
      let order = Atomic<Int>(0)
      let cancelled = Atomic<Int>(0)
      let released = rival.race(tuner) {
        place.current = nil
        return order.add(1, ordering: .acquiringAndReleasing).newValue
      } rival: {
        registration?.cancel()
        let place = order.add(1, ordering: .acquiringAndReleasing).newValue
        cancelled.store(place, ordering: .releasing)
      }
      tuner.record(firstWon: released < cancelled.load(ordering: .acquiring))
    }
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  func testLastReleaseOfAChildMeetsARegistrationInItsParent() async {
    let rounds = raceRounds(10_000)
    let rival = Rival(rounds: rounds)
    var tuner = RaceTuner()
    let parent = Relay(scope: "parent")
    let worker = RacingWorker()
    for _ in 0..<rounds {
      let place = Handover<Relay>()
      place.current = Relay(scope: "child", parent: parent)
      place.current?.dispatch(WorkFeature.self) { $0.work() }
      let order = Atomic<Int>(0)
      let registered = Atomic<Int>(0)
      let released = rival.race(tuner) {
        place.current = nil
        return order.add(1, ordering: .acquiringAndReleasing).newValue
      } rival: {
        parent.register(worker, for: WorkFeature.self)
        let place = order.add(1, ordering: .acquiringAndReleasing).newValue
        registered.store(place, ordering: .releasing)
      }
      tuner.record(firstWon: released < registered.load(ordering: .acquiring))
      await parent.waitUntilIdle()
      parent.unregister(WorkFeature.self)
    }
    requireMet(tuner.sawBoth, "\(tuner)")
    XCTAssertEqual(parent.counts.accepted, 0)
  }
}
