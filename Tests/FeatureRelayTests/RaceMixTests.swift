// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Synchronization
import XCTest

// Everything at once, from eight threads and the main actor: law 1 at every moment, one order of
// events, growing tables, observers that come and go.

private protocol MixFeature: RelayFeature {
  func mix() throws
  func rest() async throws
}

private protocol OtherFeature: RelayFeature {
  func mix()
}

private struct Failure: Error {}

/// Something that a command captures, so that its release can be counted.
private final class Load: Sendable {
  private let released: Tally
  init(_ released: Tally) { self.released = released }
  deinit { released.add() }
}

private final class Mixer: MixFeature, OtherFeature {
  var count = 0

  func mix() {
    MainActor.assertIsolated()
    count += 1
  }

  func rest() async throws {
    count += 1
    await Task.yield()
    try Task.checkCancellation()
  }
}

private struct Mix: RelayCommand {
  static let policy = CommandPolicy(priority: .high, limit: 20, overflow: .dropNewest)
  let load: Load
  func execute(on mixer: any MixFeature) throws { try mixer.mix() }
}

private struct Rest: AsyncRelayCommand {
  static let policy = CommandPolicy(retry: .later(.constant(.zero, attempts: 2)))
  let load: Load
  func execute(on mixer: any MixFeature) async throws { try await mixer.rest() }
}

/// An observer that notices an event out of order, and one that comes while another is still being
/// seen.
private final class OrderObserver: RelayObserver {
  let last = Atomic<UInt64>(0)
  let seen = Atomic<Int>(0)
  let wrong = Atomic<Int>(0)
  private let isInside = Atomic<Bool>(false)

  func observe(_ event: RelayEvent) {
    if isInside.exchange(true, ordering: .acquiringAndReleasing) {
      wrong.add(1, ordering: .relaxed)
    }
    if event.number <= last.load(ordering: .relaxed) { wrong.add(1, ordering: .relaxed) }
    last.store(event.number, ordering: .relaxed)
    seen.add(1, ordering: .relaxed)
    isInside.store(false, ordering: .releasing)
  }
}

@MainActor
final class RaceMixTests: XCTestCase {
  func testEightThreadsOfMixedOperationsAccountForEveryCommand() async throws {
    let rounds = raceRounds(10_000, atLeast: 2_000)
    let parent = Relay(scope: "parent")
    let relays = [
      Relay(scope: "one", parent: parent), Relay(scope: "other", parent: parent), parent,
    ]
    let (offered, released, checked, done) = (Tally(), Tally(), Tally(), Tally())
    let unbalanced = Handover<String>()
    let seed = SeededGenerator.freshSeed()
    print("seed \(seed)")
    @Sendable nonisolated func operations(_ number: UInt64) -> MixedOperations {
      MixedOperations(
        relays, offered: offered, released: released, checked: checked, unbalanced: unbalanced,
        seed: seed &+ number)
    }
    for number in 1...8 {
      startThread {
        var operations = operations(UInt64(number))
        for _ in 0..<rounds { operations.perform() }
        done.add()
      }
    }
    // The main actor joins in, and lets deliveries happen.
    var own = operations(0)
    while done.current < 8 {
      for _ in 0..<50 { own.perform() }
      await mainTurn()
    }
    // However the dice fell: a full queue behind a closed gate.
    own.flood(relays[0])
    for relay in relays {
      for reason in relay.gate.reasons { relay.gate.open(for: reason) }
      let gate = relay.gate(for: MixFeature.self)
      for reason in gate.reasons { gate.open(for: reason) }
    }
    let mixer = Mixer()
    parent.register(mixer, for: MixFeature.self, OtherFeature.self)
    own.fail(relays[0])
    // Until nothing waits: async commands that failed give way and come again.
    for relay in relays.reversed() { await relay.waitUntilIdle() }
    for relay in relays { await relay.waitUntilIdle() }
    let sum = relays.dropFirst().reduce(relays[0].counts) { $0 + $1.counts }
    XCTAssertNil(unbalanced.current)
    requireMet(checked.current > rounds / 10, "only \(checked.current) looks")
    XCTAssertEqual(Int(sum.offered), offered.current)
    XCTAssert(sum.isBalanced, "\(sum)")
    XCTAssertEqual(released.current, offered.current, "captures outlive their commands")
    XCTAssertEqual(sum.running, 0)
    XCTAssertEqual(sum.waiting, 0, "\(relays.map { $0.dump() }.joined(separator: "\n"))")
    // Everything that can happen here did.
    XCTAssertGreaterThan(sum.delivered, 0)
    for reason in [DropReason.cleared, .cancelled, .overflow, .failed, .coalesced] {
      requireMet(sum.dropped(reason) > 0, "\(reason) never happened")
    }
    requireMet(sum.refusedDuplicate > 0, "nothing was there already")
    requireMet(sum.refusedFull > 0, "no queue was full")
  }

