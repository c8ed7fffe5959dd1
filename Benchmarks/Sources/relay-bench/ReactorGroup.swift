// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import Observation
import RelayReactor

/// A reactor beside a plain observable model with asynchronous methods, which has no order, no policies and no end.
let reactorGroup = Group("reactor", "an action, the state that it changes, who observes it") {
  let fixture = Fixture("reactor", isRegistered: false)
  let reactor = CounterReactor()
  let plain = PlainCounter()
  return [
    fixture.floor,
    .loop("sync", "synchronous action, observed", .times(2, of: "method")) { count in
      for _ in 0..<count {
        observe { reactor.state.count }
        reactor.send(.step)
      }
    },
    .loop("part", "the same, the part that changes observed", .times(4, of: "method", aim: 2)) {
      count in
      for _ in 0..<count {
        observe { reactor.count }
        reactor.send(.step)
      }
    },
    .peer("method", "method of an observable model, observed") { count in
      for _ in 0..<count {
        observe { plain.count }
        plain.incrementNow()
      }
    },
    awaited("action", "action, observed, awaited", .times(3, of: "task", aim: 2)) {
      observe { reactor.state.count }
      await reactor.send(.increment).finished()
    },
    awaited("latest", "the same, latest wins", .times(3.5, of: "task", aim: 2)) {
      observe { reactor.state.count }
      await reactor.send(.replace).finished()
    },
    awaited("task", "Task with an asynchronous method, observed, awaited", role: .peer) {
      observe { plain.count }
      await Task { await plain.increment() }.value
    },
    burst("burst", "1,000 actions at once", .times(8, of: "tasks", aim: 3)) {
      for _ in 0..<1_000 { reactor.send(.increment) }
      await reactor.waitUntilIdle()
    },
    burst("serial", "1,000 serial actions at once", .times(8, of: "tasks", aim: 3)) {
      for _ in 0..<1_000 { reactor.send(.queue) }
      await reactor.waitUntilIdle()
    },
    burst("tasks", "1,000 tasks at once", role: .peer) {
      let tasks = (0..<1_000).map { _ in Task { await plain.increment() } }
      for task in tasks { await task.value }
    },
    awaited("states", "action, its state taken from the sequence", .times(12, of: "task", aim: 4)) {
      var states = reactor.states.makeAsyncIterator()
      _ = await states.next(isolation: MainActor.shared)
      reactor.send(.increment)
      _ = await states.next(isolation: MainActor.shared)
    },
  ]
}

@MainActor
private func observe(_ look: @MainActor () -> Int) {
  _ = withObservationTracking {
    look()
  } onChange: {
  }
}

@MainActor
private func awaited(
  _ name: String, _ title: String, role: Subject.Role = .ours, _ bounds: Bound...,
  operation: @escaping @MainActor () async -> Void
) -> Subject {
  Subject(
    name, title, role: role, bounds: bounds,
    .awaited { count in
      let start = Machine.nanoseconds
      for _ in 0..<count { await operation() }
      return Machine.nanoseconds - start
    })
}

/// Operations that come by the thousand.
@MainActor
private func burst(
  _ name: String, _ title: String, role: Subject.Role = .ours, _ bounds: Bound...,
  operation: @escaping @MainActor () async -> Void
) -> Subject {
  Subject(
    name, title, role: role, count: 1_000, bounds: bounds,
    .awaited { count in
      let start = Machine.nanoseconds
      for _ in 0..<(count / 1_000) { await operation() }
      return Machine.nanoseconds - start
    })
}
