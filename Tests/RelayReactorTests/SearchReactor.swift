// SPDX-License-Identifier: MIT

import RaceSupport
import RelayReactor

/// A reactor whose searches end when a test says so, and which does not mind being cancelled.
final class SearchReactor: Reactor {
  struct State: Equatable {
    var results = ""
    var count = 0
    var isLoading = false
    /// Of a type whose values cannot be compared.
    var unit: Void { () }
  }

  enum Action: Sendable {
    case search(String)
    case add
    case fail(any Error)
    case started
    case load
  }

  enum SyncAction: Sendable {
    case reset
    case set(Int)
  }

  let container: StateContainer<State>
  @ReactorState private(set) var state: State
  private let policies: @MainActor (Action) -> ActionPolicy
  let latches: [String: Latch]
  private(set) var log: [String] = []
  private(set) var failures: [ActionFailure<Action>] = []

  init(
    _ latches: [String: Latch] = [:], clock: ReactorClock = .continuous,
    policies: @escaping @MainActor (Action) -> ActionPolicy = { _ in .concurrent }
  ) {
    container = StateContainer(State(), clock: clock)
    self.latches = latches
    self.policies = policies
  }

  func policy(for action: Action) -> ActionPolicy { policies(action) }

  func write(_ change: (inout State) -> Void) { change(&state) }

  func action(_ action: SyncAction) {
    switch action {
    case .reset: state = State()
    case .set(let count):
      log.append("set \(count)")
      state.count = count
    }
  }

  func action(_ action: Action) async throws {
    switch action {
    case .search(let query):
      log.append("start \(query)")
      await latches[query]?.wait()
      state.results = query
      log.append("end \(query)\(Task.isCancelled ? ", cancelled" : "")")
    case .add: state.count += 1
    case .fail(let error): throw error
    case .started: log.append("started")
    case .load:
      state.isLoading = true
      defer { state.isLoading = false }
      await latches["load"]?.wait()
      try Task.checkCancellation()
      state.results = "loaded"
    }
  }

  func handle(_ failure: ActionFailure<Action>) {
    failures.append(failure)
    state.results = "failed"
  }
}

struct SomeError: Error {}
