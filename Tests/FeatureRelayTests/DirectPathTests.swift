// SPDX-License-Identifier: MIT

import AllocationCounter
import Foundation
import RaceSupport
import XCTest

@testable import FeatureRelay

private protocol CountFeature: RelayFeature {
  func add(_ number: Int)
}

private protocol TextFeature: RelayFeature {
  func add(_ text: String)
}

private final class Counter: CountFeature, TextFeature {
  var sum = 0

  func add(_ number: Int) { sum += number }
  func add(_ text: String) { sum += text.utf8.count }
}

private struct Add: RelayCommand {
  var number: Int
  func execute(on counter: any CountFeature) { counter.add(number) }
}

private struct AddTexts: RelayCommand {
  var text: String
  var more: [String]
  func execute(on counter: any TextFeature) { for text in more { counter.add(text) } }
}

/// Code without isolation, as in a view model of an older style.
private func dispatchWithoutIsolation(_ relay: Relay, _ number: Int) -> Acceptance.Outcome {
  relay.dispatch(CountFeature.self) { $0.add(number) }.outcome
}

private func dispatchTypedWithoutIsolation(_ relay: Relay, _ number: Int) -> Acceptance.Outcome {
  relay.dispatch(Add(number: number)).outcome
}

/// What the direct path costs in memory. Counted where the optimiser runs; what is delivered is
/// checked everywhere.
@MainActor
final class DirectPathAllocationTests: XCTestCase {
  #if DEBUG
    private let isOptimised = false
  #else
    private let isOptimised = true
  #endif

  // Without underscored attributes a capturing closure goes to the heap, and so does what wraps it.
  #if RELAY_PLAIN_ISOLATION
    private let allocationsOfACapture: Int64 = 2
  #else
    private let allocationsOfACapture: Int64 = 0
  #endif

  /// How many allocations a thousand runs make; nil where they cannot be counted.
  private func allocations(_ run: (Int) -> Void) -> Int64? {
    run(0)
    let before = allocation_counter_get()
    for number in 1...1_000 { run(number) }
    return before < 0 ? nil : allocation_counter_get() - before
  }

  private func check(
    _ ownership: HandlerOwnership, capturing closures: Int64 = 1, expected sum: Int,
    line: UInt = #line, _ run: (Relay, Int) -> Void
  ) {
    let relay = Relay(scope: "direct")
    let counter = Counter()
    relay.register(counter, for: CountFeature.self, TextFeature.self, ownership: ownership)
    let count = allocations { run(relay, $0) }
    if isOptimised, let count {
      let most = 1_000 * closures * allocationsOfACapture
      XCTAssertLessThanOrEqual(count, most, line: line)
    }
    XCTAssertEqual(counter.sum, sum, line: line)
  }

  func testTheCounterCounts() {
    guard allocation_counter_get() >= 0 else { return }
    var kept: [Counter] = []
    kept.reserveCapacity(1_001)
    let count = allocations { _ in kept.append(Counter()) }
    XCTAssertEqual(count, 1_000)
    // And it sees what a command that waits costs.
    let relay = Relay(scope: "direct")
    let waiting = allocations { number in
      relay.dispatch(CountFeature.self) { $0.add(number) }
    }
    XCTAssertGreaterThanOrEqual(waiting ?? 0, 1)
  }

  func testAClosureWithoutCaptures() async {
    for ownership in [HandlerOwnership.weak, .owned] {
      check(ownership, capturing: 0, expected: 1_001) { relay, _ in
        relay.dispatch(CountFeature.self) { $0.add(1) }
      }
    }
  }

  func testAClosureWithANumber() async {
    for ownership in [HandlerOwnership.weak, .owned] {
      check(ownership, expected: 500_500) { relay, number in
        relay.dispatch(CountFeature.self) { $0.add(number) }
      }
    }
  }

  func testAClosureWithAString() async {
    let text = String(repeating: "long ", count: 20)
    for ownership in [HandlerOwnership.weak, .owned] {
      check(ownership, expected: 1_001 * 100) { relay, _ in
        relay.dispatch(TextFeature.self) { $0.add(text) }
      }
    }
  }

