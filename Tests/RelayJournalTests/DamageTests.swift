// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

struct DamageTests {
  /// A closed journal with so many entries, their texts, and where each record begins.
  private func filled(_ count: UInt64) throws -> (JournalFixture, [String], [Int]) {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    var texts: [String] = []
    var offsets: [Int] = []
    for id in 1...count {
      texts.append("payload \(id) of the journal")
      offsets.append(journal.statistics.bytes)
      journal.append(.accepted(JournalFixture.entry(id, texts.last!)))
    }
    journal.close()
    return (fixture, texts, offsets)
  }

  private func quarantined(_ fixture: JournalFixture) -> [String] {
    fixture.files.paths.filter { $0.contains("/quarantine/") }
  }

  @Test func oneFlippedBitInAPayloadLosesThatRecordOnly() throws {
    let (fixture, texts, offsets) = try filled(100)
    let bytes = try #require(fixture.files[fixture.recordsPath])
    fixture.files[fixture.recordsPath]![offsets[50] - 3] ^= 0x10
    let damaged = fixture.files[fixture.recordsPath]
    let opening = fixture.open()
    #expect(opening.outcome == .damaged(salvaged: 99, lost: 1))
    #expect(opening.entries.map(\.text) == texts.filter { $0 != texts[49] })
    #expect(quarantined(fixture).count == 1)
    #expect(fixture.files[quarantined(fixture)[0]] == damaged, "it is kept as it was")
    #expect(bytes != damaged)
    opening.journal?.close()
    let again = fixture.open()
    #expect(again.outcome == .recovered(entries: 99), "later starts do not see it again")
  }

  @Test func aFlippedBitInALengthLosesThatRecordOnly() throws {
    for bit in 0..<32 {
      let (fixture, texts, offsets) = try filled(100)
      fixture.files[fixture.recordsPath]![offsets[49] + bit / 8] ^= 1 << (bit % 8)
      let opening = fixture.open()
      #expect(opening.outcome == .damaged(salvaged: 99, lost: 1), "bit \(bit)")
      #expect(opening.entries.map(\.text) == texts.filter { $0 != texts[49] }, "bit \(bit)")
    }
  }

  @Test func zerosInTheMiddleLoseWhatTheyCover() throws {
    let (fixture, texts, offsets) = try filled(100)
    for position in offsets[20] + 5..<offsets[29] + 5 {
      fixture.files[fixture.recordsPath]![position] = 0
    }
    let opening = fixture.open()
    #expect(opening.outcome == .damaged(salvaged: 90, lost: 10))
    #expect(opening.entries.map(\.text) == Array(texts[..<20] + texts[30...]))
  }

  @Test func aDamagedHeaderLosesNoRecord() throws {
    for position in 0..<64 {
      let (fixture, texts, _) = try filled(5)
      fixture.files[fixture.recordsPath]![position] ^= 0xFF
      let opening = fixture.open()
      #expect(opening.outcome == .damaged(salvaged: 5, lost: 0), "byte \(position)")
      #expect(opening.entries.map(\.text) == texts)
    }
  }

  @Test func aMissingPieceIsCounted() throws {
    let (fixture, texts, offsets) = try filled(100)
    fixture.files[fixture.recordsPath]!.removeSubrange(offsets[10]..<offsets[13])
    let opening = fixture.open()
    #expect(opening.outcome == .damaged(salvaged: 97, lost: 3))
    #expect(opening.entries.map(\.text) == Array(texts[..<10] + texts[13...]))
  }

  @Test func aPieceThatStandsTwiceOrElsewhereChangesNothing() throws {
    let (fixture, texts, offsets) = try filled(100)
    let bytes = try #require(fixture.files[fixture.recordsPath])
    fixture.files[fixture.recordsPath]!.insert(
      contentsOf: bytes[offsets[60]..<offsets[70]], at: offsets[10])
    let opening = fixture.open()
    #expect(opening.entries.map(\.text) == texts)
  }

