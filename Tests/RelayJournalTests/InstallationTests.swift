// SPDX-License-Identifier: MIT

import RaceSupport
import RelayJournal
import Testing

/// PE-26: a journal that came from another installation is dropped, not delivered.
struct InstallationTests {
  /// Three commands in a journal, and one in another process's inbox.
  private func filled() throws -> JournalFixture {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    #expect(try journal.claim(for: "one") == nil)
    for id in 1...3 as ClosedRange<UInt64> {
      journal.append(.accepted(JournalFixture.entry(id, "secret \(id)")))
    }
    let inbox = JournalInbox(
      JournalFixture.path, fileSystem: fixture.files.fileSystem, options: fixture.options)
    try inbox.append(JournalFixture.entry(1, "secret 4"))
    fixture.files.closeAll()
    return fixture
  }

  private func holds(_ text: String, _ fixture: JournalFixture) -> Bool {
    fixture.files.paths.contains { path in
      String(decoding: fixture.files[path] ?? [], as: UTF8.self).contains(text)
    }
  }

  @Test func theSameInstallationFindsEverything() throws {
    let fixture = try filled()
    let opening = fixture.open()
    #expect(try opening.journal?.claim(for: "one") == nil)
    #expect(opening.entries.map(\.text) == ["secret 1", "secret 2", "secret 3"])
    #expect(fixture.reopened().count == 3)
  }

  @Test func aJournalFromBeforeBecomesTheInstallations() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append(.accepted(JournalFixture.entry(1, "old")))
    #expect(try journal.claim(for: "one") == nil)
    #expect(fixture.reopened() == ["old"])
  }

  @Test(arguments: ["two", "on", "one ", "onf"])
  func whatAnotherOneLeftIsEndedAndItsBytesAreGone(_ other: String) throws {
    let fixture = try filled()
    let journal = try #require(fixture.open().journal)
    #expect(try journal.claim(for: other) == 4)
    #expect(journal.statistics.live == 0)
    #expect(!holds("secret", fixture))
    journal.append(.accepted(JournalFixture.entry(journal.makeIdentifier(), "new")))
    #expect(try journal.claim(for: other) == nil)
    #expect(fixture.reopened() == ["new"])
  }

  /// Fails at every operation, then tries again, as the next opening does.
  @Test(arguments: [true, false])
  func interruptedAnywhereItIsDoneTheNextTime(_ dies: Bool) throws {
    var number = 1
    while true {
      let fixture = try filled()
      let faulty = FaultyFiles(over: fixture.files.fileSystem)
      let journal = try #require(fixture.open(faulty.fileSystem).journal)
      let left = Tally()
      let isHit = Tally()
      faulty.setRule { [number] _ in
        let count = left.add()
        guard count == number || (dies && count > number) else { return nil }
        isHit.add()
        return .fail(.inputOutput)
      }
      let result = try? journal.claim(for: "two")
      faulty.clearRule()
      if isHit.current == 0 {
        #expect(result == 4)
        break
      }
      fixture.files.closeAll()
      let next = try #require(fixture.open().journal)
      _ = try next.claim(for: "two")
      #expect(next.statistics.live == 0, "failed at operation \(number)")
      let inboxes = try next.adoptInboxes { JournalPlace(run: 9, sequence: 1) }
      #expect(inboxes.entries.isEmpty, "failed at operation \(number)")
      #expect(!holds("secret", fixture), "failed at operation \(number)")
      #expect(try next.claim(for: "two") == nil)
      number += 1
    }
    #expect(number > 8)
  }
}