  func testAClosureWithSeveralCaptures() async {
    let text = String(repeating: "long ", count: 20)
    let other = String(repeating: "x", count: 30)
    let object = Counter()
    for ownership in [HandlerOwnership.weak, .owned] {
      object.sum = 0
      check(ownership, capturing: 2, expected: 1_001 * 130 + 500_500) { relay, number in
        relay.dispatch(TextFeature.self) { feature in
          feature.add(text)
          feature.add(other)
          object.add(number)
        }
        relay.dispatch(CountFeature.self) { [number] in $0.add(number) }
      }
      XCTAssertEqual(object.sum, 500_500)
    }
  }

  func testAClosureOnBehalfOfAnOwner() async {
    let owner = Counter()
    let text = String(repeating: "long ", count: 20)
    for ownership in [HandlerOwnership.weak, .owned] {
      owner.sum = 0
      // The fallback wraps each of the three closures.
      check(ownership, capturing: 3, expected: 1_001 * 101 + 500_500) { relay, number in
        relay.dispatch(CountFeature.self, owner: owner) { feature, owner in
          feature.add(number)
          owner.add(1)
        }
        relay.dispatch(TextFeature.self, owner: owner) { feature, _ in feature.add(text) }
        relay.dispatch(CountFeature.self, owner: owner) { feature, _ in feature.add(1) }
      }
      XCTAssertEqual(owner.sum, 1_001)
    }
  }

  func testTypedCommands() async {
    let command = AddTexts(text: "title", more: ["one", String(repeating: "long ", count: 20)])
    // The fallback wraps a command into a closure that captures it.
    for ownership in [HandlerOwnership.weak, .owned] {
      check(ownership, expected: 500_500) { relay, number in
        relay.dispatch(Add(number: number))
      }
      check(ownership, expected: 1_001 * 103) { relay, _ in relay.dispatch(command) }
    }
  }

  func testCallersWithoutIsolation() async {
    for ownership in [HandlerOwnership.weak, .owned] {
      check(ownership, expected: 500_500) { relay, number in
        XCTAssert(dispatchWithoutIsolation(relay, number) == .delivered)
      }
      check(ownership, expected: 500_500) { relay, number in
        XCTAssert(dispatchTypedWithoutIsolation(relay, number) == .delivered)
      }
    }
  }
}

// MARK: No shared lock

@MainActor
final class DirectPathLockTests: XCTestCase {
  func testADirectDispatchTakesNoLockThatAnotherSlotOrRelayHolds() async {
    let relay = Relay(scope: "one")
    let other = Relay(scope: "other")
    let counter = Counter()
    relay.register(counter, for: CountFeature.self, TextFeature.self)
    other.register(counter, for: CountFeature.self)
    let slot = relay.core.slot(FeatureKey.of(CountFeature.self))
    // The lock is not recursive: who asked for it in here would trap.
    slot.withState { _ in
      relay.dispatch(TextFeature.self) { $0.add("12") }
      other.dispatch(CountFeature.self) { $0.add(100) }
      relay.dispatch(CountFeature.self) { $0.add(1_000) }
      relay.dispatch(Add(number: 10_000))
      XCTAssertEqual(dispatchWithoutIsolation(relay, 100_000), .delivered)
    }
    XCTAssertEqual(counter.sum, 111_102)
    XCTAssertEqual(relay.counts.delivered, 4)
    XCTAssertEqual(other.counts.delivered, 1)
  }

  func testAThreadThatHoldsASlotsLockDelaysNoDirectDispatch() async {
    let relay = Relay(scope: "one")
    let counter = Counter()
    relay.register(counter, for: CountFeature.self, TextFeature.self)
    let slot = relay.core.slot(FeatureKey.of(CountFeature.self))
    let (isHeld, release, isOver) = (ThreadLatch(), ThreadLatch(), ThreadLatch())
    startThread {
      slot.withState { _ in
        isHeld.open()
        release.wait("the lock's release")
      }
      isOver.open()
    }
    isHeld.wait("the lock")
    relay.dispatch(CountFeature.self) { $0.add(1) }
    relay.dispatch(TextFeature.self) { $0.add("12") }
    XCTAssertEqual(counter.sum, 3)
    release.open()
    isOver.wait("the thread's end")
  }
}

// MARK: Code that runs in the middle of a dispatch

private protocol LogFeature: RelayFeature {
  func log(_ number: Int)
}

