// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import RelayJournal
import Testing

@MainActor
struct RestorationTests {
  let box = Box()

  @Test func restoreIsIdempotentAndWritesNothingWhereNothingIsNew() async throws {
    try box.launch().note(1)
    box.relay.note(2)
    box.kill()
    let relay = try box.launch()
    async let first = relay.restore()
    async let second = relay.restore()
    let results = await [first, second]
    #expect(results == [.restored(2), .restored(2)] || results.contains(.restored(2)))
    #expect(relay.pendingCount == 2)
    let before = box.disk.count(.write)
    for _ in 0..<3 { #expect(await relay.restore() == .empty) }
    #expect(box.disk.count(.write) == before)
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
    #expect(relay.counts.restored == 2)
    #expect(relay.counts.isBalanced)
    #expect(try await box.left() == [])
  }

  @Test func restoredCommandsComeFirstAndKeepTheirOrderAndPriority() async throws {
    let relay = try box.launch()
    for number in 1...10 { relay.note(number) }
    relay.note(100, priority: .high)
    relay.note(0, priority: .low)
    box.kill()
    try box.launch()
    box.relay.note(11)
    box.relay.note(101, priority: .high)
    #expect(await box.relay.restore() == .restored(12))
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [100, 101] + Array(1...11) + [0])
  }

  @Test func whatRestoreReadsIsHeldBackFromDelivery() async throws {
    try box.launch().note(1)
    box.kill()
    let latch = ThreadLatch()
    box.disk.hang(.list) { latch.wait() }
    let relay = try box.launch()
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    async let result = relay.restore()
    while !relay.isHeld(LedgerFeature.self) { await mainTurn() }
    // The other features go on.
    let mirror = Mirror()
    relay.register(mirror, for: MirrorFeature.self)
    relay.show(5)
    await mainTurn()
    relay.write(2)
    await mainTurn()
    #expect(ledger.numbers == [])
    box.disk.heal()
    for _ in 0..<8 { latch.open() }
    #expect(await result == .restored(1))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func whatIsCancelledWhileItIsReadNeverComes() async throws {
    let relay = try box.launch()
    relay.note(1, tags: ["a"])
    relay.note(2)
    box.kill()
    let latch = ThreadLatch()
    box.disk.hang(.list) { latch.wait() }
    try box.launch()
    async let result = box.relay.restore()
    while !box.relay.isHeld(LedgerFeature.self) { await mainTurn() }
    let (relay2, opened) = (box.relay!, Tally())
    async let cancelled = besideMain { () -> Int in
      opened.add()
      return relay2.cancel(tagged: "a")
    }
    while opened.current == 0 { await Task.yield() }
    box.disk.heal()
    for _ in 0..<8 { latch.open() }
    _ = await (result, cancelled)
    let ledger = Ledger()
    relay2.register(ledger, for: LedgerFeature.self)
    relay2.note(3)
    await relay2.waitUntilIdle()
    #expect(ledger.numbers == [2, 3])
    #expect(try await box.relaunch() == .empty)
  }

  @Test func cancellingReachesTheDiskAlsoForRestoredCommands() async throws {
    for isRestored in [false, true] {
      let box = Box()
      let relay = try box.launch()
      await relay.restore()
      relay.note(1)
      relay.note(2, tags: ["s"])
      relay.note(3)
      if isRestored { try await box.relaunch() }
      #expect(box.relay.cancel(tagged: "s") == 1)
      #expect(try await box.left() == [1, 3])
    }
  }

  @Test func beforeRestoreCancellingReachesWhatLiesOnDisk() async throws {
    let relay = try box.launch()
    relay.note(1)
    relay.note(2, tags: ["s"])
    box.kill()
    try box.launch()
    #expect(box.relay.cancel(tagged: "s") == 1)
    #expect(try await box.left() == [1])
  }

