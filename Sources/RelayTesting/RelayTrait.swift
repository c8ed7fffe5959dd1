// SPDX-License-Identifier: MIT

public import FeatureRelay
public import Testing

/// Gives each test of Swift Testing a relay of its own, which stands in for `Relay.shared` there.
///
/// ```swift
/// @Suite(.relay) @MainActor struct LoginViewModelTests {
///   @Test func showsAToastAfterLogin() {
///     LoginViewModel(relay: .shared).loginSucceeded()
///     Relay.shared.recorder.expectDispatched(ShowToast(message: "Welcome back!"))
///   }
/// }
/// ```
///
/// Tests run in parallel and do not meet. The relay is seen by the test, by the suite's `init` and
/// by tasks that they start; detached tasks and dispatch queues see the app's own `Relay.shared`,
/// which then says so: hand the relay to them. It is closed when the test has ended.
public struct RelayTrait: TestTrait, SuiteTrait, TestScoping {
  private let plan: @Sendable () -> RelayTestContext.Plan

  /// On a suite, every test of it and of the suites in it has a relay of its own.
  public var isRecursive: Bool { true }

  fileprivate init(_ plan: @escaping @Sendable () -> RelayTestContext.Plan) {
    self.plan = plan
  }

  /// Runs a test, or one case of it, with its relay.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    SharedRelay.becomeOverridable()
    let standIn = SharedRelayStandIn()
    _ = RelayTestContext.makeRelay(plan(), standIn: standIn)
    defer { standIn.relay?.endTest() }
    try await SharedRelay.$taskOverride.withValue(standIn) { try await function() }
  }
}

extension Trait where Self == RelayTrait {
  /// A relay of its own for each test, as `Relay.testing()` makes it.
  public static var relay: Self { .relay() }

  /// A relay of its own for each test.
  ///
  /// - Parameters:
  ///   - scope: the relay's name in messages.
  ///   - configuration: limits, times and retries; its clock and replay are replaced.
  ///   - replay: when what waits is delivered to a new handler.
  ///   - ownership: how handlers are held whose registration does not say it.
  ///   - journal: where durable commands are kept; each test has a directory of its own.
  ///   - types: the durable types that the relay knows.
  public static func relay(
    scope: String = "test", configuration: RelayConfiguration = .standard,
    replay: RelayConfiguration.Replay = .immediate, ownership: HandlerOwnership = .owned,
    journal: TestJournal = .none, restoring types: any DurableCommand.Type...
  ) -> Self {
    RelayTrait {
      let clock = ManualClock()
      return RelayTestContext.Plan(
        scope: scope, parent: nil,
        configuration: configuration.forTests(clock, replay, ownership), clock: clock,
        place: TestJournalPlace(journal), types: types)
    }
  }
}
