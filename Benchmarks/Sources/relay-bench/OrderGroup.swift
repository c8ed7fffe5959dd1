// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import FeatureRelay
import Synchronization

private let priorities = CommandPriority.allCases

/// What a queue does besides first in, first out.
let orderGroup = Group("order", "priorities, a full queue, keys; per command") {
  let backlog = Backlog("order")
  let full = Backlog("full", configuration: .roomy(1_000))
  full.fill(.closure, 1_000)
  let keyed = Backlog("keyed")
  let list = SortedListBench()
  return [
    backlog.fixture.floor,
    .timed("enqueue", "1,000 of one priority", count: 1_000) { backlog.enqueue(.closure, $0) },
    .timed("enqueue-capture", "the same with a number", count: 1_000) {
      backlog.enqueue(.capture, $0)
    },
    .timed("mixed", "1,000 of four priorities", count: 1_000, .times(1.2, of: "enqueue")) {
      count in
      let elapsed = time {
        for number in 0..<count {
          backlog.relay.dispatch(TickFeature.self, priority: priorities[number & 3]) { $0.tick(1) }
        }
      }
      backlog.relay.clearQueue()
      return elapsed
    },
    .timedPeer("sorted", "1,000 into a sorted list by bisection", count: 1_000) { list.fill($0) },
    .timedPeer("sorted-10000", "10,000 into a sorted list by bisection", count: 10_000) {
      list.fill($0)
    },
    .loop("flood", "a full queue, without captures", .times(1.3, of: "enqueue")) { count in
      full.fill(.closure, count)
    },
    // With captures beside what is enqueued with captures: the memory alone makes up half of it.
    .loop("flood-capture", "a full queue, with a number", .times(1.5, of: "enqueue-capture")) {
      count in
      full.fill(.capture, count)
    },
    .loop("coalesce", "keepLatest, one key") { count in
      for number in 0..<count {
        keyed.relay.dispatch(TickFeature.self, unique: .keepLatest("sync")) { $0.tick(number) }
      }
    },
  ]
}

// Of many, each by itself: whoever asks for memory next pays for what they let go of.

/// Cancelling by tag.
let tagsGroup = Group("tags", "1,000 of 100,000 cancelled; per command") {
  let backlog = Backlog("tags")
  return [
    backlog.fixture.floor,
    .timed("cancel", "1,000 of 100,000 by tag", count: 1_000, .floors(2)) { count in
      cancel(count, of: 100_000, in: backlog.relay)
    },
  ]
}

/// Commands that have become too old.
let ageGroup = Group("age", "100,000 that have waited too long; per command") {
  [
    Fixture("age").floor,
    .timed("expire", "100,000 that have waited too long", count: 100_000, .floors(2)) {
      expiry.expire($0)
    },
  ]
}

@MainActor private let expiry = Expiry()

@MainActor
private func cancel(_ count: Int, of all: Int, in relay: Relay) -> Int64 {
  relay.clearQueue()
  let tag = CommandTag()
  for number in 0..<all {
    relay.dispatch(TickFeature.self, tags: number % (all / count) == 0 ? [tag] : []) { $0.tick(1) }
  }
  let elapsed = time { precondition(relay.cancel(tagged: tag) == count) }
  relay.clearQueue()
  return elapsed
}

/// A backlog with a clock that is moved by hand.
@MainActor
private final class Expiry {
  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
  }

  private let clock = Clock()
  private let backlog: Backlog

  init() {
    let clock = clock
    backlog = Backlog(
      "expiry",
      configuration: .roomy(
        clock: RelayClock(
          now: { .nanoseconds(clock.nanoseconds.load(ordering: .relaxed)) },
          // What is due is found by the drain that a registration starts.
          schedule: { _, _ in })))
  }

  func expire(_ count: Int) -> Int64 {
    backlog.fill(.closure, count)
    clock.nanoseconds.add(301_000_000_000, ordering: .relaxed)
    let elapsed = time {
      backlog.relay.register(backlog.fixture.handler, for: TickFeature.self)
    }
    precondition(backlog.relay.pendingCount == 0)
    backlog.relay.unregister(TickFeature.self)
    return elapsed
  }
}

@MainActor
private final class SortedListBench {
  private var list = SortedList()

  func fill(_ count: Int) -> Int64 {
    let elapsed = time {
      for number in 0..<count { list.insert(number & 3) { $0.tick(1) } }
    }
    precondition(list.count == count)
    list.removeAll()
    return elapsed
  }
}
