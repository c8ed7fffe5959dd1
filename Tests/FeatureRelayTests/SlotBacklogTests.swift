// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import FeatureRelay

/// A slot has memory for a queue once it has something to keep, and not before.
@MainActor
@Suite
struct SlotBacklogTests {
  let relay = Relay(scope: "backlog")
  let ledger = Ledger()

  private var slot: SlotStorage { relay.core.slot(FeatureKey.of((any LedgerFeature).self)) }
  private var ownsBacklog: Bool { slot.withState { $0.ownsBacklog } }

  @Test func whoOnlyCallsAHandlerNeedsNone() {
    let registration = relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .delivered)
    registration.cancel()
    relay.gate.close(for: "test")
    relay.gate.open(for: "test")
    _ = (relay.snapshot(), relay.counts, relay.gate(for: LedgerFeature.self).isOpen)
    relay.unregister(LedgerFeature.self)
    #expect(relay.cancel(tagged: CommandTag()) == 0 && relay.clearQueue() == 0)
    relay.reset()
    #expect(relay.counts.delivered == 1 && relay.counts.isBalanced)
    #expect(!ownsBacklog)
  }

  @Test func aHandlersDeathNeedsNone() {
    var mortal: Ledger? = Ledger()
    relay.register(mortal!, for: LedgerFeature.self)
    relay.write(1)
    mortal = nil
    #expect(!relay.isRegistered(LedgerFeature.self))
    relay.unregister(LedgerFeature.self)
    #expect(!ownsBacklog)
  }

  @Test func settingsOfItsOwnNeedNone() throws {
    relay.configure(
      LedgerFeature.self, try FeatureConfiguration(limit: 2, retry: .later(.constant(.seconds(1)))))
    let feature = try #require(relay.snapshot().features.first)
    #expect(feature.limit == 2)
    #expect(!ownsBacklog)
    // The relay's other slots have the relay's.
    relay.show(1)
    #expect(relay.snapshot().features.last?.limit == 100)
    for number in 0..<3 { relay.write(number) }
    #expect(relay.counts(of: LedgerFeature.self).dropped(.overflow) == 1)
    #expect(ownsBacklog)
  }

  @Test func anObserverNeedsNone() {
    struct Deaf: RelayObserver {
      func observe(_ event: RelayEvent) {}
    }
    let observation = relay.observe(Deaf())
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .delivered)
    observation.cancel()
    #expect(!ownsBacklog)
  }

  @Test func lendingALaneNeedsNone() async {
    let child = Relay(scope: "child", parent: relay)
    child.write(1)
    relay.register(ledger, for: LedgerFeature.self)
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(!ownsBacklog)
  }

  @Test func whatWaitsKeepsIt() {
    relay.write(1)
    #expect(ownsBacklog)
    relay.reset()
    #expect(ownsBacklog)
    #expect(relay.counts(of: LedgerFeature.self).dropped(.reset) == 1)
  }

  // The short way in is taken by the first command of a slot that has a handler.
  @Test func aCommandFromElsewhereMakesIt() async {
    relay.register(ledger, for: LedgerFeature.self)
    #expect(!ownsBacklog)
    relay.writeElsewhere(1)
    #expect(ownsBacklog)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1] && relay.counts.delivered == 1)
    expectEmptyIsUntouched()
  }

  @Test func aFailureOfADirectCallIsCountedInIt() {
    relay.register(ledger, for: LedgerFeature.self)
    ledger.onWrite = { _ in throw Refusal() }
    #expect(relay.write(1).outcome == .failed)
    #expect(ownsBacklog)
    #expect(relay.counts.dropped(.failed) == 1 && relay.counts.isBalanced)
  }

  @Test func whatOneSlotKeepsIsNotInAnother() async {
    let features = SomeFeature.make(40)
    let relay = relay
    // Each of them makes its own at the same time as another one.
    onAnotherThread { for feature in features { _ = feature.dispatch(relay) } }
    for feature in features { #expect(feature.pendingCount(relay) == 1) }
    relay.show(1)
    #expect(relay.pendingCount == 41 && relay.counts.accepted == 41)
    for feature in features { _ = feature.register(relay) }
    await relay.waitUntilIdle()
    #expect(relay.counts.delivered == 40 && relay.counts.waiting == 1)
    expectEmptyIsUntouched()
  }

  private func expectEmptyIsUntouched() {
    let empty = SlotBacklog.empty
    #expect(empty.pointee.counts == RelayCounts())
    #expect(empty.pointee.queue.waiting == 0 && empty.pointee.queue.running == 0)
    #expect(empty.pointee.queue.slab.capacity == 0)
    #expect(empty.pointee.lastSequence == 0 && empty.pointee.lastDeadline == .min)
    #expect(empty.pointee.armedWake == .max && empty.pointee.plannedWakes == [])
    #expect(empty.pointee.claim.count == 0 && empty.pointee.runs.isEmpty)
    #expect(empty.pointee.gateReasons == [] && empty.pointee.tape == nil)
    #expect(empty.pointee.uniqueKeys.isEmpty && empty.pointee.roomWaiters.isEmpty)
  }
}

/// Where an event's place is made when it is needed.
struct EventOriginPlaceTests {
  @Test func itIsMadeOnce() {
    let relay = Relay(scope: "place")
    let slot = relay.core.slot(FeatureKey.of((any LedgerFeature).self))
    let first = slot.origin
    onAnotherThread { #expect(slot.origin === first) }
    #expect(first.feature == "LedgerFeature" && first.scope == "place")
    #expect(first.relay == relay.core.number && first.slot == slot.number)
  }

  @Test func ofTwoMadeAtOnceOneIsKept() {
    let place = EventOriginPlace()
    func make(_ feature: String) -> EventOrigin {
      EventOrigin(relay: 1, slot: 0, scope: "place", feature: feature)
    }
    // The second one is kept while the first one is being made.
    var inner: EventOrigin?
    let outer = place.origin {
      inner = place.origin { make("inner") }
      return make("outer")
    }
    #expect(outer === inner && place.origin { make("late") } === inner)
  }
}
