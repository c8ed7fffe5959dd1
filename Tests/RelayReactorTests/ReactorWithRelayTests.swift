// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import RelayReactor
import Testing

/// State for what is seen, a relay for what happens once.
@MainActor
struct ReactorWithRelayTests {
  @Test func whatWasSaidOnceIsNotSaidAgainWhenTheStateChanges() async {
    let relay = Relay(scope: "editor")
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    let reactor = EditorReactor(relay)
    reactor.send(.save)
    await reactor.waitUntilIdle()
    for title in ["a", "b", "c"] { reactor.send(.rename(title)) }
    // A view that comes back looks at the state from its start.
    for _ in 0..<3 {
      for await state in reactor.states {
        #expect(state.isSaved)
        break
      }
    }
    await relay.waitUntilIdle()
    #expect(presenter.shown == ["Saved"])
    #expect(reactor.title == "c")
  }

  @Test func whatIsSaidWhileNobodyListensIsSaidLater() async {
    let relay = Relay(scope: "editor")
    let reactor = EditorReactor(relay)
    reactor.send(.save)
    await reactor.waitUntilIdle()
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    await relay.waitUntilIdle()
    #expect(presenter.shown == ["Saved"])
  }
}

private protocol ToastFeature: RelayFeature { func show(_ message: String) }

private final class ToastPresenter: ToastFeature {
  private(set) var shown: [String] = []
  func show(_ message: String) { shown.append(message) }
}

private final class EditorReactor: Reactor {
  struct State {
    var title = ""
    var isSaved = false
  }
  enum Action { case save }
  enum SyncAction { case rename(String) }

  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  private let relay: Relay

  init(_ relay: Relay) { self.relay = relay }

  func action(_ action: SyncAction) {
    switch action {
    case .rename(let title): state.title = title
    }
  }

  func action(_ action: Action) async {
    switch action {
    case .save:
      state.isSaved = true
      relay.dispatch(ToastFeature.self) { $0.show("Saved") }
    }
  }
}
