// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// What a full queue lets go, and that there is a bound to everything.
@MainActor
struct QueueBoundsTests {
  let ledger = Ledger()

  private func makeRelay(
    limit: Int, overflow: OverflowRule = .dropOldest, transitLimit: Int = 65_536
  ) throws -> Relay {
    Relay(
      scope: "bounds",
      configuration: try RelayConfiguration(
        limit: limit, overflow: overflow, transitLimit: transitLimit))
  }

  private func replay(_ relay: Relay) async -> [Int] {
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    return ledger.numbers
  }

  @Test func aFullQueueDropsTheLowestPriorityForAHigherOne() async throws {
    let relay = try makeRelay(limit: 3)
    let low = relay.write(1, priority: .low)
    relay.write(2, priority: .high)
    relay.write(3, priority: .normal)
    relay.write(4, priority: .high)
    #expect(relay.status(of: low.id!) == .dropped(.overflow))
    #expect(relay.counts.dropped(.overflow) == 1)
    #expect(await replay(relay) == [2, 4, 3])
  }

  @Test func aQueueFullOfUrgentCommandsRefusesALowOne() async throws {
    let relay = try makeRelay(limit: 3)
    for number in 1...3 { relay.write(number, priority: .critical) }
    #expect(relay.write(4, priority: .low).outcome == .refused(.full))
    #expect(relay.counts.refusedFull == 1)
    #expect(relay.counts.offered == 4)
    #expect(await replay(relay) == [1, 2, 3])
  }

  @Test func amongEqualsTheOldestGoes() async throws {
    let relay = try makeRelay(limit: 3)
    for number in 1...6 { relay.write(number, priority: .low) }
    #expect(await replay(relay) == [4, 5, 6])
  }

  @Test func aPlainCommandCountsAsNormal() async throws {
    let relay = try makeRelay(limit: 2)
    relay.write(1, priority: .low)
    relay.write(2, priority: .critical)
    relay.write(3)
    #expect(await replay(relay) == [2, 3])
  }

