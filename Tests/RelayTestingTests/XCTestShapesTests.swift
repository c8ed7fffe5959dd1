// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import XCTest

/// The shape to prefer with XCTest: on the main actor, with asynchronous test methods. Synchronous
/// ones on the main actor abort on Linux.
@MainActor
final class LoginViewModelMainActorXCTests: XCTestCase {
  private var relay: Relay!
  private var toast: MockToast!

  override func setUp() async throws {
    relay = .testing(in: self)
    toast = MockToast()
    relay.register(toast, for: ToastFeature.self)
  }

  func testShowsAToastAfterLogin() async {
    LoginViewModel(relay: relay).loginSucceeded()
    XCTAssertEqual(toast.lastMessage, "Welcome back!")
    relay.recorder.expectDispatched(OpenScreen(name: "home"))
  }

  func testShowsNothingAfterOneFailure() async {
    LoginViewModel(relay: relay).loginFailed(attempts: 1)
    relay.recorder.expectNoDispatch()
  }

  func testStandsInForTheSharedRelay() async {
    LoginViewModel().loginSucceeded()
    XCTAssertTrue(Relay.shared === relay)
    XCTAssertEqual(toast.lastMessage, "Welcome back!")
  }
}

/// Without isolation and synchronous: what works for code that is not bound to the main actor.
final class LoginViewModelNonisolatedXCTests: XCTestCase {
  private var relay: Relay!

  override func setUp() {
    relay = .testing(in: self)
  }

  func testShowsAToastAfterLogin() {
    LoginViewModel(relay: relay).loginSucceeded()
    XCTAssertEqual(
      relay.recorder.commands(of: ShowToast.self), [ShowToast(message: "Welcome back!")])
  }

  func testAMockOfATestThatIsNotOnTheMainActor() {
    let toast = MockToast()
    relay.register(toast, for: ToastFeature.self)
    LoginViewModel(relay: relay).loginSucceeded()
    // XCTest runs synchronous methods on the main thread: the command has run.
    XCTAssertEqual(MainActor.assumeIsolated { toast.lastMessage }, "Welcome back!")
  }

  func testDispatchQueuesSeeTheStandIn() {
    let seen = expectation(description: "seen")
    let relay = relay!
    DispatchQueue.global().async {
      if Relay.shared === relay { seen.fulfill() }
    }
    wait(for: [seen], timeout: 60)
  }
}

/// What one test leaves behind does not reach the next one.
final class XCTestTeardownTests: XCTestCase {
  private static let first = Kept()

  func test1LeavesAllKindsOfThingsBehind() {
    let relay = Relay.testing(in: self, configuration: try! RelayConfiguration(limit: 2))
    for number in 1...3 { relay.dispatch(ShowToast(message: "\(number)")) }
    relay.gate.close(for: "a reason")
    Self.first.relay = relay
    XCTAssertTrue(Relay.shared === relay)
  }

  func test2SeesNothingOfIt() {
    let relay = Relay.testing(in: self)
    XCTAssertTrue(Relay.shared === relay)
    XCTAssertEqual(relay.pendingCount, 0)
    XCTAssertEqual(relay.configuration.limit, 100)
    XCTAssertTrue(relay.gate.isOpen)
    let first = Self.first.relay
    XCTAssertTrue(first?.snapshot().isClosed ?? true)
    XCTAssertEqual(first?.pendingCount ?? 0, 0)
  }

  /// Safe: XCTest runs one test at a time.
  private final class Kept: @unchecked Sendable {
    var relay: Relay?
  }
}
