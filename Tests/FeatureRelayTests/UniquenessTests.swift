// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

@MainActor
struct UniquenessTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = .testing(configuration: try RelayConfiguration(limit: 2_000), clock: clock)
  }

  private func replay() -> [Int] {
    relay.register(ledger, for: LedgerFeature.self)
    return ledger.numbers
  }

  @Test func keepFirstRefusesWhileTheFirstWaitsAndNamesIt() {
    let first = relay.write(1, unique: .keepFirst("k"))
    #expect(relay.write(2, unique: .keepFirst("k")).outcome == .refused(.duplicate(of: first.id!)))
    #expect(relay.counts.refusedDuplicate == 1)
    #expect(replay() == [1])
  }

  @Test func keepFirstRefusesWhileTheFirstRuns() async {
    let latch = Latch()
    relay.register(ledger, for: LedgerFeature.self)
    let first = relay.dispatch(LedgerFeature.self, unique: .keepFirst("k")) { _ async in
      await latch.wait()
    }
    await latch.arrival()
    #expect(relay.write(2, unique: .keepFirst("k")).outcome == .refused(.duplicate(of: first.id!)))
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
  }

  @Test func keepFirstRefusesInsideItsOwnHandler() {
    var inner: Acceptance?
    ledger.onWrite = { [relay] _ in inner = relay.write(2, unique: .keepFirst("k")) }
    relay.register(ledger, for: LedgerFeature.self)
    let first = relay.write(1, unique: .keepFirst("k"))
    #expect(inner?.outcome == .refused(.duplicate(of: first.id!)))
    #expect(ledger.numbers == [1])
  }

  @Test func keepFirstRefusesWithinItsWindowAfterTheDelivery() {
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1, unique: .keepFirst("k", within: .seconds(10)))
    clock.advance(by: .seconds(10) - .nanoseconds(1))
    #expect(!relay.write(2, unique: .keepFirst("k")).isAccepted)
    clock.advance(by: .nanoseconds(1))
    #expect(relay.write(3, unique: .keepFirst("k")).outcome == .delivered)
    #expect(ledger.numbers == [1, 3])
  }

  @Test func theWindowStartsWithTheDelivery() {
    relay.write(1, unique: .keepFirst("k", within: .seconds(10)))
    clock.advance(by: .seconds(100))
    #expect(replay() == [1])
    clock.advance(by: .seconds(9))
    #expect(!relay.write(2, unique: .keepFirst("k")).isAccepted)
    clock.advance(by: .seconds(1))
    #expect(relay.write(3, unique: .keepFirst("k")).isAccepted)
  }

  @Test func aFirstThatEndedUndeliveredStandsInNobodysWay() {
    relay.write(1, tags: ["t"], unique: .keepFirst("a"))
    relay.cancel(tagged: "t")
    #expect(relay.write(2, unique: .keepFirst("a")).isAccepted)
    relay.clearQueue()
    #expect(relay.write(3, unique: .keepFirst("a")).isAccepted)
    clock.advance(by: .seconds(300))
    #expect(relay.write(4, unique: .keepFirst("a")).isAccepted)
    ledger.onWrite = { if $0 == 4 { throw Refusal() } }
    #expect(replay() == [4])
    #expect(relay.write(5, unique: .keepFirst("a")).outcome == .delivered)
    relay.reset()
    #expect(relay.write(6, unique: .keepFirst("a")).isAccepted)
  }

  @Test func thousandAndTwentyFourDeliveredKeysAreRemembered() {
    relay.register(ledger, for: LedgerFeature.self)
    for number in 0..<1_024 { relay.write(number, unique: .keepFirst("\(number)")) }
    #expect(!relay.write(0, unique: .keepFirst("0")).isAccepted)
    relay.write(1_024, unique: .keepFirst("1024"))
    #expect(relay.write(0, unique: .keepFirst("0")).isAccepted)
    #expect(!relay.write(2, unique: .keepFirst("2")).isAccepted)
    #expect(!relay.write(1_024, unique: .keepFirst("1024")).isAccepted)
  }

  @Test func keysBelongToOneFeatureOfOneRelay() {
    let other = Relay(scope: "other")
    #expect(relay.write(1, unique: .keepFirst("k")).isAccepted)
    #expect(other.write(1, unique: .keepFirst("k")).isAccepted)
    let mirrored = relay.dispatch(MirrorFeature.self, unique: .keepFirst("k")) { try $0.show(1) }
    #expect(mirrored.isAccepted)
    #expect(relay.write(1, unique: .keepFirst("other")).isAccepted)
  }

  @Test func keepLatestTakesThePlaceOfTheOneThatWaits() {
    let first = relay.write(1, unique: .keepLatest("k"))
    relay.write(2)
    let latest = relay.write(3, unique: .keepLatest("k"))
    #expect(relay.status(of: first.id!) == .dropped(.coalesced))
    #expect(relay.pendingCount == 2)
    #expect(relay.status(of: latest.id!) == .waiting)
    #expect(replay() == [3, 2])
    #expect(relay.counts.dropped(.coalesced) == 1)
    #expect(relay.counts.isBalanced)
  }

  @Test func keepLatestBringsItsOwnTimeToLive() {
    relay.write(1, timeToLive: .seconds(10), unique: .keepLatest("k"))
    clock.advance(by: .seconds(9))
    relay.write(2, timeToLive: .seconds(10), unique: .keepLatest("k"))
    clock.advance(by: .seconds(9))
    relay.write(3)
    #expect(replay() == [2, 3])
  }

  @Test func keepLatestBringsItsOwnTags() {
    relay.write(1, tags: ["old"], unique: .keepLatest("k"))
    relay.write(2, tags: ["new"], unique: .keepLatest("k"))
    #expect(relay.cancel(tagged: "old") == 0)
    #expect(relay.cancel(tagged: "new") == 1)
    #expect(relay.pendingCount == 0)
  }

  @Test func keepLatestWithAnotherPriorityGoesToThatPrioritysEnd() {
    relay.write(1, unique: .keepLatest("k"))
    relay.write(2)
    relay.write(3, priority: .high)
    relay.write(4, priority: .high, unique: .keepLatest("k"))
    relay.write(5, priority: .high)
    #expect(replay() == [3, 4, 5, 2])
  }

  @Test func keepLatestDoesNotReplaceOneThatRuns() async {
    let latch = Latch()
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self, unique: .keepLatest("k")) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    relay.write(2, unique: .keepLatest("k"))
    relay.write(3, unique: .keepLatest("k"))
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 3])
  }

  @Test func keepLatestIsNotHeldUpByADelivery() {
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1, unique: .keepFirst("k"))
    #expect(relay.write(2, unique: .keepLatest("k")).outcome == .delivered)
    #expect(relay.write(3, unique: .keepLatest("k")).outcome == .delivered)
    #expect(ledger.numbers == [1, 2, 3])
  }

  @Test func keepLatestNeedsNoRoomInAFullQueue() async throws {
    let relay = Relay(scope: "full", configuration: try RelayConfiguration(limit: 2))
    relay.write(1)
    relay.write(2, unique: .keepLatest("k"))
    relay.write(3, unique: .keepLatest("k"))
    #expect(relay.counts.dropped(.overflow) == 0)
    #expect(relay.pendingCount == 2)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 3])
  }

  @Test func aQueueOfReplacedCommandsStaysWithinLimitAndTransit() async throws {
    let relay = Relay(
      scope: "transit", configuration: try RelayConfiguration(limit: 2, transitLimit: 3))
    relay.register(ledger, for: LedgerFeature.self)
    onAnotherThread {
      for number in 0..<100 {
        relay.write(number, unique: .keepLatest("\(number % 5)"))
        relay.write(1_000 + number)
      }
    }
    #expect(relay.pendingCount <= 5)
    await relay.waitUntilIdle()
    #expect(relay.snapshot().inTransit == 0)
    #expect(relay.counts.isBalanced)
  }

  @Test func aHundredThousandReplacementsKeepOneCommand() {
    for number in 0..<100_000 { relay.write(number, unique: .keepLatest("k")) }
    #expect(relay.pendingCount == 1)
    #expect(replay() == [99_999])
  }

  @Test func descriptionsNameRuleAndKey() {
    #expect(Uniqueness.keepLatest("sync").description == "keep latest \"sync\"")
    #expect(Uniqueness.keepFirst("n").description.contains("keep first \"n\""))
    #expect(Uniqueness.keepFirst("n").key == "n")
  }
}
