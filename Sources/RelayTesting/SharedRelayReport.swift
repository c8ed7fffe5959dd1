// SPDX-License-Identifier: MIT

internal import FeatureRelay

/// Says, once for each test, that the test used the app's own `Relay.shared`. FeatureRelay finds it
/// by its name.
///
/// Code of which nobody knows the test, in detached tasks and on queues under Swift Testing, is told
/// once until an XCTest ends: once for the process where there is none.
package enum SharedRelayReport: SharedRelayReporter {
  private static let reported = SeenMutex<Set<RunningTest>>([])

  package static func sharedRelayWasUsed() {
    let test = RunningTest.current
    guard reported.withLock({ $0.insert(test).inserted }) else { return }
    RunningTest.warn(
      "Relay.shared was used here and no test's relay stands in for it, so that tests can reach each other through it. Use the trait `.relay`, or `Relay.testing(in: self)` with XCTest; detached tasks and dispatch queues do not see a trait's relay: hand it to them."
    )
  }

  /// Lets the current test hear it again, as a repetition of it has to.
  package static func forgetCurrentTest() {
    let test = RunningTest.current
    _ = reported.withLock { $0.remove(test) }
  }

  /// Tests that the runner does not name can be told apart by their ends.
  static func testEnded() {
    _ = reported.withLock { $0.remove(RunningTest(runner: .xcTest, name: nil)) }
  }
}
