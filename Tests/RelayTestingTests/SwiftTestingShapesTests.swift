// SPDX-License-Identifier: MIT

import Dispatch
import FeatureRelay
import RelayTesting
import Testing

@Suite(.relay) @MainActor
struct LoginViewModelTests {
  let toast = MockToast()

  init() {
    Relay.shared.register(toast, for: ToastFeature.self)
  }

  @Test func showsAToastAfterLogin() {
    LoginViewModel().loginSucceeded()
    #expect(toast.lastMessage == "Welcome back!")
    Relay.shared.recorder.expectDispatched(OpenScreen(name: "home"))
  }

  @Test func showsNothingAfterOneFailure() {
    LoginViewModel().loginFailed(attempts: 1)
    Relay.shared.recorder.expectNoDispatch()
  }

  @Test func showsAToastAfterLoginInATask() async {
    await Task { LoginViewModel().loginSucceeded() }.value
    #expect(toast.lastMessage == "Welcome back!")
  }

  @Test func showsAToastAfterLoginElsewhere() async {
    let model = LoginViewModel()
    await Task.detached { model.loginSucceeded() }.value
    await Relay.shared.waitUntilIdle()
    #expect(toast.lastMessage == "Welcome back!")
  }
}

/// Not on the main actor: the recorder is all that a test needs.
@Suite struct NonisolatedLoginViewModelTests {
  let relay = Relay.testing()

  @Test func showsAToastAfterLogin() {
    LoginViewModel(relay: relay).loginSucceeded()
    #expect(relay.recorder.commands(of: ShowToast.self) == [ShowToast(message: "Welcome back!")])
  }
}

/// What the landing page shows.
@Suite struct LandingPageTests {
  @Test func aTestInThreeLines() {
    let relay = Relay.testing()
    LoginViewModel(relay: relay).loginSucceeded()
    relay.recorder.expectDispatched(ShowToast(message: "Welcome back!"))
  }
}

@Suite struct RelayTraitTests {
  /// Safe: only the test that is at it writes.
  private static let kept = Kept()

  private final class Kept: @unchecked Sendable {
    var first: Relay?
    var cases: [ObjectIdentifier] = []
    var relays: [Relay] = []
  }

  @Test(.relay) func twoReadsSeeOneRelay() {
    #expect(Relay.shared === Relay.shared)
    #expect(Relay.shared.scope == "test")
  }

  @Test(.relay(configuration: try! RelayConfiguration(limit: 2)))
  func takesAConfiguration() {
    #expect(Relay.shared.configuration.limit == 2)
    #expect(Relay.shared.manualClock.now == .zero)
  }

  @Suite(.serialized) struct OneAfterTheOther {
    @Test(.relay) func oneLeavesThingsBehind() {
      kept.first = Relay.shared
      for number in 1...3 { Relay.shared.dispatch(ShowToast(message: "\(number)")) }
      #expect(Relay.shared.pendingCount == 3)
    }

    @Test(.relay) func theNextOneSeesNothingOfIt() throws {
      #expect(Relay.shared.pendingCount == 0)
      let first = try #require(kept.first)
      #expect(first !== Relay.shared)
      #expect(first.snapshot().isClosed && first.pendingCount == 0)
    }
  }

  @Suite(.relay, .serialized) struct EachCase {
    @Test(arguments: 1...5) func hasARelayOfItsOwn(number: Int) {
      #expect(Relay.shared.recorder.all.isEmpty)
      Relay.shared.dispatch(ShowToast(message: "\(number)"))
      // Kept, so that no address comes twice.
      kept.relays.append(Relay.shared)
      kept.cases.append(ObjectIdentifier(Relay.shared))
      #expect(Set(kept.cases).count == kept.cases.count)
    }
  }

  @Test(.relay) func aRelayInsideAnotherReplacesItThere() async throws {
    let outer = Relay.shared
    let trait: RelayTrait = .relay(scope: "inner")
    try await trait.provideScope(
      for: try #require(Test.current), testCase: nil
    ) {
      #expect(Relay.shared.scope == "inner")
    }
    #expect(Relay.shared === outer)
  }
}
