// SPDX-License-Identifier: MIT

public import FeatureRelay
public import XCTest

extension Relay {
  /// Makes a relay for a test of XCTest. Until the test's end it also stands in for `Relay.shared`,
  /// on all threads; then it is closed.
  ///
  /// ```swift
  /// final class LoginViewModelTests: XCTestCase {
  ///   func testShowsAToastAfterLogin() {
  ///     let relay = Relay.testing(in: self)
  ///     LoginViewModel(relay: relay).loginSucceeded()
  ///     relay.recorder.expectDispatched(ShowToast(message: "Welcome back!"))
  ///   }
  /// }
  /// ```
  ///
  /// Callable in `setUp` as well, and from any isolation. What it makes is described at
  /// ``testing(scope:parent:configuration:clock:replay:ownership:journal:restoring:)``.
  ///
  /// - Parameters:
  ///   - testCase: the test.
  ///   - scope: the relay's name in messages.
  ///   - parent: the relay that serves what this one has no handler for.
  ///   - configuration: limits, times and retries; its clock and replay are replaced.
  ///   - clock: the relay's clock.
  ///   - replay: when what waits is delivered to a new handler.
  ///   - ownership: how handlers are held whose registration does not say it.
  ///   - journal: where durable commands are kept.
  ///   - types: the durable types that the relay knows.
  /// - Returns: the relay.
  public static func testing(
    in testCase: XCTestCase, scope: String = "test", parent: Relay? = nil,
    configuration: RelayConfiguration = .standard, clock: ManualClock = ManualClock(),
    replay: RelayConfiguration.Replay = .immediate, ownership: HandlerOwnership = .owned,
    journal: TestJournal = .none, restoring types: any DurableCommand.Type...
  ) -> Relay {
    let standIn = SharedRelayStandIn()
    let relay = RelayTestContext.makeRelay(
      RelayTestContext.Plan(
        scope: scope, parent: parent,
        configuration: configuration.forTests(clock, replay, ownership), clock: clock,
        place: TestJournalPlace(journal), types: types),
      standIn: standIn)
    SharedRelay.addProcessOverride(standIn)
    testCase.addTeardownBlock {
      SharedRelay.removeProcessOverride(standIn)
      standIn.relay?.endTest()
    }
    return relay
  }
}
