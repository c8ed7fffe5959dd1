// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import FeatureRelay
import Synchronization

/// Dispatch that has more to do than to call: a parent's handler, somebody who looks.
///
/// Counting has no row: the lane's word, which every direct dispatch writes anyway, is the counter.
let variantsGroup = Group("variants", "on the main actor, with more to do") {
  let fixture = Fixture("plain")
  let child = Relay(scope: "child", parent: fixture.relay)
  let observed = Fixture("observed")
  observed.relay.observe(SilentObserver())
  let audience = Audience()
  return [
    fixture.floor,
    fixture.closure(),
    .loop("parent", "delivered by a parent's handler", .floors(4)) { count in
      for _ in 0..<count { child.dispatch(TickFeature.self) { $0.tick(1) } }
      withExtendedLifetime(fixture.handler) {}
    },
    .loop("observer", "with an observer", .floors(3, over: "closure")) { count in
      for _ in 0..<count { observed.relay.dispatch(TickFeature.self) { $0.tick(1) } }
      withExtendedLifetime(observed.handler) {}
    },
    Subject(
      "events", "with a consumer of events on the main actor", count: 300,
      bounds: [.floors(3, over: "closure")], .awaited { await audience.dispatch($0) }),
  ]
}

private final class SilentObserver: RelayObserver {
  private let count = Atomic<Int>(0)

  func observe(_ event: RelayEvent) { count.add(1, ordering: .relaxed) }
}

/// A relay, and somebody on the main actor who reads its events in a later turn, as a screen would.
@MainActor
private final class Audience {
  private let fixture = Fixture("consumed")
  private var lastEvent: UInt64 = 0

  init() {
    let events = fixture.relay.events
    Task { [weak self] in
      for await event in events { self?.lastEvent = event.number }
    }
  }

  /// The time that it takes to dispatch so many commands, without the reading.
  func dispatch(_ count: Int) async -> Int64 {
    let first = lastEvent
    let elapsed = time {
      for _ in 0..<count { fixture.relay.dispatch(TickFeature.self) { $0.tick(1) } }
    }
    // Each command is accepted, started and delivered: three events, which the buffer has room for.
    while lastEvent < first + UInt64(3 * count) { await Task.yield() }
    return elapsed
  }
}

/// Dispatch in a relay with other features, and among other relays.
let manyGroup = Group("many", "1, 10, 1,000 features; 1,000 relays") {
  let one = Fixture("one")
  let fixtures = [10, 1_000].map { count in
    let fixture = Fixture("\(count) features", isRegistered: false)
    let others = registerManyFeatures(count - 1, in: fixture.relay)
    fixture.relay.register(fixture.handler, for: TickFeature.self)
    return (fixture, others)
  }
  let relays = (0..<1_000).map { Fixture("relay \($0)") }
  let bound = Bound.times(1.1, of: "closure")
  @MainActor func dispatching(
    _ name: String, _ title: String, _ fixture: Fixture, _ keeping: [AnyObject]
  ) -> Subject {
    .loop(name, title, bound) { count in
      for _ in 0..<count { fixture.relay.dispatch(TickFeature.self) { $0.tick(1) } }
      withExtendedLifetime((fixture, keeping)) {}
    }
  }
  return [
    one.floor,
    one.closure(),
    dispatching("10", "one of 10 features", fixtures[0].0, fixtures[0].1),
    dispatching("1000", "one of 1,000 features", fixtures[1].0, fixtures[1].1),
    dispatching("relays", "one of 1,000 relays", relays[517], []),
    .loop("in-turn", "1,000 relays in turn") { count in
      for number in 0..<count {
        relays[number % 1_000].relay.dispatch(TickFeature.self) { $0.tick(1) }
      }
    },
    .peer("F-in-turn", "1,000 weak delegates in turn") { count in
      for number in 0..<count { relays[number % 1_000].sender.delegate?.tick(1) }
    },
  ]
}
