// SPDX-License-Identifier: MIT

import Testing

@testable import RelayJournal

struct RecoveredEntriesTests {
  /// More than two mebibytes of entries of all kinds, of which a third has ended, and a second file.
  private func filled() throws -> (JournalFixture, [RecoveredEntry]) {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    var expected: [RecoveredEntry] = []
    for id in 1...400 as ClosedRange<UInt64> {
      var entry = JournalFixture.entry(
        id, "\(id) " + String(repeating: "x", count: Int(id) * 37), name: "name \(id % 5)",
        group: "group \(id % 3)")
      if id % 7 == 0 { entry.labels = ["user-\(id)"] }
      if id % 11 == 0 { entry.timeToLive = id << 30 }
      if id % 2 == 0 { entry.payloadVersion = UInt32(id % 5) }
      if id % 17 == 0 { entry.key = JournalKey(bytes: [1, 2], rule: [3]) }
      if id % 4 == 0 {
        journal.append(.acceptedAndStarted(entry))
      } else {
        journal.append(.accepted(entry))
      }
      var recovered = RecoveredEntry(entry: entry)
      if id % 4 == 0 {
        recovered = RecoveredEntry(
          entry: entry, attempts: 1, unfinishedAttempts: 1, wasStarted: true)
      }
      if id % 3 == 0 {
        journal.append(.acknowledged(id))
      } else {
        expected.append(recovered)
      }
    }
    journal.close()
    return (fixture, expected)
  }

  private func check(_ recovered: RecoveredEntries, _ expected: [RecoveredEntry]) {
    #expect(recovered.count == expected.count)
    #expect(recovered.takenApart == expected)
    #expect(recovered.map { $0 } == expected)
    #expect(recovered.indices.map { recovered[$0] } == expected)
  }

  @Test func entriesInSeveralPiecesComeBackAsTheyWere() throws {
    let (fixture, expected) = try filled()
    let opening = fixture.open()
    #expect(opening.outcome == .recovered(entries: expected.count))
    check(opening.recovered, expected)
  }

  @Test func ofAFileThatClaimsToBeHugeOnlyALittleIsBelieved() {
    #expect(RecordReplay.room(after: 1 << 20, of: 4 << 20) == 4.2)
    #expect(RecordReplay.room(after: 1 << 20, of: 1 << 20) < 1.1)
    #expect(RecordReplay.room(after: 1 << 20, of: 8 << 40) == 16)
    #expect(RecordReplay.room(after: 0, of: .max) == 16)
  }

  @Test func entriesThatWereMovedOrDiedComeBackInTheirNewOrder() throws {
    let (fixture, expected) = try filled()
    let journal = try #require(fixture.open().journal)
    let death = JournalDeath(reason: 3, detail: "tired", at: 7)
    journal.append(.dead(2, death))
    journal.append(.failed(1, place: JournalPlace(run: 2, sequence: 5)))
    journal.close()
    let opening = fixture.open()
    var moved = expected[0]
    moved.entry.place = JournalPlace(run: 2, sequence: 5)
    var dead = expected[1]
    dead.death = death
    check(opening.recovered, [dead] + expected[2...] + [moved])
    opening.journal?.close()
  }

  @Test func recordsOutOfOrderAndAWriteThatCouldNotBeTakenAwayAreBothSeenThrough() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    var last = 0
    for id in 1...6 as ClosedRange<UInt64> {
      last = journal.statistics.bytes
      journal.append(.accepted(JournalFixture.entry(id, "entry \(id)")))
    }
    let end = journal.statistics.bytes
    // A barrier that was written and yet failed: a later file says that it does not count.
    faulty.setRule {
      $0.kind == .write || $0.kind == .truncate ? .fail(.inputOutput, afterBytes: 1_000) : nil
    }
    journal.append(.barrier)
    faulty.clearRule()
    journal.append(.accepted(JournalFixture.entry(7, "entry 7")))
    journal.close()
    let path = try #require(fixture.files.paths.first { $0.hasSuffix(".journal") })
    #expect((fixture.files[path]?.count ?? 0) > end, "the barrier is in the file")
    let texts = (1...7).map { "entry \($0)" }
    #expect(fixture.reopened() == texts)
    // The last record stands before the first one as well.
    let record = try #require(fixture.files[path])[last..<end]
    fixture.files[path]!.insert(contentsOf: record, at: JournalFormat.headerSize)
    let opening = fixture.open()
    #expect(opening.entries.map(\.text) == texts)
  }
}
