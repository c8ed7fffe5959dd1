// SPDX-License-Identifier: MIT

import RelayReactor
import RelayTesting
import Testing

@MainActor
struct ReactorRecorderTests {
  let clock = ManualClock()

  private func make() -> ReactorRecorder<LoadReactor> {
    ReactorRecorder(LoadReactor(clock: clock.reactorClock))
  }

  @Test func expectedStatesSayNothing() async {
    let recorder = make()
    #expect(await recorder.send(.load) == .finished)
    recorder.expectChange { $0.isLoading = true }
    recorder.expectStates(
      LoadReactor.State(isLoading: true, items: ["a"]), LoadReactor.State(items: ["a"]))
    recorder.send(.clear)
    recorder.expectChange { $0.items = [] }
    recorder.expectNothingElse()
    await recorder.send(.load)
    recorder.expectValues(of: \.items, ["a"])
    #expect(recorder.states.count == 8)
  }

  @Test func anotherStateIsShownNextToTheWantedOne() {
    let texts = RunningTest.failures {
      let recorder = make()
      recorder.send(.set(1))
      recorder.expectChange { $0.count = 2 }
    }
    #expect(
      texts == [
        """
        The next state is another one.
          wanted: State(isLoading: false, items: [], count: 2)
          found:  State(isLoading: false, items: [], count: 1)
                                                            ^
        """
      ])
  }

  @Test func aStateThatDoesNotComeIsMissed() {
    let texts = RunningTest.failures {
      let recorder = make()
      recorder.expectStates(LoadReactor.State(count: 1), LoadReactor.State(count: 2))
      recorder.expectChange { $0.count = 0 }
    }
    #expect(
      texts == [
        """
        State 1 of 2 did not come.
          wanted: State(isLoading: false, items: [], count: 1)
          before: State(isLoading: false, items: [], count: 0)
        """,
        """
        The next state did not come. It is the same as the one before.
          wanted: State(isLoading: false, items: [], count: 0)
          before: State(isLoading: false, items: [], count: 0)
        """,
      ])
  }

  @Test func statesThatNobodyExpectedFailWithTheNextActionAndInTheEnd() {
    let texts = RunningTest.failures {
      let recorder = make()
      recorder.send(.set(1))
      recorder.send(.set(2))
      recorder.reactor.send(.set(3))
    }
    #expect(
      texts == [
        """
        No other state was to come:
          State(isLoading: false, items: [], count: 1)
        """,
        """
        States came that no expectation spoke of:
          State(isLoading: false, items: [], count: 2)
          State(isLoading: false, items: [], count: 3)
        """,
      ])
  }

  @Test func otherValuesAreShown() async {
    let recorder = make()
    await recorder.send(.load)
    let texts = RunningTest.failures { recorder.expectValues(of: \.isLoading, true) }
    #expect(
      texts == [
        """
        Other values came.
          wanted: [true]
          found:  [true, false]
        """
      ])
  }

  @Test func theExampleOfTheArticle() async {
    let recorder = ReactorRecorder(LoadReactor(clock: clock.reactorClock))
    await recorder.send(.load)
    recorder.expectChange { $0.isLoading = true }
    recorder.expectChange { $0.items = ["a"] }
    recorder.expectChange { $0.isLoading = false }

    await recorder.send(.load)
    recorder.expectValues(of: \.isLoading, true, false)

    await recorder.send(.later)
    recorder.expectNothingElse()
    clock.advance(by: .seconds(1))
    await recorder.waitUntilIdle()
    recorder.expectChange { $0.count = 1 }
  }

  @Test func aWriteThatChangesNothingIsNoState() {
    let recorder = make()
    recorder.send(.set(0))
    recorder.expectNothingElse()
  }
}

private final class LoadReactor: Reactor {
  struct State: Equatable {
    var isLoading = false
    var items: [String] = []
    var count = 0
  }

  enum Action: Sendable { case load, later }
  enum SyncAction: Sendable { case set(Int), clear }

  let container: StateContainer<State>
  @ReactorState private(set) var state: State

  init(clock: ReactorClock) {
    container = StateContainer(State(), clock: clock)
  }

  func policy(for action: Action) -> ActionPolicy {
    switch action {
    case .load: .latestWins
    case .later: .serial.debounced(for: .seconds(1))
    }
  }

  func action(_ action: SyncAction) {
    switch action {
    case .set(let count): state.count = count
    case .clear: state.items = []
    }
  }

  func action(_ action: Action) async {
    switch action {
    case .load:
      state.isLoading = true
      defer { state.isLoading = false }
      await Task.yield()
      state.items = ["a"]
    case .later: state.count += 1
    }
  }
}
