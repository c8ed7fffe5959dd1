// SPDX-License-Identifier: MIT

import RelayReactor
import Testing

// A reactor where everything is on the main actor unless it says otherwise.

private final class CounterReactor: Reactor {
  struct State: Equatable {
    var count = 0
    var isSaved = false
  }

  enum Action: Equatable { case save }
  enum SyncAction { case increment }

  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  func policy(for action: Action) -> ActionPolicy { .firstWins }

  func action(_ action: SyncAction) {
    switch action {
    case .increment: state.count += 1
    }
  }

  func action(_ action: Action) async throws {
    switch action {
    case .save:
      await Task.yield()
      state.isSaved = true
    }
  }
}

struct ReactorWithDefaultsTests {
  @Test func aReactorWorksWhereEverythingIsOnTheMainActor() async {
    let reactor = CounterReactor()
    reactor.action(.increment)
    #expect(reactor.count == 1)
    reactor.send(.save)
    await reactor.waitUntilIdle()
    #expect(reactor.state == CounterReactor.State(count: 1, isSaved: true))
    await elsewhere(reactor)
    await reactor.waitUntilIdle()
    #expect(reactor.count == 2)
  }

  @concurrent private nonisolated func elsewhere(_ reactor: CounterReactor) async {
    reactor.send(.increment)
    reactor.send(.save)
  }
}
