// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayReactor

/// Searches repositories while somebody types, page by page.
///
/// What is seen is state; what happens once, the notice that a search has failed, goes through the
/// relay.
final class RepositorySearchReactor: Reactor {
  struct State: Equatable {
    var query = ""
    var hidePrivate = false
    var repositories: [Repository] = []
    var nextPage: Int?
    /// The one whose description is shown.
    var described: Repository?

    /// What the list shows.
    var visible: [Repository] {
      hidePrivate ? repositories.filter { !$0.isPrivate } : repositories
    }
  }

  enum Action: Equatable, Sendable {
    case search
    case loadMore
  }

  enum SyncAction: Equatable, Sendable {
    case enterQuery(String)
    case toggleHidePrivate
    case describe(Repository?)
  }

  let container: StateContainer<State>
  @ReactorState private(set) var state: State
  private let source: any RepositorySource
  private let relay: Relay

  init(
    source: any RepositorySource, relay: Relay, query: String = "",
    clock: ReactorClock = .continuous
  ) {
    container = StateContainer(State(query: query), clock: clock)
    self.source = source
    self.relay = relay
  }

  func policy(for action: Action) -> ActionPolicy {
    switch action {
    case .search: .latestWins("search").debounced(for: .milliseconds(300))
    case .loadMore: .firstWins("page")
    }
  }

  func action(_ action: SyncAction) {
    switch action {
    case .enterQuery(let query):
      guard query != state.query else { return }
      state.query = query
      send(.search)
    case .toggleHidePrivate: state.hidePrivate.toggle()
    case .describe(let repository): state.described = repository
    }
  }

  func action(_ action: Action) async throws {
    switch action {
    case .search:
      // A page of the list before has no place in the new one.
      cancel("page", discardingWrites: true)
      guard !state.query.isEmpty else {
        state.repositories = []
        state.nextPage = nil
        return
      }
      let page = try await source.repositories(matching: state.query, page: 1)
      state.repositories = page.repositories
      state.nextPage = page.nextPage
    case .loadMore:
      guard let number = state.nextPage else { return }
      let page = try await source.repositories(matching: state.query, page: number)
      state.repositories += page.repositories
      state.nextPage = page.nextPage
    }
  }

  func handle(_ failure: ActionFailure<Action>) {
    // What was given up has not failed for the one who searches.
    guard !failure.wasCancelled else { return }
    relay.dispatch(NoticeFeature.self) { $0.show("The search has failed. Please try again.") }
  }
}
