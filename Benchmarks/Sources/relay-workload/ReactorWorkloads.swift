// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import Foundation
import RelayReactor

/// What is left of actions that have ended.
@MainActor let reactorWorkloads = [
  Workload("finished-action") { count in
    let reactor = CounterReactor()
    // What is paid once, and the most memory that is needed at a time, is paid before.
    finish(count, of: .increment, by: reactor)
    return { finish(count, of: .increment, by: reactor) }
  },
  Workload("finished-serial-action") { count in
    let reactor = CounterReactor()
    finish(count, of: .queue, by: reactor)
    return { finish(count, of: .queue, by: reactor) }
  },
]

/// Runs actions to their ends, a hundred at a time. The main thread takes the main actor's turns meanwhile.
@MainActor
private func finish(_ count: Int, of action: CounterReactor.Action, by reactor: CounterReactor) {
  for start in stride(from: 0, to: count, by: 100) {
    let runs = (start..<min(start + 100, count)).map { _ in reactor.send(action) }
    while runs.contains(where: { $0.outcome == nil }) {
      _ = RunLoop.main.run(mode: .default, before: .distantPast)
    }
  }
}
