// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import Testing

/// Five hundred tests of code that uses `Relay.shared`, at the same time.
@Suite(.relay) struct ParallelTests {
  @Test(arguments: 1...250) func nobodySeesWhatOthersDispatch(number: Int) async {
    let model = LoginViewModel()
    for _ in 0..<number % 7 + 1 { model.loginSucceeded() }
    await Task.yield()
    Relay.shared.recorder.expectDispatched(
      ShowToast(message: "Welcome back!"), times: number % 7 + 1)
    Relay.shared.recorder.expectDispatched(OpenScreen.self, times: number % 7 + 1)
    Relay.shared.recorder.expectNothingElse()
  }

  @Test(arguments: 1...250) @MainActor func nobodysMockIsCalledByOthers(number: Int) async {
    let toast = MockToast()
    Relay.shared.register(toast, for: ToastFeature.self)
    await Task.yield()
    Relay.shared.dispatch(ShowToast(message: "\(number)"))
    await Task { _ = Relay.shared.dispatch(ShowToast(message: "task \(number)")) }.value
    #expect(toast.messages == ["\(number)", "task \(number)"])
  }
}
