// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

/// Files that are taken away from outside while they are in use.
struct PlaceTests {
  private func open(_ interval: Duration) throws -> (JournalFixture, Journal) {
    var fixture = JournalFixture()
    fixture.options.placeCheckInterval = interval
    let journal = try #require(fixture.open().journal)
    journal.append([
      .accepted(JournalFixture.entry(1, "A")), .acceptedAndStarted(JournalFixture.entry(2, "B")),
      .accepted(JournalFixture.entry(3, "C")), .acknowledged(3),
    ])
    return (fixture, journal)
  }

  @Test func aRemovedDirectoryIsNoticedAndWrittenAgainWithEverythingInIt() throws {
    let (fixture, journal) = try open(.zero)
    fixture.files.removeDirectory(JournalFixture.path)
    #expect(fixture.files.paths.isEmpty)
    #expect(journal.append(.accepted(JournalFixture.entry(4, "D"))).isWritten)
    #expect(fixture.reopened() == ["A", "B", "D"])
    #expect(fixture.open().entries[1].attempts == 1)
  }

  @Test func aRemovedFileIsNoticedToo() throws {
    let (fixture, journal) = try open(.zero)
    fixture.files[fixture.recordsPath] = nil
    #expect(journal.append(.accepted(JournalFixture.entry(4, "D"))).isWritten)
    #expect(fixture.reopened() == ["A", "B", "D"])
  }

  @Test func anAppendBetweenTwoLooksIsNotLost() throws {
    let (fixture, journal) = try open(.seconds(3_600))
    fixture.files.removeDirectory(JournalFixture.path)
    #expect(journal.append(.accepted(JournalFixture.entry(4, "D"))).isWritten)
    #expect(fixture.files.paths.isEmpty, "nobody has looked yet")
    try journal.checkPlace()
    #expect(fixture.reopened() == ["A", "B", "D"])
  }

  @Test func aPlaceThatAnotherOwnerHasTakenIsNotFoughtOver() throws {
    let (fixture, journal) = try open(.zero)
    fixture.files.removeDirectory(JournalFixture.path)
    let other = try #require(fixture.open().journal)
    #expect(journal.append(.accepted(JournalFixture.entry(4, "D"))).error?.code == .locked)
    other.append(.accepted(JournalFixture.entry(1, "theirs")))
    #expect(fixture.reopened() == ["theirs"])
  }

  @Test func theRealDiskNoticesAsWell() throws {
    try withTemporaryDirectory { path in
      var options = JournalOptions()
      options.placeCheckInterval = .zero
      let journal = try #require(Journal.open(path + "/j", options: options).journal)
      journal.append(.accepted(JournalFixture.entry(1, "A")))
      for name in try FileSystem.disk.list(path + "/j") {
        try FileSystem.disk.remove(path + "/j/" + name)
      }
      try FileSystem.disk.remove(path + "/j")
      #expect(journal.append(.accepted(JournalFixture.entry(2, "B"))).isWritten)
      journal.close()
      #expect(Journal.open(path + "/j").entries.map(\.text) == ["A", "B"])
    }
  }
}