  @Test func clearExpiryAndDeliveryReachTheDisk() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    #expect(relay.clearQueue(LedgerFeature.self) == 1)
    relay.note(2, timeToLive: .seconds(5))
    box.clock.advance(by: .seconds(5))
    #expect(relay.pendingCount == 0)
    let ledger = Ledger()
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.note(3)
    registration.cancel()
    relay.note(4)
    #expect(ledger.numbers == [3])
    #expect(try await box.left() == [4])
  }

  @Test func evictionAndReplacementReachTheDisk() async throws {
    box.settings = try DurableConfiguration(limit: 2, overflow: .dropOldest)
    let relay = try box.launch()
    await relay.restore()
    for number in 1...6 { relay.note(number) }
    #expect(relay.counts.dropped(.overflow) == 4)
    #expect(try await box.left() == [5, 6])
    let next = try box.reopenNow()
    for number in 1...3 { next.note(number, unique: .keepLatest("k")) }
    #expect(try await box.left() == [3])
  }

  @Test func waitingKeysSurvive() async throws {
    try box.launch().note(1, unique: .keepFirst("k"))
    try await box.relaunch()
    #expect(box.relay.note(2, unique: .keepFirst("k")).isAccepted == false)
    #expect(try await box.left() == [1])
  }

  @Test func resetEmptiesMemoryAndDisk() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    relay.note(2)
    relay.reset()
    relay.note(3)
    #expect(try await box.left() == [3])
  }

  @Test func aResetBeforeRestoreEmptiesWhatWasNeverRead() async throws {
    try box.launch().note(1)
    box.kill()
    try box.launch().reset()
    box.relay.note(2)
    #expect(try await box.left() == [2])
  }

  @Test func closingKeepsTheJournal() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    relay.note(2)
    #expect(try await box.reopen() == .restored(2))
    #expect(box.relay.pendingCount == 2)
  }

  @Test func aHandlerCutShortByTheEndOfTheRelayDoesNotCount() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = Latch()
    let worker = Worker()
    worker.onWork = { _ in await latch.wait() }
    relay.register(worker, for: PatientFeature.self)
    relay.dispatch(WorkOn(number: 1))
    await latch.arrival()
    #expect(try await box.reopen() == .restored(1))
    latch.open()
    let next = Worker()
    box.relay.register(next, for: PatientFeature.self)
    await box.relay.waitUntilIdle()
    #expect(next.contexts.map(\.attempt) == [1])
    #expect(next.contexts.map(\.isRedelivery) == [false])
  }

  @Test func twelveHundredComeBackWithoutAFurtherTrigger() async throws {
    let relay = try box.launch()
    await relay.restore()
    for number in 0..<500 { relay.note(number, timeToLive: .seconds(10)) }
    for number in 500..<1_200 { relay.note(number) }
    box.kill()
    box.wall.now += .seconds(11)
    try box.launch()
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    #expect(await box.relay.restore() == .restored(700))
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == Array(500..<1_200))
    #expect(box.relay.counts.dropped(.expired) == 500)
    #expect(box.relay.counts.isBalanced)
    #expect(try await box.relaunch() == .empty)
  }

  @Test func agesGoOnAcrossARelaunchWhateverTheWallClockDoes() async throws {
    // The wall clock was four years ahead: as old as nothing, from now on.
    try box.launch().note(1, timeToLive: .seconds(60))
    box.kill()
    box.wall.now -= .seconds(4 * 365 * 86_400)
    try box.launch()
    #expect(await box.relay.restore() == .restored(1))
    box.clock.advance(by: .seconds(59))
    #expect(box.relay.pendingCount == 1)
    box.clock.advance(by: .seconds(1))
    #expect(box.relay.pendingCount == 0)
    #expect(box.relay.counts.dropped(.expired) == 1)
    // An hour old: over at once.
    box.relay.note(2, timeToLive: .seconds(60))
    box.kill()
    box.wall.now += .seconds(61)
    try box.launch()
    #expect(await box.relay.restore() == .empty)
    #expect(box.relay.counts.dropped(.expired) == 1)
    // Half of its life is left.
    box.relay.note(3, timeToLive: .seconds(60))
    box.kill()
    box.wall.now += .seconds(30)
    try box.launch()
    #expect(await box.relay.restore() == .restored(1))
    box.clock.advance(by: .seconds(29))
    #expect(box.relay.pendingCount == 1)
    box.clock.advance(by: .seconds(1))
    #expect(box.relay.pendingCount == 0)
  }

  @Test func limitThreeAndSixWrittenAreThreeInMemoryAndOnDisk() async throws {
    box.settings = try DurableConfiguration(limit: 3, overflow: .dropOldest)
    let relay = try box.launch()
    await relay.restore()
    for number in 1...6 { relay.note(number) }
    #expect(relay.pendingCount == 3)
    #expect(try await box.relaunch() == .restored(3))
    #expect(box.relay.pendingCount == 3)
  }

  @Test func commandsOfOneInstantKeepTheirOrder() async throws {
    let relay = try box.launch()
    for number in 0..<100 { relay.note(number) }
    #expect(try await box.left() == Array(0..<100))
  }

  @Test func aRelayOnlySeesItsOwnJournal() async throws {
    let food = Box("food", disk: box.disk)
    try box.launch()
    try food.launch()
    box.relay.note(1)
    box.relay.close()
    food.relay.close()
    try box.launch()
    try food.launch()
    #expect(await food.relay.restore() == .empty)
    #expect(await box.relay.restore() == .restored(1))
  }

  @Test func aBacklogOfThousandsStaysWithinItsBoundOnDisk() async throws {
    box.settings = try DurableConfiguration(limit: 100, overflow: .dropOldest)
    let relay = try box.launch()
    await relay.restore()
    for number in 0..<10_000 {
      relay.note(number)
      if relay.pendingCount > 100 { Issue.record("too many wait") }
    }
    #expect(relay.counts.dropped(.overflow) == 9_900)
    // Two thousand times smaller than all of them.
    let bytes = box.disk.files!.paths.reduce(0) { $0 + (box.disk.files![$1]?.count ?? 0) }
    #expect(bytes < 1_500_000, "\(bytes) bytes")
    #expect(try await box.left() == Array(9_900..<10_000))
  }

  @Test func unknownNamesAreKeptAndBecomeDeadLettersAtTheirEnd() async throws {
    let relay = try box.launch()
    relay.note(1, timeToLive: .seconds(100))
    relay.dispatch(ShowNumber(number: 2))
    box.types = [ShowNumber.self]
    #expect(try await box.relaunch() == .restored(1))
    #expect(box.relay.deadLetters.isEmpty)
    // The next build knows it again.
    box.types = [ShowNumber.self, WriteNumber.self]
    #expect(try await box.relaunch() == .restored(2))
    box.types = [ShowNumber.self]
    try await box.relaunch()
    box.wall.now += .seconds(100)
    box.clock.advance(by: .seconds(100))
    #expect(box.relay.deadLetters.map(\.reason) == [.undeclared])
    #expect(box.relay.deadLetters.map(\.name) == ["number.write"])
  }
}

extension Box {
  func reopenNow() throws -> Relay {
    relay.close()
    return try launch()
  }
}