  @Test func aHundredCommandsOfOneInstantKeepTheirOrder() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "instant", configuration: try RelayConfiguration(clock: clock.relayClock))
    for number in 0..<100 { relay.write(number) }
    #expect(await replay(relay) == Array(0..<100))
  }

  @Test func theBoundHoldsAtEveryMoment() throws {
    let relay = try makeRelay(limit: 100)
    for number in 0..<10_000 {
      relay.write(number)
      if relay.pendingCount > 100 { Issue.record("\(relay.pendingCount) wait") }
    }
    #expect(relay.counts.dropped(.overflow) == 9_900)
    #expect(relay.counts.isBalanced)
  }

  @Test func dropOldestKeepsTheNewest() async throws {
    let relay = try makeRelay(limit: 3)
    for number in 1...4 { relay.write(number) }
    #expect(relay.counts.dropped == 1)
    #expect(relay.counts.refusedFull == 0)
    #expect(await replay(relay) == [2, 3, 4])
  }

  @Test func dropNewestRefusesTheNewcomer() async throws {
    let relay = try makeRelay(limit: 3, overflow: .dropNewest)
    for number in 1...3 { relay.write(number) }
    #expect(relay.write(4, priority: .critical).outcome == .refused(.full))
    #expect(relay.counts.dropped == 0)
    #expect(relay.counts.refusedFull == 1)
    #expect(await replay(relay) == [1, 2, 3])
  }

  @Test func aRunningCommandIsNotCountedAndNotEvicted() async throws {
    let relay = try makeRelay(limit: 3)
    let ledger = ledger
    let latch = Latch()
    relay.register(ledger, for: LedgerFeature.self)
    let running = relay.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    let ids = (2...5).map { relay.write($0).id! }
    #expect(relay.status(of: ids[0]) == .dropped(.overflow))
    #expect(relay.pendingCount == 3)
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 3, 4, 5])
    let ends = ([running.id!] + ids).map { relay.status(of: $0)! }
    #expect(ends == [.delivered, .dropped(.overflow), .delivered, .delivered, .delivered])
    #expect(relay.counts.isBalanced)
  }

  @Test func whatIsOnItsWayToMainIsNotHeldToTheLimit() async throws {
    let relay = try makeRelay(limit: 3)
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<1_000 { relay.write(number) } }
    #expect(relay.pendingCount == 1_000)
    #expect(relay.snapshot().inTransit == 997)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<1_000))
    #expect(relay.snapshot().inTransit == 0)
  }

  @Test func transitHasItsOwnBound() async throws {
    let relay = try makeRelay(limit: 3, transitLimit: 5)
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<20 { relay.write(number) } }
    #expect(relay.pendingCount == 8)
    #expect(relay.counts.dropped(.overflow) == 12)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(12..<20))
    #expect(relay.snapshot().inTransit == 0)
  }

  @Test func transitIsSharedByAllFeaturesOfARelay() async throws {
    let relay = try makeRelay(limit: 1, transitLimit: 4)
    let mirror = Mirror()
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    onAnotherThread {
      for number in 0..<4 { relay.write(number) }
      for number in 0..<4 { relay.show(number) }
    }
    #expect(relay.snapshot().inTransit == 4)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [0, 1, 2, 3])
    #expect(mirror.numbers == [2, 3])
  }

  // A feature takes many places at once, which others must not miss.
  @Test func placesThatNoCommandHasYetAreFreeForAllFeatures() async throws {
    let relay = try makeRelay(limit: 1, transitLimit: 100)
    let mirror = Mirror()
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(mirror, for: MirrorFeature.self)
    onAnotherThread {
      for number in 0..<2 { relay.write(number) }
      for number in 0..<100 { relay.show(number) }
    }
    #expect(relay.counts.dropped(.overflow) == 0)
    #expect(relay.snapshot().inTransit == 100)
    onAnotherThread { relay.show(100) }
    #expect(relay.counts.dropped(.overflow) == 1)
    #expect(relay.snapshot().inTransit == 100)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [0, 1])
    #expect(mirror.numbers == Array(1...100))
    #expect(relay.snapshot().inTransit == 0)
  }

  @Test func whatWasInTransitStaysWhenTheHandlerDies() async throws {
    let relay = try makeRelay(limit: 3)
    var brief: Ledger? = Ledger()
    relay.register(brief!, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<10 { relay.write(number) } }
    brief = nil
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 10 && brief == nil)
    // From now on newcomers meet the limit.
    relay.write(10)
    #expect(relay.pendingCount == 10)
    #expect(relay.counts.dropped(.overflow) == 1)
    #expect(await replay(relay) == Array(1...10))
    #expect(relay.snapshot().inTransit == 0)
  }

  @Test func transitIsGivenBackByEveryKindOfEnd() async throws {
    let relay = try makeRelay(limit: 1)
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<5 { relay.write(number, tags: ["t"]) } }
    #expect(relay.cancel(tagged: "t") == 5)
    onAnotherThread { for number in 0..<5 { relay.write(number) } }
    #expect(relay.clearQueue(LedgerFeature.self) == 5)
    onAnotherThread { for number in 0..<5 { relay.write(number) } }
    relay.reset()
    #expect(relay.snapshot().inTransit == 0)
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<5 { relay.write(number) } }
    relay.close()
    #expect(relay.snapshot().inTransit == 0)
    #expect(ledger.numbers == [])
  }

  @Test func aFeaturesLimitGoesBeforeTheRelays() async throws {
    let relay = try makeRelay(limit: 5)
    relay.configure(LedgerFeature.self, try FeatureConfiguration(limit: 2))
    for number in 1...5 {
      relay.write(number)
      relay.show(number)
    }
    #expect(relay.pendingCount(LedgerFeature.self) == 2)
    #expect(relay.pendingCount(MirrorFeature.self) == 5)
  }

  @Test func aTypesLimitGoesBeforeTheFeatures() async throws {
    struct Bounded: RelayCommand {
      static let policy = CommandPolicy(limit: 2, overflow: .dropNewest)
      var number: Int
      func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
    }
    let relay = try makeRelay(limit: 5)
    #expect(relay.dispatch(Bounded(number: 1)).isAccepted)
    #expect(relay.dispatch(Bounded(number: 2)).isAccepted)
    #expect(relay.dispatch(Bounded(number: 3)).outcome == .refused(.full))
    #expect(relay.write(4).isAccepted)
    #expect(relay.pendingCount == 3)
  }

  @Test func aSmallerLimitDropsNothingThatWaits() throws {
    let relay = try makeRelay(limit: 10)
    for number in 1...10 { relay.write(number) }
    relay.configure(LedgerFeature.self, try FeatureConfiguration(limit: 2))
    #expect(relay.pendingCount == 10)
    relay.write(11)
    #expect(relay.pendingCount == 10)
    #expect(relay.counts.dropped(.overflow) == 1)
  }

  @Test func aParentsHandlerLetsAChildsBurstTravel() async throws {
    let parent = try makeRelay(limit: 2)
    let child = Relay(
      scope: "child", parent: parent, configuration: try RelayConfiguration(limit: 2))
    parent.register(ledger, for: LedgerFeature.self)
    onAnotherThread { for number in 0..<50 { child.write(number) } }
    await child.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<50))
  }
}
