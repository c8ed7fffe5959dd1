// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import XCTest

private protocol CallFeature: RelayFeature {
  func call(sentAfterCancelling: Bool)
}

/// Counts the calls that come although its registration had been cancelled.
private final class Callee: CallFeature {
  let cancelled = Tally()
  private(set) var count = 0
  /// Calls of commands that were sent after the cancelling had returned.
  private(set) var sentAfter = 0
  /// Calls that began after it had.
  private(set) var begunAfter = 0

  func call(sentAfterCancelling: Bool) {
    if cancelled.current > 0 { begunAfter += 1 }
    if sentAfterCancelling { sentAfter += 1 }
    count += 1
    spin(20)
  }
}

/// A live handler whose registration is cancelled elsewhere while the main actor delivers (CC-3).
@MainActor
final class CancelRaceTests: XCTestCase {
  func testNothingGoesToAHandlerOnceItsRegistrationIsCancelledElsewhere() async {
    let rounds = raceRounds(10_000)
    let relay = Relay(scope: "race")
    let rival = Rival(rounds: rounds)
    let base = Callee()
    relay.register(base, for: CallFeature.self)
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let callee = Callee()
      let registration = relay.register(callee, for: CallFeature.self)
      let cancelled = callee.cancelled
      let before = base.count
      // Half of them wait, and are delivered one after the other by the first dispatch.
      onAnotherThread {
        for _ in 0..<10 { relay.dispatch(CallFeature.self) { $0.call(sentAfterCancelling: false) } }
      }
      rival.race(tuner) {
        for _ in 0..<10 {
          let isAfter = cancelled.current > 0
          relay.dispatch(CallFeature.self) { $0.call(sentAfterCancelling: isAfter) }
        }
      } rival: {
        registration.cancel()
        cancelled.add()
      }
      await relay.waitUntilIdle()
      tuner.record(firstWon: callee.count > 10)
      // The main actor may have taken one call already, without having begun it.
      if callee.sentAfter > 0 || callee.begunAfter > 1
        || callee.count + base.count - before != 20
      {
        wrong.append("\(callee.sentAfter), \(callee.begunAfter), \(callee.count)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
    XCTAssertEqual(relay.snapshot().features[0].registrations.count, 1)
    XCTAssert(relay.counts.isBalanced)
  }
}
