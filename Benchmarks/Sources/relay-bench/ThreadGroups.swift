// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import Dispatch
import FeatureRelay

/// From other threads, until the last one has been delivered on the main actor.
let threadsGroup = Group("threads", "from other threads until delivered on main; per command") {
  let fixture = Fixture("threads", isRegistered: false)
  let tally = Tally()
  let relay = fixture.relay
  relay.register(tally, for: TickFeature.self)
  var rows = [fixture.floor]
  for producers in [1, 2, 8] {
    let crew = Crew(producers)
    let plural = "\(producers) producer\(producers == 1 ? "" : "s")"
    let main = "main.async-\(producers)"
    let task = "Task-\(producers)"
    func gathering(
      _ name: String, _ title: String, _ role: Subject.Role, _ bounds: [Bound],
      _ send: @escaping @Sendable () -> Void
    ) -> Subject {
      Subject(
        name, "\(plural): \(title)", role: role, count: 8_192, bounds: bounds,
        .awaited { count in
          await gather(count, tally, crew) { for _ in 0..<(count / producers) { send() } }
        })
    }
    rows += [
      gathering(
        "dispatch-\(producers)", "dispatch", .ours,
        [
          .faster(producers == 1 ? 3 : 2, than: main, margin: 0.2),
          .faster(5, than: task, margin: 0.2),
        ]
      ) { relay.dispatch(TickFeature.self) { $0.tick(1) } },
      gathering(main, "DispatchQueue.main.async for each", .peer, []) {
        DispatchQueue.main.async { tally.tick(1) }
      },
      gathering(task, "Task { @MainActor in } for each", .peer, []) {
        Task { @MainActor in tally.tick(1) }
      },
    ]
  }
  return rows
}

/// The time from the start of the producers until the handler has seen the last command.
@MainActor
private func gather(
  _ count: Int, _ tally: Tally, _ crew: Crew, _ send: @escaping @Sendable () -> Void
) async -> Int64 {
  var end: Int64 = 0
  let start = Machine.nanoseconds
  await withCheckedContinuation { continuation in
    tally.expect(count) {
      end = Machine.nanoseconds
      continuation.resume()
    }
    crew.start { _ in send() }
  }
  crew.wait()
  return end - start
}

/// Two threads that fill queues at the same time; wall time per command of one thread.
let contentionGroup = Group("contention", "two threads enqueue; per command of one thread") {
  let first = Backlog("first")
  let second = Backlog("second")
  let alone = Crew(1)
  let pair = Crew(2)
  let bound = Bound.times(1.15, of: "alone", margin: 0.25)
  let count = 10_000
  @Sendable func ticks(_ relay: Relay) {
    for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } }
  }
  @Sendable func others(_ relay: Relay) {
    for _ in 0..<count { relay.dispatch(OtherFeature.self) { $0.tick(1) } }
  }
  @MainActor func working(_ crew: Crew, _ work: @escaping @Sendable (Int) -> Void) -> Int64 {
    let elapsed = time {
      crew.start(work)
      crew.wait()
    }
    first.relay.clearQueue()
    second.relay.clearQueue()
    return elapsed
  }
  let (one, other) = (first.relay, second.relay)
  return [
    first.fixture.floor,
    .timed("alone", "one thread", count: count) { _ in working(alone) { _ in ticks(one) } },
    .timed("features", "two threads, two features", count: count, bound) { _ in
      working(pair) { $0 == 0 ? ticks(one) : others(one) }
    },
    .timed("relays", "two threads, two relays", count: count, bound) { _ in
      working(pair) { $0 == 0 ? ticks(one) : ticks(other) }
    },
    .timed("same", "two threads, one feature", count: count) { _ in
      working(pair) { _ in ticks(one) }
    },
  ]
}

protocol OtherFeature: RelayFeature {
  func tick(_ number: Int)
}