/// What all handlers of a test received, and how many of them have died.
private final class Trace: Sendable {
  let received = Handover<[Int]>()
  let deaths = Tally()

  func append(_ number: Int) { received.current = (received.current ?? []) + [number] }
}

private final class TracingHandler: LogFeature {
  let trace: Trace

  init(_ trace: Trace) { self.trace = trace }
  deinit { trace.deaths.add() }

  func log(_ number: Int) { trace.append(number) }
}

@MainActor
final class DirectPathCaptureTests: XCTestCase {
  /// What a capture list may do, to the relay that is just about to deliver its command.
  private enum Deed: Int, CaseIterable {
    case register, cancel, release, dispatch, dispatchElsewhere, unregister, closeGate, clear
  }

  /// Where the deeds are done: in the capture list or in the body, of a relay with a handler of its
  /// own or of its child.
  private enum Place: CaseIterable {
    case captureList, body, bodyInChild
  }

  func testCommandsThatDoEverythingToTheirOwnFeature() async {
    for place in Place.allCases {
      for ownership in [HandlerOwnership.weak, .owned] {
        for mask in 0..<(1 << Deed.allCases.count) {
          let deeds = Deed.allCases.filter { mask >> $0.rawValue & 1 == 1 }
          await check(deeds, place, ownership)
          await check(deeds.reversed(), place, ownership)
        }
      }
    }
  }

  private func check(_ deeds: [Deed], _ place: Place, _ ownership: HandlerOwnership) async {
    let home = Relay(scope: "captures")
    let relay = place == .bodyInChild ? Relay(scope: "child", parent: home) : home
    let trace = Trace()
    let doer = Doer(relay, home, TracingHandler(trace), ownership)
    // The slot is there already: only then is the way through it the direct one.
    relay.dispatch(LogFeature.self) { $0.log(0) }
    let outcome =
      switch place {
      case .captureList:
        relay.dispatch(LogFeature.self) { [number = doer.perform(deeds)] in $0.log(number) }.outcome
      case .body, .bodyInChild:
        relay.dispatch(LogFeature.self) { $0.log(doer.perform(deeds)) }.outcome
      }
    let what = "\(deeds) in \(place)"
    XCTAssertEqual(outcome, .delivered, what)
    XCTAssertEqual(trace.received.current?.prefix(2), [0, 1], what)
    // Whatever became of handlers and gates: what was dispatched inside comes later, once and in
    // order.
    home.gate.open(for: "test")
    let last = TracingHandler(trace)
    home.register(last, for: LogFeature.self)
    await home.waitUntilIdle()
    await relay.waitUntilIdle()
    XCTAssertEqual(trace.received.current, [0, 1] + doer.expected, what)
    XCTAssert(relay.counts.isBalanced && home.counts.isBalanced, what)
    let registered = deeds.filter { $0 == .register }.count
    doer.handlers = []
    home.unregister(LogFeature.self)
    relay.dispatch(LogFeature.self) { $0.log(4) }
    await relay.waitUntilIdle()
    XCTAssertEqual(trace.deaths.current, 1 + registered, what)
    withExtendedLifetime(last) {}
  }

  /// Does the deeds, and knows what is to come of them.
  @MainActor
  private final class Doer {
    let relay: Relay
    let home: Relay
    let trace: Trace
    let registration: Registration
    var handlers: [TracingHandler]
    var expected: [Int] = []

    init(
      _ relay: Relay, _ home: Relay, _ handler: TracingHandler, _ ownership: HandlerOwnership
    ) {
      self.relay = relay
      self.home = home
      trace = handler.trace
      handlers = [handler]
      registration = home.register(handler, for: LogFeature.self, ownership: ownership)
    }

    /// - Returns: 1.
    func perform(_ deeds: [Deed]) -> Int {
      for deed in deeds {
        switch deed {
        case .register:
          handlers.append(TracingHandler(trace))
          home.register(handlers.last!, for: LogFeature.self)
        case .cancel: registration.cancel()
        case .release: handlers.removeFirst()
        case .dispatch:
          let acceptance = relay.dispatch(LogFeature.self) { $0.log(2) }
          XCTAssertEqual(acceptance.outcome, .waiting, "\(deeds)")
          expected.append(2)
        case .dispatchElsewhere:
          let relay = relay
          onAnotherThread { relay.dispatch(LogFeature.self) { $0.log(3) } }
          expected.append(3)
        case .unregister: home.unregister(LogFeature.self)
        case .closeGate: home.gate.close(for: "test")
        case .clear:
          relay.clearQueue(LogFeature.self)
          expected = []
        }
      }
      return 1
    }
  }

