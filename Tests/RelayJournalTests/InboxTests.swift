// SPDX-License-Identifier: MIT

import RaceSupport
import RelayJournal
import Testing

struct InboxTests {
  private func inbox(_ fixture: JournalFixture, _ fileSystem: FileSystem? = nil) -> JournalInbox {
    JournalInbox(
      JournalFixture.path, fileSystem: fileSystem ?? fixture.files.fileSystem,
      options: fixture.options)
  }

  private func adopt(_ journal: Journal) throws -> JournalAdoption {
    let sequence = Tally()
    return try journal.adoptInboxes {
      JournalPlace(run: 5, sequence: UInt64(sequence.add()))
    }
  }

  private func inboxes(_ fixture: JournalFixture) -> [String] {
    fixture.files.paths.filter { $0.hasSuffix(".inbox") }
  }

  @Test func theOwnerTakesOverWhatAnotherProcessHasLeftOnce() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(JournalFixture.entry(journal.makeIdentifier(), "mine")))
    let before = fixture.files[fixture.recordsPath]
    let inbox = inbox(fixture)
    for id in 1...3 as ClosedRange<UInt64> {
      try inbox.append(JournalFixture.entry(id, "theirs \(id)"))
    }
    #expect(fixture.files[fixture.recordsPath] == before, "not a byte in the owner's file")
    let adoption = try adopt(journal)
    #expect(adoption.entries.map(\.text) == ["theirs 1", "theirs 2", "theirs 3"])
    #expect(adoption.entries.map(\.entry.id) == [2, 3, 4])
    #expect(adoption.entries.map(\.entry.place.run) == [5, 5, 5])
    #expect(inboxes(fixture).isEmpty)
    #expect(try adopt(journal).entries.isEmpty)
    #expect(fixture.reopened() == ["mine", "theirs 1", "theirs 2", "theirs 3"])
  }

  @Test func theOtherProcessGoesOnInANewInbox() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let inbox = inbox(fixture)
    try inbox.append(JournalFixture.entry(1, "one"))
    #expect(try adopt(journal).entries.map(\.text) == ["one"])
    try inbox.append(JournalFixture.entry(2, "two"))
    try inbox.append(JournalFixture.entry(3, "three"))
    #expect(try adopt(journal).entries.map(\.text) == ["two", "three"])
    #expect(fixture.reopened() == ["one", "two", "three"])
  }

  @Test func killedAnywhereInAnAdoptionEachEntryIsThereOnce() throws {
    var number = 1
    while true {
      let fixture = JournalFixture()
      let faulty = FaultyFiles(over: fixture.files.fileSystem)
      let journal = try #require(fixture.open(faulty.fileSystem).journal)
      let inbox = inbox(fixture)
      try inbox.append(JournalFixture.entry(1, "one"))
      try inbox.append(JournalFixture.entry(2, "two"))
      inbox.close()
      let start = faulty.count
      let killed = start + number
      faulty.setRule { operation in
        operation.number == killed ? .die(afterBytes: killed % 200) : nil
      }
      _ = try? adopt(journal)
      if !faulty.isDead { break }
      // The same again, with the next operation of the adoption after the restart.
      fixture.files.closeAll()
      let again = try #require(fixture.open().journal)
      _ = try adopt(again)
      #expect(inboxes(fixture).isEmpty, "killed at \(faulty.log[killed - 1])")
      again.append(.acknowledged(0))
      again.close()
      let texts = fixture.open().entries.map(\.text).sorted()
      #expect(texts == ["one", "two"], "killed at \(faulty.log[killed - 1])")
      number += 1
    }
    #expect(number > 10)
  }

  @Test func anInboxThatIsBeingWrittenIsLeftForTheNextTime() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let inbox = inbox(fixture, faulty.fileSystem)
    try inbox.append(JournalFixture.entry(1, "one"))
    faulty.setRule { operation in
      guard operation.kind == .write else { return nil }
      return .hang {
        let adoption = try? adopt(journal)
        #expect(adoption?.entries.isEmpty == true)
        #expect(adoption?.left.map(\.code) == [.locked])
      }
    }
    try inbox.append(JournalFixture.entry(2, "two"))
    #expect(try adopt(journal).entries.map(\.text) == ["one", "two"])
  }

  @Test func aFailedAppendLeavesNothingInTheInbox() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let inbox = inbox(fixture, faulty.fileSystem)
    try inbox.append(JournalFixture.entry(1, "one"))
    for alsoTruncate in [false, true] {
      faulty.setRule { operation in
        switch operation.kind {
        case .write: .fail(.noSpace, errno: 28, afterBytes: 20)
        case .truncate where alsoTruncate: .fail(.inputOutput)
        default: nil
        }
      }
      #expect(throws: JournalError.self) {
        try inbox.append(JournalFixture.entry(2, "lost"))
      }
    }
    faulty.clearRule()
    try inbox.append(JournalFixture.entry(3, "three"))
    #expect(try adopt(journal).entries.map(\.text).sorted() == ["one", "three"])
  }

  @Test func aDamagedInboxIsSavedAsFarAsItCanBeRead() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let inbox = inbox(fixture)
    for id in 1...3 as ClosedRange<UInt64> {
      try inbox.append(JournalFixture.entry(id, "theirs \(id)"))
    }
    inbox.close()
    let path = inboxes(fixture)[0]
    fixture.files[path]![fixture.files[path]!.count - 1] ^= 1
    let adoption = try adopt(journal)
    #expect(adoption.entries.map(\.text) == ["theirs 1", "theirs 2"])
    #expect(adoption.lost == 1)
    #expect(fixture.files.paths.filter { $0.contains("/quarantine/") }.count == 1)
  }

  @Test func inboxesWithoutAnOwnerWaitForOne() throws {
    let fixture = JournalFixture()
    try #require(fixture.open().journal).close()
    let inbox = inbox(fixture)
    try inbox.append(JournalFixture.entry(1, "one"))
    try inbox.sync()
    fixture.files.losePower()
    let journal = try #require(fixture.open().journal)
    #expect(try adopt(journal).entries.map(\.text) == ["one"])
    #expect(journal.append(.acknowledged(1)).isWritten)
    #expect(fixture.reopened() == [])
  }

  @Test func aClosedInboxSaysSo() throws {
    let fixture = JournalFixture()
    let inbox = inbox(fixture)
    inbox.close()
    #expect(throws: JournalError.self) { try inbox.append(JournalFixture.entry(1, "one")) }
  }
}