  func testObserversThatComeAndGoMissNothingWhileTheyAreThere() async {
    let rounds = raceRounds(20_000)
    let relay = Relay(scope: "race")
    let mixer = Mixer()
    relay.register(mixer, for: MixFeature.self)
    let isOver = Atomic<Bool>(false)
    let wrong = Atomic<Int>(0)
    let seen = Atomic<Int>(0)
    let end = SpinBarrier(parties: 3)
    startThread {
      while !isOver.load(ordering: .acquiring) {
        let observer = OrderObserver()
        let observation = relay.observe(observer)
        spin(500)
        observation.cancel()
        wrong.add(observer.wrong.load(ordering: .relaxed), ordering: .relaxed)
        seen.add(observer.seen.load(ordering: .relaxed), ordering: .relaxed)
        spin(500)
      }
      end.meet()
    }
    startThread {
      while !isOver.load(ordering: .acquiring) {
        let events = relay.events
        spin(300)
        withExtendedLifetime(events) {}
        spin(300)
      }
      end.meet()
    }
    var count = 0
    // However few rounds: until somebody has looked.
    while count < rounds || (count < 1_000_000 && seen.load(ordering: .relaxed) == 0) {
      let acceptance = relay.dispatch(MixFeature.self) { try $0.mix() }
      if acceptance.outcome != .delivered { wrong.add(1, ordering: .relaxed) }
      count += 1
      if count % 64 == 0 { await mainTurn() }
    }
    isOver.store(true, ordering: .releasing)
    end.meet()
    XCTAssertEqual(mixer.count, count)
    XCTAssertEqual(wrong.load(ordering: .relaxed), 0)
    XCTAssertEqual(relay.counts.delivered, UInt64(count))
    requireMet(seen.load(ordering: .relaxed) > 0, "nobody looked")
    requireMet(seen.load(ordering: .relaxed) < 3 * count, "somebody always looked")
  }

  func testEventsHaveOneOrderUnderEightThreads() async throws {
    let rounds = raceRounds(10_000)
    let configuration = try RelayConfiguration(eventBuffer: 16 * rounds * 8)
    let relay = Relay(scope: "race", configuration: configuration)
    let mixer = Mixer()
    relay.register(mixer, for: MixFeature.self)
    let observers = [OrderObserver(), OrderObserver()]
    let observations = observers.map { relay.observe($0) }
    let events = relay.events
    let left = Atomic<Int>(8)
    for _ in 0..<8 {
      startThread {
        for round in 0..<rounds / 8 {
          relay.dispatch(MixFeature.self) { try $0.mix() }
          if round % 16 == 0 {
            relay.gate.close(for: "race")
            relay.gate.open(for: "race")
          }
        }
        left.subtract(1, ordering: .acquiringAndReleasing)
      }
    }
    while left.load(ordering: .acquiring) > 0 { await mainTurn() }
    await relay.waitUntilIdle()
    relay.close()
    var numbers: [UInt64] = []
    var accepted = 0
    var ended = 0
    for await event in events {
      numbers.append(event.number)
      switch event.kind {
      case .accepted: accepted += 1
      case .delivered, .dropped: ended += 1
      default: break
      }
    }
    XCTAssertEqual(numbers, Array(numbers[0]..<numbers[0] + UInt64(numbers.count)))
    XCTAssertEqual(accepted, rounds / 8 * 8)
    XCTAssertEqual(ended, accepted)
    for observer in observers {
      XCTAssertEqual(observer.wrong.load(ordering: .relaxed), 0)
      XCTAssertGreaterThanOrEqual(observer.seen.load(ordering: .relaxed), numbers.count)
    }
    withExtendedLifetime(observations) {}
  }

  func testTableThatGrowsLosesNobodyWhoLooksUp() async {
    let features = SomeFeature.make(200)
    for _ in 0..<raceRounds(50) {
      let before = features.map { $0.deliveredCount() }
      let relay = Relay(scope: "race")
      let start = SpinBarrier(parties: 3)
      let end = SpinBarrier(parties: 3)
      let missed = Atomic<Int>(0)
      startThread {
        start.meet()
        for feature in features {
          _ = feature.register(relay)
          if !feature.isRegistered(relay) { missed.add(1, ordering: .relaxed) }
        }
        end.meet()
      }
      startThread {
        start.meet()
        var known = Set<Int>()
        for _ in 0..<5 {
          for number in features.indices.reversed() {
            if features[number].isRegistered(relay) {
              known.insert(number)
            } else if known.contains(number) {
              missed.add(1, ordering: .relaxed)
            }
          }
        }
        for feature in features { _ = feature.dispatch(relay) }
        end.meet()
      }
      start.meet()
      var waiting = 0
      for feature in features where feature.dispatch(relay).outcome == .waiting { waiting += 1 }
      end.meet()
      await relay.waitUntilIdle()
      let delivered = zip(features, before).map { $0.deliveredCount() - $1 }
      XCTAssertEqual(delivered, Array(repeating: 2, count: 200), "\(waiting) waited")
      XCTAssertEqual(missed.load(ordering: .relaxed), 0)
      XCTAssertEqual(relay.pendingCount, 0)
    }
  }
}

