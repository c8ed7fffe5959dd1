// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

struct TornTailTests {
  @Test func aRecordCutAtAnyByteIsGoneAndWhatFollowsIsSafe() async throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let entries = ["A", "B", "C"].enumerated().map {
      JournalFixture.entry(UInt64($0.offset + 1), $0.element)
    }
    journal.append([.accepted(entries[0]), .accepted(entries[1])])
    let end = try #require(fixture.files[fixture.recordsPath]).count
    journal.append(.accepted(entries[2]))
    journal.close()
    let whole = try #require(fixture.files[fixture.recordsPath])
    for cut in end..<whole.count {
      let torn = JournalFixture(fixture.files.copy())
      torn.files[torn.recordsPath] = Array(whole[..<cut])
      let opening = torn.open()
      #expect(opening.outcome == .recovered(entries: 2), "cut at \(cut)")
      #expect(opening.entries.map(\.text) == ["A", "B"], "cut at \(cut)")
      let journal = try #require(opening.journal)
      journal.append(.accepted(JournalFixture.entry(4, "D")))
      try await journal.sync()
      torn.files.losePower()
      #expect(torn.open().entries.map(\.text) == ["A", "B", "D"], "cut at \(cut)")
    }
  }

  @Test func aFileThatDiedInItsHeaderIsEmptyAndUsable() throws {
    let fixture = JournalFixture()
    try #require(fixture.open().journal).close()
    let header = try #require(fixture.files[fixture.recordsPath])
    #expect(header.count == 64)
    for cut in 0..<header.count {
      let torn = JournalFixture(fixture.files.copy())
      torn.files[torn.recordsPath] = Array(header[..<cut])
      let opening = torn.open()
      #expect(opening.outcome == .empty, "\(cut) bytes of a header")
      opening.journal?.append(.accepted(JournalFixture.entry(1, "A")))
      #expect(torn.reopened() == ["A"], "\(cut) bytes of a header")
      #expect(torn.files.paths.filter { $0.contains("quarantine") }.isEmpty)
    }
  }

  @Test(arguments: [1, 16, 63, 64, 65, 4_096, 3_000_000])
  func zerosAtTheEndAreCutOff(count: Int) throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(JournalFixture.entry(1, "A")))
    journal.close()
    fixture.files[fixture.recordsPath]! += [UInt8](repeating: 0, count: count)
    let opening = fixture.open()
    #expect(opening.outcome == .recovered(entries: 1))
    opening.journal?.append(.accepted(JournalFixture.entry(2, "B")))
    #expect(fixture.reopened() == ["A", "B"])
    #expect(fixture.files[fixture.recordsPath]!.count < 400)
  }

  @Test(arguments: [0, 1, 64, 100_000])
  func aFileOfZerosIsEmpty(count: Int) throws {
    let fixture = JournalFixture()
    try #require(fixture.open().journal).close()
    fixture.files[fixture.recordsPath] = [UInt8](repeating: 0, count: count)
    let opening = fixture.open()
    #expect(opening.outcome == .empty)
    opening.journal?.append(.accepted(JournalFixture.entry(1, "A")))
    #expect(fixture.reopened() == ["A"])
  }
}
