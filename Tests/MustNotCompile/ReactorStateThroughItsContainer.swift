// SPDX-License-Identifier: MIT
// error: 'state' is inaccessible due to 'internal' protection level

import RelayReactor

final class CounterReactor: Reactor {
  struct State { var count = 0 }
  enum Action { case increment }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  func action(_ action: Action) async { state.count += 1 }
}

@MainActor
func write(_ reactor: CounterReactor) {
  reactor.container.state.count = 1
}
