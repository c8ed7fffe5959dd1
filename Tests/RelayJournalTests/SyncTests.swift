// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import RelayJournal

@Suite(.timeLimit(.minutes(5)))
struct SyncTests {
  @Test func whatIsSyncedSurvivesAPowerCutAndTheRestNeedNot() async throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(JournalFixture.entry(1, "A")))
    try await journal.sync()
    journal.append(.accepted(JournalFixture.entry(2, "B")))
    fixture.files.losePower()
    #expect(fixture.open().entries.map(\.text) == ["A"])
  }

  @Test func nothingNewNeedsNoCallToTheDisk() async throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    journal.append(.accepted(JournalFixture.entry(1, "A")))
    try await journal.sync()
    let before = faulty.count
    try await journal.sync()
    let kinds = Set(faulty.log.dropFirst(before).map(\.kind))
    #expect(
      kinds.isSubset(of: [.status, .statusOfPath]), "it only looks whether the file is there")
  }

  @Test func manyWaitersShareOneCall() async throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    let (hangs, latch) = (Latch(), ThreadLatch())
    faulty.setRule { operation in
      guard operation.kind == .sync else { return nil }
      faulty.clearRule()
      return .hang {
        hangs.open()
        latch.wait("the sync")
      }
    }
    journal.append(.accepted(JournalFixture.entry(1, "first")))
    let tally = Tally()
    let all = Latch()
    let done: @Sendable (JournalError?) -> Void = { error in
      #expect(error == nil)
      if tally.add() == 9 { all.open() }
    }
    journal.sync(done)
    await hangs.wait()
    for id in 2...9 as ClosedRange<UInt64> {
      #expect(journal.append(.accepted(JournalFixture.entry(id, "\(id)"))).isWritten)
      journal.sync(done)
    }
    #expect(tally.current == 0)
    latch.open()
    await all.wait()
    #expect(faulty.log.filter { $0.kind == .sync && $0.file.hasSuffix(".journal") }.count == 2)
    fixture.files.losePower()
    #expect(fixture.open().entries.count == 9)
  }

  @Test func aSyncWaitsForWhatWasPostedBefore() async throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    for id in 1...20 as ClosedRange<UInt64> {
      journal.post([.accepted(JournalFixture.entry(id, "\(id)"))])
    }
    try await journal.sync()
    fixture.files.losePower()
    #expect(fixture.open().entries.count == 20)
  }

  /// A journal whose syncs take 100 seconds by its clock, which nobody waits for.
  private func slowly(
    _ fixture: JournalFixture, _ faulty: FaultyFiles, gathers limit: Duration,
    onLook: @escaping @Sendable (Int) -> Void
  ) throws -> Journal {
    var options = fixture.options
    let looks = Tally()
    options.gatheringLimit = limit
    options.now = {
      let number = looks.add()
      onLook(number)
      // A sync looks when it gathers, when it begins and when it ends.
      return Int64(number / 3) * 100_000_000_000
    }
    return try #require(
      Journal.open(JournalFixture.path, fileSystem: faulty.fileSystem, options: options).journal)
  }

  private func syncs(_ faulty: FaultyFiles) -> Int {
    faulty.log.filter { $0.kind == .sync && $0.file.hasSuffix(".journal") }.count
  }

  @Test func aSyncWaitsForThoseWhoTookPartInTheLastOne() async throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let (gathers, both) = (Latch(), Latch())
    let first = Tally()
    let journal = try slowly(fixture, faulty, gathers: .seconds(60)) { look in
      if look == 4 { gathers.open() }
    }
    let (hangs, latch) = (Latch(), ThreadLatch())
    faulty.setRule { operation in
      guard operation.kind == .sync else { return nil }
      faulty.clearRule()
      return .hang {
        hangs.open()
        latch.wait("the sync")
      }
    }
    journal.append(.accepted(JournalFixture.entry(1, "one")))
    // When the first sync is over, one waits for the next already: two are expected.
    journal.sync { _ in }
    await hangs.wait()
    let done: @Sendable (JournalError?) -> Void = { error in
      #expect(error == nil)
      if first.add() == 2 { both.open() }
    }
    journal.append(.accepted(JournalFixture.entry(2, "two")))
    journal.sync(done)
    latch.open()
    await gathers.wait()
    #expect(syncs(faulty) == 1)
    journal.append(.accepted(JournalFixture.entry(3, "three")))
    journal.sync(done)
    await both.wait()
    #expect(syncs(faulty) == 2, "both were in one")
    fixture.files.losePower()
    #expect(fixture.open().entries.map(\.text) == ["one", "two", "three"])
  }

  @Test func aSyncDoesNotWaitForThoseWhoDoNotComeBack() async throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try slowly(fixture, faulty, gathers: .nanoseconds(1)) { _ in }
    for id in 1...20 as ClosedRange<UInt64> {
      journal.append(.accepted(JournalFixture.entry(id, "\(id)")))
      if id % 5 == 0 { journal.sync { _ in } }
      try await journal.sync()
    }
    fixture.files.losePower()
    #expect(fixture.open().entries.count == 20)
  }

  @Test func howLongASyncWaitsIsDecidedByTheLastOne() {
    var groups = SyncGroups(longestWait: 1_000)
    #expect(groups.wait(waiting: 0, at: 0) == 0, "nobody is expected at first")
    groups.ended(3, waiting: 2, began: 10_000, at: 10_600)
    #expect(groups.expected == 5)
    #expect(groups.wait(waiting: 4, at: 10_600) == 300, "half of what a sync takes")
    #expect(groups.wait(waiting: 4, at: 10_800) == 100)
    #expect(groups.wait(waiting: 5, at: 10_600) == 0, "all are there")
    #expect(groups.wait(waiting: 1, at: 10_900) == 0, "the time is over")
    groups.ended(1, waiting: 0, began: 0, at: 1_000_000)
    #expect(groups.wait(waiting: 0, at: 1_000_000) == 1_000, "and no longer than allowed")
    groups.ended(1, waiting: 0, began: 5, at: 0)
    #expect(groups.wait(waiting: 0, at: 0) == 0, "a clock that went back")
  }
}
