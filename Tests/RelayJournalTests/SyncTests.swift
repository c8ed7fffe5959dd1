// SPDX-License-Identifier: MIT

import RaceSupport
import RelayJournal
import Testing

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
}
