// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

struct JournalTests {
  private func entry(_ id: UInt64, _ text: String) -> JournalEntry {
    JournalFixture.entry(id, text)
  }

  @Test func aNewDirectoryIsEmptyAndWhatIsAppendedIsThereAfterARestart() throws {
    let fixture = JournalFixture()
    let opening = fixture.open()
    #expect(opening.outcome == .empty)
    let journal = try #require(opening.journal)
    #expect(journal.append(.accepted(entry(1, "A"))).isWritten)
    #expect(journal.append(.accepted(entry(2, "B"))).isWritten)
    journal.append(.acknowledged(1))
    #expect(journal.statistics.live == 1)
    journal.close()
    let again = fixture.open()
    #expect(again.outcome == .recovered(entries: 1))
    #expect(again.entries.map(\.text) == ["B"])
  }

  @Test func everyFieldOfAnEntryComesBack() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    var full = entry(7, "payload")
    full.priority = 3
    full.labels = ["user-42", "ünïcode", ""]
    full.key = JournalKey(bytes: [1, 2, 0, 255], rule: [9])
    full.acceptedAt = -5
    full.timeToLive = 90_000
    full.payloadVersion = 12
    full.place = JournalPlace(run: 3, sequence: .max)
    journal.append(.accepted(full))
    var bare = entry(.max - 1, "")
    bare.name = ""
    bare.group = ""
    journal.append(.acceptedAndStarted(bare))
    journal.close()
    let entries = fixture.open().entries
    #expect(entries.map(\.entry) == [bare, full])
    #expect(entries.map(\.attempts) == [1, 0])
    #expect(entries.map(\.wasStarted) == [true, false])
  }

  @Test func oneAppendIsOneWriteAndNothingElse() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    let before = faulty.count
    journal.append(.acceptedAndStarted(entry(1, "A")))
    journal.append([.accepted(entry(2, "B")), .ended(1, reason: 4), .started(2, attempt: 1)])
    #expect(faulty.log.dropFirst(before).map(\.kind) == [.write, .write])
  }

  @Test func aWaitingEntryTakesAtMost64BytesBesidesItsPayload() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let before = journal.statistics.bytes
    for id in 1...10_000 { journal.append(.accepted(entry(UInt64(id), "12345678"))) }
    let each = Double(journal.statistics.bytes - before) / 10_000 - 8
    #expect(each <= 64, "\(each) bytes")
  }

  @Test func attemptsCountAsTheyStartEndAndAreInterrupted() throws {
    let fixture = JournalFixture()
    var journal = try #require(fixture.open().journal)
    journal.append((1...4).map { .accepted(entry($0, "\($0)")) })
    journal.append(.started(1, attempt: 1))
    journal.append([.started(2, attempt: 1), .interrupted(2)])
    journal.append([.started(3, attempt: 1), .failed(3, place: nil), .started(3, attempt: 2)])
    fixture.files.closeAll()
    for _ in 0..<2 {
      let opening = fixture.open()
      #expect(opening.entries.map(\.attempts) == [1, 0, 2, 0])
      #expect(opening.entries.map(\.unfinishedAttempts) == [1, 0, 1, 0])
      #expect(opening.entries.map(\.wasStarted) == [true, true, true, false])
      journal = try #require(opening.journal)
      try journal.compact()
      journal.close()
    }
  }

  @Test func aFailedAttemptCanMoveItsEntryToAnotherPlace() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([.accepted(entry(1, "A")), .accepted(entry(2, "B"))])
    journal.append(.failed(1, place: JournalPlace(run: 1, sequence: 3)))
    #expect(fixture.reopened() == ["B", "A"])
    let again = try #require(fixture.open().journal)
    try again.compact()
    #expect(fixture.reopened() == ["B", "A"])
  }

  @Test func deadLettersStayAndCanBeRevived() throws {
    let fixture = JournalFixture()
    let death = JournalDeath(reason: 2, detail: "attempts", at: 1_000)
    var journal = try #require(fixture.open().journal)
    journal.append([.acceptedAndStarted(entry(1, "A")), .dead(1, death), .accepted(entry(2, "B"))])
    #expect(journal.statistics.dead == 1)
    try journal.compact()
    journal.close()
    let opening = fixture.open()
    #expect(opening.entries.map(\.death) == [death, nil])
    journal = try #require(opening.journal)
    journal.append(.revived(1))
    journal.close()
    let entries = fixture.open().entries
    #expect(entries.map(\.death) == [nil, nil])
    #expect(entries[0].attempts == 0)
  }

  @Test func aLongDetailIsCutAndNothingElse() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([
      .accepted(entry(1, "A")),
      .dead(1, JournalDeath(reason: 1, detail: String(repeating: "x", count: 10_000), at: 5)),
    ])
    journal.close()
    #expect(fixture.open().entries.first?.death?.detail.utf8.count == 256)
  }

  @Test func anEntryThatReplacesAnotherEndsItInTheSameRecord() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(entry(1, "old")))
    var new = entry(2, "new")
    new.replaces = 1
    new.place = JournalPlace(run: 1, sequence: 1)
    journal.append(.accepted(new))
    #expect(journal.statistics.live == 1)
    #expect(fixture.reopened() == ["new"])
  }

  @Test func aBarrierEndsEverythingBeforeItAndNothingAfter() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([
      .accepted(entry(1, "A")), .dead(1, JournalDeath(reason: 0, at: 0)), .accepted(entry(2, "B")),
      .barrier, .accepted(entry(3, "C")),
    ])
    #expect(journal.statistics == fixture.statistics(journal, live: 1, dead: 0))
    #expect(fixture.reopened() == ["C"])
  }

  @Test func theSameIdAgainTakesThePlaceOfTheFirst() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([.accepted(entry(1, "A")), .accepted(entry(1, "A again"))])
    #expect(fixture.reopened() == ["A again"])
  }

  @Test func identifiersAndRunsGoOnAfterARestartAlsoWhenNothingIsLeft() throws {
    let fixture = JournalFixture()
    var journal = try #require(fixture.open().journal)
    #expect(journal.run == 1)
    #expect(journal.makeIdentifier() == 1)
    var entry = entry(journal.makeIdentifier(), "A")
    entry.place = JournalPlace(run: journal.run, sequence: 1)
    journal.append([.accepted(entry), .acknowledged(entry.id)])
    try journal.compact()
    journal.close()
    journal = try #require(fixture.open().journal)
    #expect(journal.run == 2)
    #expect(journal.makeIdentifier() == 3)
  }

  @Test func manyNamesInManyBlocksComeBack() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let padding = String(repeating: "p", count: 700)
    for id in 1...1_000 as ClosedRange<UInt64> {
      let entry = JournalFixture.entry(
        id, padding, name: "command-\(id % 37)", group: "Feature\(id % 11)")
      journal.append(.accepted(entry))
    }
    journal.close()
    let entries = fixture.open().entries
    #expect(entries.map(\.entry.name) == (1...1_000).map { "command-\($0 % 37)" })
    #expect(entries.map(\.entry.group) == (1...1_000).map { "Feature\($0 % 11)" })
  }

  @Test func afterCloseEverythingSaysSo() async throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.close()
    #expect(journal.append(.barrier).error?.code == .closed)
    #expect(throws: JournalError.self) { try journal.compact() }
    await #expect(throws: JournalError.self) { try await journal.sync() }
    journal.close()
  }

  @Test func eraseRemovesTheDirectoryAndLeavesWhatIsNotTheJournals() throws {
    let fixture = JournalFixture()
    var journal = try #require(fixture.open().journal)
    journal.append(.accepted(entry(1, "A")))
    try journal.erase()
    #expect(fixture.files.paths.isEmpty)
    journal = try #require(fixture.open().journal)
    fixture.files[JournalFixture.path + "/notes.txt"] = [1]
    try journal.erase()
    #expect(fixture.files.paths == [JournalFixture.path + "/notes.txt"])
  }

  @Test func whatIsTooLargeIsRefusedAndLeavesNothing() throws {
    var fixture = JournalFixture()
    fixture.options.payloadLimit = 100
    fixture.options.sizeLimit = 400
    let journal = try #require(fixture.open().journal)
    let long = String(repeating: "x", count: 101)
    #expect(journal.append(.accepted(entry(1, long))).error?.code == .tooLarge)
    #expect(journal.append(.accepted(entry(2, "A"))).isWritten)
    let some = String(repeating: "x", count: 100)
    #expect(journal.append(.accepted(entry(3, some))).isWritten)
    #expect(journal.append(.accepted(entry(4, some))).error?.code == .full)
    #expect(journal.append(.acknowledged(3)).isWritten, "what ends something is always written")
    #expect(fixture.reopened() == ["A"])
  }

  @Test func memoryAndDiskBehaveTheSame() throws {
    try withTemporaryDirectory { path in
      let journal = try #require(Journal.open(path + "/a/b").journal)
      journal.append([.accepted(entry(1, "A")), .accepted(entry(2, "B")), .acknowledged(1)])
      try journal.compact()
      let second = Journal.open(path + "/a/b")
      guard case .unavailable(.locked(let process)) = second.outcome else {
        Issue.record("\(second.outcome)")
        return
      }
      #expect(process != nil)
      journal.close()
      let again = Journal.open(path + "/a/b")
      #expect(again.entries.map(\.text) == ["B"])
      try again.journal?.erase()
    }
  }
}

extension JournalFixture {
  func statistics(_ journal: Journal, live: Int, dead: Int) -> JournalStatistics {
    var statistics = journal.statistics
    statistics.live = live
    statistics.dead = dead
    return statistics
  }
}