/// What one thread does to a few relays, at random.
private struct MixedOperations {
  let relays: [Relay]
  let offered: Tally
  let released: Tally
  let checked: Tally
  let unbalanced: Handover<String>
  var random: SeededGenerator
  private var handlers: [Mixer] = []
  private var registrations: [Registration] = []

  init(
    _ relays: [Relay], offered: Tally, released: Tally, checked: Tally,
    unbalanced: Handover<String>, seed: UInt64
  ) {
    self.relays = relays
    self.offered = offered
    self.released = released
    self.checked = checked
    self.unbalanced = unbalanced
    random = SeededGenerator(seed: seed)
  }

  mutating func perform() {
    let relay = relays.randomElement(using: &random)!
    let reason = ["a", "b"].randomElement(using: &random)!
    switch Int.random(in: 0..<24, using: &random) {
    case 0, 1:
      // The first handler is released by this thread, wherever it is just being called.
      if handlers.count > 3 { handlers.removeFirst() }
      handlers.append(Mixer())
      registrations.append(
        Bool.random(using: &random)
          ? relay.register(handlers.last!, for: MixFeature.self)
          : relay.register(handlers.last!, for: MixFeature.self, OtherFeature.self))
    case 2: registrations.popLast()?.cancel()
    case 3: handlers.last.map { relay.unregister($0, for: MixFeature.self) }
    case 4...9: dispatch(to: relay)
    case 10: offer { load in relay.dispatch(OtherFeature.self) { [load] in keep(load, $0.mix()) } }
    case 11, 12: offer { relay.dispatch(Mix(load: $0)) }
    case 13, 14: offer { relay.dispatch(Rest(load: $0), tags: ["tag"]) }
    case 15:
      offer { load in
        relay.dispatch(MixFeature.self, unique: .keepFirst("key")) { keep(load, try $0.mix()) }
      }
      offer { load in
        relay.dispatch(MixFeature.self, unique: .keepLatest("latest")) { keep(load, try $0.mix()) }
      }
    case 16: relay.gate.close(for: reason)
    case 17: relay.gate.open(for: reason)
    case 18: relay.gate(for: MixFeature.self).close(for: reason)
    case 19: relay.gate(for: MixFeature.self).open(for: reason)
    case 20: relay.cancel(tagged: "tag", includingRunning: Bool.random(using: &random))
    case 21:
      if Int.random(in: 0..<8, using: &random) == 0 { relay.clearQueue(MixFeature.self) }
      _ = relay.isRegistered(MixFeature.self)
    case 22: check(relay.counts(of: MixFeature.self), "counts")
    default: check(relay)
    }
  }

  func flood(_ relay: Relay) {
    relay.gate.close(for: "flood")
    for _ in 0..<150 {
      offer { load in relay.dispatch(MixFeature.self) { keep(load, try $0.mix()) } }
      offer { relay.dispatch(Mix(load: $0)) }
    }
  }

  /// A command that fails, wherever it is delivered.
  mutating func fail(_ relay: Relay) {
    offer { load in
      relay.dispatch(MixFeature.self) { _ in
        withExtendedLifetime(load) {}
        throw Failure()
      }
    }
  }

  private mutating func dispatch(to relay: Relay) {
    let tags: [CommandTag] = Bool.random(using: &random) ? ["tag"] : []
    let fails = Int.random(in: 0..<16, using: &random) == 0
    offer { load in
      relay.dispatch(MixFeature.self, tags: tags) { mixer in
        if fails { throw Failure() }
        keep(load, try mixer.mix())
      }
    }
  }

  private func offer(_ dispatch: (Load) -> Acceptance) {
    offered.add()
    _ = dispatch(Load(released))
  }

  private func check(_ relay: Relay) {
    for feature in relay.snapshot().features {
      check(feature.counts, feature.name)
      if feature.waiting.count != min(Int(feature.counts.waiting), 1_024) {
        unbalanced.current = "\(feature.waiting.count) listed, \(feature.counts)"
      }
    }
    if relay.pendingCount < 0 { unbalanced.current = "fewer than none wait" }
  }

  private func check(_ counts: RelayCounts, _ what: String) {
    checked.add()
    if !counts.isBalanced { unbalanced.current = "\(what): \(counts)" }
  }
}

/// Uses what a closure has captured.
private func keep(_ load: Load, _ done: Void) {
  withExtendedLifetime(load) {}
}