  @Test func anotherFilesRecordsAreNotTaken() throws {
    let (fixture, texts, offsets) = try filled(10)
    let (other, _, _) = try filled(20)
    let foreign = try #require(other.files[other.recordsPath])[offsets[5]...]
    fixture.files[fixture.recordsPath]!.replaceSubrange(offsets[5]..., with: foreign)
    let opening = fixture.open()
    #expect(opening.outcome == .damaged(salvaged: 5, lost: 1))
    #expect(opening.entries.map(\.text) == Array(texts[..<5]))
  }

  @Test func aForeignFileUnderOurNameIsPutAside() throws {
    let (fixture, _, _) = try filled(3)
    fixture.files[fixture.recordsPath] = Array("SQLite format 3, or whatever it is".utf8)
    let opening = fixture.open()
    #expect(opening.outcome == .damaged(salvaged: 0, lost: 1))
    #expect(quarantined(fixture).count == 1)
    opening.journal?.append(.accepted(JournalFixture.entry(1, "A")))
    #expect(fixture.reopened() == ["A"])
  }

  @Test func aDamagedFirstFileDoesNotStopTheSecond() throws {
    let (fixture, _, offsets) = try filled(10)
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    faulty.setRule { $0.kind == .write || $0.kind == .truncate ? .fail(.inputOutput) : nil }
    journal.append(.barrier)
    faulty.clearRule()
    journal.append(.accepted(JournalFixture.entry(11, "in the second")))
    journal.close()
    let paths = fixture.files.paths.filter { $0.hasSuffix(".journal") }
    #expect(paths.count == 2)
    fixture.files[paths[0]]![offsets[4] + 20] ^= 1
    let opening = fixture.open()
    #expect(opening.outcome == .damaged(salvaged: 10, lost: 1))
    #expect(opening.entries.last?.text == "in the second")
    #expect(quarantined(fixture).count == 1)
  }

  @Test func onlySoManyDamagedFilesAreKept() throws {
    var fixture = JournalFixture()
    fixture.options.quarantineLimit = 2
    for round in 1...5 as ClosedRange<UInt64> {
      let journal = try #require(fixture.open().journal)
      journal.append(.accepted(JournalFixture.entry(round, "round \(round)")))
      journal.close()
      let path = try #require(fixture.files.paths.last { $0.hasSuffix(".journal") })
      fixture.files[path]![fixture.files[path]!.count - 1] ^= 1
      guard case .damaged = fixture.open().outcome else {
        Issue.record("round \(round)")
        return
      }
      fixture.files.closeAll()
      #expect(quarantined(fixture).count == min(Int(round), 2))
    }
  }

  @Test func withoutSpaceForWhatIsSavedADamagedFileStaysWhereItIs() throws {
    let (fixture, texts, offsets) = try filled(10)
    fixture.files[fixture.recordsPath]![offsets[4] + 20] ^= 1
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    faulty.setRule { $0.kind == .write ? .fail(.noSpace) : nil }
    let opening = fixture.open(faulty.fileSystem)
    #expect(opening.outcome == .damaged(salvaged: 9, lost: 1))
    #expect(quarantined(fixture).isEmpty)
    fixture.files.closeAll()
    let again = fixture.open()
    #expect(again.outcome == .damaged(salvaged: 9, lost: 1))
    #expect(again.entries.map(\.text) == texts.filter { $0 != texts[4] })
    #expect(quarantined(fixture).count == 1)
  }

  @Test func leftoversOfADeadProcessAreSweptAndOthersFilesAreNot() throws {
    let fixture = JournalFixture()
    try #require(fixture.open().journal).close()
    let new = JournalFixture.path + "/00000009-0000abcd.journal.new"
    let other = JournalFixture.path + "/notes.journal.new"
    fixture.files[new] = [1, 2, 3]
    fixture.files[other] = [1]
    _ = fixture.open()
    #expect(fixture.files[new] == nil)
    #expect(fixture.files[other] == [1])
  }
}
