// SPDX-License-Identifier: MIT
// error: main actor-isolated property 'state' can not be mutated

import RelayReactor

final class CounterReactor: Reactor {
  struct State { var count = 0 }
  enum Action { case increment }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  func action(_ action: Action) async { state.count += 1 }

  nonisolated func incrementAnywhere() {
    state.count += 1
  }
}
