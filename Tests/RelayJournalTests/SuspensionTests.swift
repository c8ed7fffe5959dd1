// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

struct SuspensionTests {
  private func entry(_ id: UInt64, _ text: String) -> JournalEntry {
    JournalFixture.entry(id, text)
  }

  @Test func suspendingSyncsAndFreesTheLockBeforeItReturns() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(entry(1, "A")))
    try journal.suspend()
    #expect(journal.append(.acknowledged(1)).error?.code == .suspended)
    let synced = JournalFixture(fixture.files.copy())
    synced.files.losePower()
    #expect(synced.open().entries.map(\.text) == ["A"])
    let other = fixture.open()
    #expect(other.outcome == .recovered(entries: 1), "another process may own it now")
  }

  @Test func resumingWithNothingNewWritesNothing() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    journal.append(.accepted(entry(1, "A")))
    try journal.suspend()
    let before = faulty.count
    let resumption = journal.resume()
    #expect(resumption.outcome == .recovered(entries: 1))
    #expect(resumption.added.isEmpty && resumption.removed.isEmpty)
    let kinds = Set(faulty.log.dropFirst(before).map(\.kind))
    #expect(kinds.isDisjoint(with: [.write, .truncate, .rename, .remove, .sync, .syncDirectory]))
    #expect(journal.append(.acknowledged(1)).isWritten)
    #expect(fixture.reopened() == [])
  }

  @Test func resumingTellsWhatOthersHaveAddedAndEnded() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([.accepted(entry(1, "A")), .accepted(entry(2, "B"))])
    try journal.suspend()
    let other = try #require(fixture.open().journal)
    other.append([.acknowledged(1), .accepted(entry(7, "theirs"))])
    try other.compact()
    other.close()
    let resumption = journal.resume()
    #expect(resumption.outcome == .recovered(entries: 2))
    #expect(resumption.added.map(\.text) == ["theirs"])
    #expect(resumption.removed == [1])
    #expect(journal.makeIdentifier() == 8)
    #expect(journal.append(.acknowledged(2)).isWritten)
    #expect(fixture.reopened() == ["theirs"])
  }

  @Test func whileAnotherOwnsItResumingSaysSoAndMayBeTriedAgain() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    try journal.suspend()
    let other = try #require(fixture.open().journal)
    other.append(.accepted(entry(1, "theirs")))
    guard case .unavailable(.locked) = journal.resume().outcome else {
      Issue.record("two owners")
      return
    }
    #expect(journal.append(.barrier).error?.code == .suspended)
    other.close()
    #expect(journal.resume().added.map(\.text) == ["theirs"])
    #expect(journal.append(.acknowledged(1)).isWritten)
  }

  @Test func suspendingTwiceAndResumingTwiceIsHarmless() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(entry(1, "A")))
    try journal.suspend()
    try journal.suspend()
    #expect(journal.resume().outcome == .recovered(entries: 1))
    #expect(journal.resume().outcome == .recovered(entries: 1))
    #expect(journal.append(.acknowledged(1)).isWritten)
  }

  @Test func aSyncThatFailsIsReportedAndTheLockIsFreeAllTheSame() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    journal.append(.accepted(entry(1, "A")))
    faulty.setRule { $0.kind == .sync ? .fail(.inputOutput) : nil }
    #expect(throws: JournalError.self) { try journal.suspend() }
    #expect(fixture.open().outcome == .recovered(entries: 1))
  }
}
