// SPDX-License-Identifier: MIT

import Observation
import RelayReactor

/// A counter as a reactor.
package final class CounterReactor: Reactor {
  /// What is counted.
  package struct State: Sendable {
    package var count = 0
  }

  package enum Action: Sendable { case increment, replace, queue }
  package enum SyncAction: Sendable { case step }

  package let container = StateContainer(State())
  @ReactorState package private(set) var state: State

  package init() {}

  package func policy(for action: Action) -> ActionPolicy {
    switch action {
    case .increment: .concurrent
    case .replace: .latestWins("replace")
    case .queue: .serial("queue")
    }
  }

  package func action(_ action: SyncAction) { state.count += 1 }
  package func action(_ action: Action) async { state.count += 1 }
}

/// The same as one would write it without a library.
@MainActor @Observable
package final class PlainCounter {
  package private(set) var count = 0

  package init() {}

  package func incrementNow() { count += 1 }
  package func increment() async { count += 1 }
}
