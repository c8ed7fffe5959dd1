// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import BenchmarkPeers
import FeatureRelay
import Foundation

// A library that was built with RELAY_PLAIN_ISOLATION goes the way without underscored attributes; the suite has to
// be built with the same flag.
#if RELAY_PLAIN_ISOLATION
  private let plain = Bound.floors(2), capturing = Bound.floors(2)
#else
  private let plain = Bound.floors(1.35, aim: 1.17), capturing = Bound.floors(1.4, aim: 1.17)
#endif

/// Dispatch on the main actor while a weakly held handler is there.
let directGroup = Group("direct", "on the main actor, weak handler") {
  let fixture = Fixture("direct")
  let naive = NaiveRelay()
  naive.register(fixture.handler, for: TickFeature.self)
  let broadcast = Broadcast()
  let (stream, continuation) = AsyncStream.makeStream(
    of: Int.self, bufferingPolicy: .bufferingNewest(256))
  return [
    fixture.floor,
    Subject(
      "F-function", "weak delegate, in a function of its own", role: .peer,
      .loop { count in
        for _ in 0..<count { callOnce(fixture.sender) }
      }),
    fixture.strongCall,
    fixture.closure(
      plain, .faster(7, than: "NotificationCenter"), .faster(2.5, than: "naive")),
    fixture.capture(capturing),
    fixture.string(capturing),
    fixture.typed(capturing),
    .loop(
      "function", "closure, in a function of its own", plain, .times(plain.limit, of: "F-function")
    ) { count in
      for _ in 0..<count { dispatchOnce(fixture.relay) }
    },
    .peer("naive", "lock, dictionary, weak box") { count in
      for _ in 0..<count { naive.dispatch(TickFeature.self) { $0.tick(1) } }
    },
    .peer("NotificationCenter", "post, weak observer") { count in
      for _ in 0..<count { broadcast.center.post(name: .tick, object: nil) }
    },
    .peer("AsyncStream", "yield alone, nobody reads") { count in
      for number in 0..<count { continuation.yield(number) }
      withExtendedLifetime(stream) {}
    },
  ]
}

/// The same from code without isolation that happens to run on the main actor.
let nonisolatedGroup = Group("nonisolated", "from nonisolated synchronous code on main") {
  let fixture = Fixture("nonisolated")
  let naive = NaiveRelay()
  naive.register(fixture.handler, for: TickFeature.self)
  let broadcast = Broadcast()
  let text = makeText()
  let over = Bound.floors(0.75, over: "closure")
  return [
    fixture.floor,
    fixture.strongCall,
    fixture.closure(),
    .loop("plain", "closure without captures", over, .faster(1, than: "NotificationCenter")) {
      nonisolatedClosures(fixture.relay, $0)
    },
    .loop("capture", "closure with a number", over) { nonisolatedCaptures(fixture.relay, $0) },
    .loop("string", "closure with a string", over) {
      nonisolatedStrings(fixture.relay, text, $0)
    },
    .loop("typed", "typed command", over) { nonisolatedCommands(fixture.relay, $0) },
    .peer("naive", "lock, dictionary, weak box (on the main actor)") { count in
      for _ in 0..<count { naive.dispatch(TickFeature.self) { $0.tick(1) } }
    },
    .peer("NotificationCenter", "post, weak observer") { count in
      for _ in 0..<count { broadcast.center.post(name: .tick, object: nil) }
    },
  ]
}

/// A handler that the relay keeps alive: there is no weak reference to load.
let ownedGroup = Group("owned", "on the main actor, owned handler") {
  let fixture = Fixture("owned", ownership: .owned)
  let bound = Bound.floors(0.85, aim: 0.6)
  return [
    fixture.floor, fixture.strongCall, fixture.closure(bound), fixture.capture(bound),
    fixture.string(bound), fixture.typed(bound),
  ]
}

@MainActor @inline(never)
private func callOnce(_ sender: Sender) {
  sender.delegate?.tick(1)
}

@MainActor @inline(never)
private func dispatchOnce(_ relay: Relay) {
  relay.dispatch(TickFeature.self) { $0.tick(1) }
}

@inline(never)
private nonisolated func nonisolatedClosures(_ relay: Relay, _ count: Int) {
  for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } }
}

@inline(never)
private nonisolated func nonisolatedCaptures(_ relay: Relay, _ count: Int) {
  for number in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(number) } }
}

@inline(never)
private nonisolated func nonisolatedStrings(_ relay: Relay, _ text: String, _ count: Int) {
  for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.note(text) } }
}

@inline(never)
private nonisolated func nonisolatedCommands(_ relay: Relay, _ count: Int) {
  for number in 0..<count { relay.dispatch(Tick(number: number)) }
}
