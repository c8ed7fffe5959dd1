// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import RelayJournal
import Testing

/// What a disk can do to a relay: nothing crashes, nothing blocks for long, everything is told.
@MainActor
struct DiskFaultTests {
  let box = Box()

  private func problems(_ word: String) -> Int {
    box.relay.snapshot().problems.count { $0.contains(word) }
  }

  @Test func aFullDiskDeliversFromMemoryAndWarnsOnceAMinute() async throws {
    for code in [JournalError.Code.noSpace, .inputOutput] {
      let box = Box()
      let relay = try box.launch()
      await relay.restore()
      let ledger = Ledger()
      relay.register(ledger, for: LedgerFeature.self)
      box.disk.failWrites(code)
      for number in 0..<1_000 {
        let acceptance = relay.note(number)
        #expect(acceptance.outcome == .delivered)
        #expect(acceptance.durability == .inMemory)
      }
      #expect(ledger.numbers == Array(0..<1_000))
      #expect(relay.snapshot().problems.count { $0.contains("not written") } == 1)
      box.clock.advance(by: .seconds(61))
      relay.note(1_000)
      #expect(relay.snapshot().problems.count { $0.contains("not written") } == 2)
      box.disk.heal()
      #expect(try await box.left() == [])
    }
  }

  @Test func whatCouldNotBeWrittenIsWrittenWhenThereIsSpaceAgain() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    box.disk.failWrites()
    let second = relay.note(2)
    #expect(second.durability == .inMemory)
    #expect(relay.pendingCount == 2)
    box.disk.heal()
    #expect(relay.note(3).durability == .survivesProcessDeath)
    #expect(await relay.waitUntilPersisted(second) == .survivesProcessDeath)
    #expect(try await box.left() == [1, 2, 3])
  }

  @Test func itTriesAgainByItself() async throws {
    let relay = try box.launch()
    await relay.restore()
    box.disk.failWrites()
    relay.note(1)
    box.disk.heal()
    box.clock.advance(by: .seconds(1))
    #expect(try await box.left() == [1])
  }

  @Test func aTornWriteIsRolledBackAndTheNextIsWhole() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    box.disk.faulty.setRule { operation in
      operation.kind == .write ? .fail(.noSpace, afterBytes: 7) : nil
    }
    #expect(relay.note(2).durability == .inMemory)
    box.kill()
    try box.launch()
    #expect(await box.relay.restore() == .restored(1))
  }

  @Test func endsThatCouldNotBeWrittenAreWrittenLater() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1, tags: ["a"])
    relay.note(2)
    box.disk.failWrites()
    #expect(relay.cancel(tagged: "a") == 1)
    box.disk.heal()
    relay.note(3)
    #expect(try await box.left() == [2, 3])
  }

  @Test func lockedIsNotEmptyAndNothingIsTouched() async throws {
    let relay = try box.launch()
    relay.note(1)
    relay.note(2)
    box.kill()
    let before = Dictionary(
      uniqueKeysWithValues: box.disk.files!.paths.map { ($0, box.disk.files![$0]) })
    box.disk.faulty.setRule { $0.kind == .open ? .fail(.notPermitted) : nil }
    try box.launch()
    let result = await box.relay.restore()
    guard case .unavailable = result else {
      Issue.record("\(result)")
      return
    }
    #expect(box.relay.note(3).durability == .inMemory)
    for (path, bytes) in before where path.hasSuffix(".journal") {
      #expect(box.disk.files![path] == bytes)
    }
    #expect(problems("unavailable") == 1)
    let ledger = Ledger()
    box.disk.heal()
    #expect(await box.relay.restore() == .restored(2))
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
  }

  @Test func afterTheUnlockEverythingLiesOnDisk() async throws {
    try box.launch().note(1)
    box.kill()
    box.disk.faulty.setRule { $0.kind == .open ? .fail(.notPermitted) : nil }
    try box.launch()
    await box.relay.restore()
    box.relay.note(2)
    box.disk.heal()
    await box.relay.restore()
    #expect(try await box.left() == [1, 2])
  }

  @Test func aDiskThatHangsHoldsUpOneCallAtMost() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = ThreadLatch()
    box.disk.hang(.write) { latch.wait() }
    // One call hangs in its own write.
    let hanging = Task.detached { await besideMain { relay.note(1) } }
    while box.disk.faulty.log.last?.kind != .write { await Task.yield() }
    // The others go on: the first of them after a limited wait.
    let ledger = Ledger()
    for number in 2...20 { #expect(relay.note(number).durability == .inMemory) }
    relay.register(ledger, for: LedgerFeature.self)
    relay.cancel(tagged: "nothing")
    #expect(relay.pendingCount >= 19)
    #expect(problems("does not answer") >= 1)
    box.disk.heal()
    for _ in 0..<64 { latch.open() }
    _ = await hanging.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers.sorted() == Array(1...20))
    #expect(try await box.left() == [])
  }

  @Test func whatGoesBehindIsWrittenInOrderWhenTheDiskAnswers() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = ThreadLatch()
    box.disk.hang(.write) { latch.wait() }
    let hanging = Task.detached { await besideMain { relay.note(1) } }
    while box.disk.faulty.log.last?.kind != .write { await Task.yield() }
    let second = relay.note(2, tags: ["gone"])
    let third = relay.note(3)
    relay.cancel(tagged: "gone")
    box.disk.heal()
    for _ in 0..<64 { latch.open() }
    _ = await hanging.value
    #expect(await relay.waitUntilPersisted(third) == .survivesProcessDeath)
    _ = second
    #expect(try await box.left() == [1, 3])
  }

  @Test func afterTheStallLimitCommandsLiveInMemoryAndAreWrittenWhenTheDiskAnswers() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = ThreadLatch()
    box.disk.hang(.write) { latch.wait() }
    let hanging = Task.detached { await besideMain { relay.note(1) } }
    while box.disk.faulty.log.last?.kind != .write { await Task.yield() }
    relay.note(2)
    box.clock.advance(by: .seconds(10))
    #expect(problems("still does not answer") == 1)
    let third = relay.note(3)
    box.disk.heal()
    for _ in 0..<64 { latch.open() }
    _ = await hanging.value
    await relay.waitUntilPersisted(third)
    #expect(try await box.left() == [1, 2, 3])
  }

  @Test func startingUpDoesNotWaitForTheDisk() async throws {
    let relay = try box.launch()
    for number in 0..<100 { relay.note(number) }
    box.kill()
    let latch = ThreadLatch()
    box.disk.hang(.read) { latch.wait() }
    let next = try box.launch()
    let ledger = Ledger()
    next.register(ledger, for: LedgerFeature.self)
    #expect(next.pendingCount == 0)
    async let result = next.restore()
    await mainTurn()
    #expect(next.pendingCount == 0)
    box.disk.heal()
    for _ in 0..<1_000 { latch.open() }
    #expect(await result == .restored(100))
    await next.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<100))
  }

  @Test func filesTakenAwayFromOutsideAreWrittenAgain() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    relay.note(2)
    box.disk.files!.removeDirectory(box.path)
    relay.note(3)
    #expect(problems("were gone") == 1)
    #expect(try await box.left() == [1, 2, 3])
  }

  @Test func aNewerVersionsJournalIsLeftAlone() async throws {
    try box.launch().note(1)
    box.relay.close()
    let path = try #require(box.disk.files!.paths.first { $0.hasSuffix(".journal") })
    // The lowest version that may read the file, and the header's checksum.
    let bytes = JournalHeaderForgery.newer(try #require(box.disk.files![path]))
    box.disk.files![path] = bytes
    try box.launch()
    #expect(await box.relay.restore() == .newer)
    #expect(box.relay.note(2).durability == .inMemory)
    box.relay.close()
    #expect(box.disk.files![path] == bytes)
  }

  @Test func damageIsToldAndTheRestComesBack() async throws {
    let relay = try box.launch()
    for number in 0..<100 { relay.note(number) }
    relay.close()
    let path = try #require(box.disk.files!.paths.first { $0.hasSuffix(".journal") })
    var bytes = try #require(box.disk.files![path])
    bytes[bytes.count / 2] ^= 0x10
    box.disk.files![path] = bytes
    try box.launch()
    let result = await box.relay.restore()
    guard case .damaged(let salvaged, let lost) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(salvaged == 99)
    #expect(lost >= 1)
    // Told once, not by the opening and by the restoring each.
    #expect(problems("journal damaged") == 1)
  }
}
