// SPDX-License-Identifier: MIT
// error: cannot assign to property: 'state' setter is inaccessible

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
  reactor.state.count = 1
}
