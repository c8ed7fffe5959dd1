// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

struct AppendFailureTests {
  private func entry(_ id: UInt64, _ text: String) -> JournalEntry {
    JournalFixture.entry(id, text)
  }

  /// A journal with A in it whose next write fails after so many bytes.
  private func failing(
    _ fixture: JournalFixture, afterBytes: Int, alsoFailing: FaultyFiles.Operation.Kind? = nil
  ) throws -> (Journal, FaultyFiles) {
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    journal.append(.accepted(entry(1, "A")))
    faulty.setRule { operation in
      if operation.kind == .write {
        return .fail(.noSpace, errno: 28, afterBytes: afterBytes)
      }
      return operation.kind == alsoFailing ? .fail(.inputOutput, errno: 5) : nil
    }
    return (journal, faulty)
  }

  @Test func aFailedAppendIsRolledBackToTheLastGoodEnd() throws {
    let fixture = JournalFixture()
    let (journal, faulty) = try failing(fixture, afterBytes: 7)
    let good = fixture.files[fixture.recordsPath]
    let error = journal.append(.accepted(entry(2, "B"))).error
    #expect(error?.code == .noSpace)
    #expect(error?.operation == "write")
    #expect(error?.file == fixture.recordsPath.split(separator: "/").last.map(String.init))
    #expect(error?.errno == 28)
    #expect(fixture.files[fixture.recordsPath] == good)
    faulty.clearRule()
    #expect(journal.append(.accepted(entry(3, "C"))).isWritten)
    #expect(fixture.reopened() == ["A", "C"])
  }

  @Test(arguments: [0, 1, 7, 16, 40, 1_000])
  func ifItCannotBeCutBackANewFileIsBegunAndTheFailedRecordNeverComesBack(bytes: Int) throws {
    let fixture = JournalFixture()
    let (journal, faulty) = try failing(fixture, afterBytes: bytes, alsoFailing: .truncate)
    #expect(journal.append(.accepted(entry(2, "B"))).error?.code == .noSpace)
    #expect(journal.append(.acknowledged(1)).error?.code == .noSpace)
    faulty.clearRule()
    #expect(journal.append(.accepted(entry(3, "C"))).isWritten)
    #expect(journal.statistics.files == 2)
    fixture.files.closeAll()
    let opening = fixture.open()
    #expect(opening.outcome == .recovered(entries: 2))
    #expect(opening.entries.map(\.text) == ["A", "C"])
    let again = try #require(opening.journal)
    try again.compact()
    #expect(fixture.reopened() == ["A", "C"])
  }

  @Test func shortWritesAreContinued() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    faulty.setRule { $0.kind == .write ? .short(bytes: 3) : nil }
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    #expect(journal.append(.accepted(entry(1, "A"))).isWritten)
    #expect(fixture.reopened() == ["A"])
  }

  @Test(arguments: [JournalError.Code.noSpace, .inputOutput, .notPermitted])
  func aThousandFailedAppendsAreAThousandErrorsAndNothingElse(code: JournalError.Code) throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    faulty.setRule { $0.kind == .write ? .fail(code, errno: 1, afterBytes: 20) : nil }
    for id in 1...1_000 as ClosedRange<UInt64> {
      #expect(journal.append(.acceptedAndStarted(entry(id, "x"))).error?.code == code)
    }
    faulty.clearRule()
    #expect(journal.append(.accepted(entry(1, "at last"))).isWritten)
    #expect(fixture.reopened() == ["at last"])
  }

  @Test func aJournalOpensOnAFullDiskAndWritesWhenThereIsSpace() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    faulty.setRule { operation in
      operation.kind == .write && operation.file.hasSuffix(".journal") ? .fail(.noSpace) : nil
    }
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    #expect(journal.append(.accepted(entry(1, "A"))).error?.code == .noSpace)
    faulty.clearRule()
    #expect(journal.append(.accepted(entry(1, "A"))).isWritten)
    #expect(fixture.reopened() == ["A"])
  }

  @Test func aFailedSyncIsReportedAndTheNextOneWritesEverythingAnew() async throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    journal.append(.accepted(entry(1, "A")))
    faulty.setRule { $0.kind == .sync ? .fail(.inputOutput, errno: 5) : nil }
    await #expect(throws: JournalError.self) { try await journal.sync() }
    faulty.clearRule()
    let before = fixture.files.paths
    try await journal.sync()
    #expect(fixture.files.paths != before, "what the system may have forgotten is written again")
    fixture.files.losePower()
    #expect(fixture.open().entries.map(\.text) == ["A"])
  }
}