  func testAHandlerThatIsReleasedAndReplacedInItsOwnCall() async {
    let relay = Relay(scope: "captures")
    let trace = Trace()
    for number in 0..<100 {
      let place = Handover<TracingHandler>()
      place.current = TracingHandler(trace)
      let registration = relay.register(place.current!, for: LogFeature.self)
      let next = TracingHandler(trace)
      relay.dispatch(LogFeature.self) { handler in
        place.current = nil
        registration.cancel()
        relay.register(next, for: LogFeature.self)
        relay.dispatch(LogFeature.self) { $0.log(2 * number + 1) }
        handler.log(2 * number)
      }
      relay.unregister(LogFeature.self)
    }
    XCTAssertEqual(trace.received.current, Array(0..<200))
    XCTAssertEqual(trace.deaths.current, 200)
  }
}

// MARK: Last references

/// A handler that calls the relay when it dies.
private final class CallingHandler: LogFeature {
  private let relay: Relay
  private let onDeath: @Sendable () -> Void

  init(_ relay: Relay, onDeath: @escaping @Sendable () -> Void) {
    self.relay = relay
    self.onDeath = onDeath
  }

  deinit {
    // Under a lock each of these would trap.
    _ = relay.isRegistered(LogFeature.self)
    _ = relay.pendingCount
    _ = relay.snapshot()
    relay.dispatch(LogFeature.self) { $0.log(0) }
    onDeath()
  }

  func log(_ number: Int) { spin(20) }
}

@MainActor
final class LastReferenceTests: XCTestCase {
  func testLookingAtAHandlerMayHoldItsLastReferenceButNeverUnderALock() async throws {
    let rounds = raceRounds(2_000, atLeast: 300)
    let looks: [@Sendable (Relay, Relay) -> Void] = [
      { relay, _ in _ = relay.isRegistered(LogFeature.self) },
      { relay, _ in _ = relay.snapshot() },
      // The queue is full: whether it is in transit depends on whether the handler lives.
      { relay, _ in relay.dispatch(LogFeature.self, tags: ["look"]) { $0.log(1) } },
      { relay, _ in relay.dispatch(LogFeature.self) { $0.log(1) } },
      { _, child in child.dispatch(LogFeature.self) { $0.log(1) } },
    ]
    // Looks are short, and none is held up in the middle: in batches, until one of them held the
    // last reference.
    var (batches, isHeld) = (0, false)
    while batches == 0 || (!isHeld && batches < 20) {
      batches += 1
      for look in looks where try await holdsLastReference(rounds, look: look) { isHeld = true }
    }
    requireMet(isHeld, "no look held the last reference")
  }

  /// Lets go of so many handlers while somebody looks at them: whether a look held one of them
  /// last.
  private func holdsLastReference(
    _ rounds: Int, look: @escaping @Sendable (Relay, Relay) -> Void
  ) async throws -> Bool {
    let main = pthread_self()
    let relay = Relay(scope: "weak", configuration: try RelayConfiguration(limit: 1))
    let child = Relay(scope: "child", parent: relay, configuration: relay.configuration)
    let (deaths, deathsOnMain) = (Tally(), Tally())
    let rival = Rival(rounds: rounds)
    for round in 0..<rounds {
      let place = Handover<CallingHandler>()
      place.current = CallingHandler(relay) {
        deaths.add()
        if pthread_equal(pthread_self(), main) != 0 { deathsOnMain.add() }
      }
      relay.register(place.current!, for: LogFeature.self)
      let released = Tally()
      rival.race(RaceTuner()) {
        spin(round * 7_919 % 300)
        place.current = nil
        released.add()
      } rival: {
        repeat { look(relay, child) } while released.current == 0
      }
      await child.waitUntilIdle()
      await relay.waitUntilIdle()
      relay.clearQueue()
      child.clearQueue()
    }
    XCTAssertEqual(deaths.current, rounds)
    XCTAssert(relay.counts.isBalanced)
    return deathsOnMain.current < rounds
  }
}
