// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

/// Empty, unavailable, damaged and newer are four different answers.
struct AvailabilityTests {
  private func filled() throws -> JournalFixture {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([
      .accepted(JournalFixture.entry(1, "A")), .accepted(JournalFixture.entry(2, "B")),
    ])
    journal.close()
    return fixture
  }

  private func contents(_ fixture: JournalFixture) -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for path in fixture.files.paths where !path.hasSuffix(".lock") {
      contents[path] = fixture.files[path]
    }
    return contents
  }

  @Test func whatIsNotPermittedIsUnavailableAndStaysAsItIs() throws {
    let fixture = try filled()
    let before = contents(fixture)
    let kinds: [FaultyFiles.Operation.Kind] = [.open, .read, .lock, .list, .makeDirectory]
    for kind in kinds {
      let faulty = FaultyFiles(over: fixture.files.fileSystem)
      faulty.setRule { operation in
        operation.kind == kind && !(kind == .read && operation.file.hasSuffix(".lock"))
          ? .fail(.notPermitted, errno: 1) : nil
      }
      let opening = fixture.open(faulty.fileSystem)
      guard case .unavailable(.notPermitted(let error)) = opening.outcome else {
        Issue.record("\(kind): \(opening.outcome)")
        continue
      }
      #expect(error.errno == 1)
      #expect(opening.journal == nil)
      #expect(contents(fixture) == before, "\(kind)")
      fixture.files.closeAll()
    }
    #expect(fixture.reopened() == ["A", "B"])
  }

  @Test func aDiskThatCannotReadIsUnavailableNotDamaged() throws {
    let fixture = try filled()
    let before = contents(fixture)
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    faulty.setRule { operation in
      operation.kind == .read && operation.file.hasSuffix(".journal")
        ? .fail(.inputOutput, errno: 5) : nil
    }
    guard case .unavailable(.failed) = fixture.open(faulty.fileSystem).outcome else {
      Issue.record("a failed read was taken for something else")
      return
    }
    #expect(contents(fixture) == before)
  }

  @Test func aSecondOwnerIsToldWhoTheFirstIs() throws {
    let fixture = try filled()
    let first = try #require(fixture.open().journal)
    guard case .unavailable(.locked(let process)) = fixture.open().outcome else {
      Issue.record("two owners")
      return
    }
    #expect(process != nil)
    first.close()
    #expect(fixture.open().outcome == .recovered(entries: 2))
  }

  @Test func theOwnersDeathFreesTheDirectory() throws {
    let fixture = try filled()
    let first = fixture.open()
    fixture.files.closeAll()
    #expect(fixture.open().outcome == .recovered(entries: 2))
    withExtendedLifetime(first) {}
  }

  @Test func aNewerFormatIsNamedAndStaysAsItIs() throws {
    let fixture = try filled()
    // Version 9, readable by 9 and later, with a checksum that is right.
    var bytes = fixture.files[fixture.recordsPath]!
    bytes.replaceSubrange(8..<12, with: [9, 0, 9, 0])
    fixture.files[fixture.recordsPath] = bytes.withHeaderChecksum()
    let before = contents(fixture)
    let opening = fixture.open()
    #expect(opening.outcome == .newer(version: 9))
    #expect(opening.journal == nil)
    #expect(contents(fixture) == before)
  }

  @Test func aNewerVersionThatWeMayReadIsReadAndContinuedInAFileOfOurOwn() throws {
    let fixture = try filled()
    var bytes = fixture.files[fixture.recordsPath]!
    bytes.replaceSubrange(8..<12, with: [9, 0, 1, 0])
    fixture.files[fixture.recordsPath] = bytes.withHeaderChecksum()
    let path = fixture.recordsPath
    let opening = fixture.open()
    #expect(opening.outcome == .recovered(entries: 2))
    opening.journal?.append(.accepted(JournalFixture.entry(3, "C")))
    #expect(fixture.files[path] == bytes.withHeaderChecksum())
    #expect(fixture.reopened() == ["A", "B", "C"])
  }

  @Test func recordsThatOnlyANewerVersionKnowsMakeItNewerOrAreKept() throws {
    for (type, isNewer) in [(UInt8(77), true), (UInt8(200), false)] {
      let fixture = try filled()
      fixture.files[fixture.recordsPath]! += fixture.record(type, sequence: 3, body: [1, 2, 3])
      let opening = fixture.open()
      guard !isNewer else {
        guard case .newer = opening.outcome else {
          Issue.record("\(opening.outcome)")
          continue
        }
        continue
      }
      #expect(opening.outcome == .recovered(entries: 2))
      let journal = try #require(opening.journal)
      try journal.compact()
      try journal.compact()
      journal.append(.accepted(JournalFixture.entry(4, "D")))
      journal.close()
      let all = fixture.files.paths.filter { $0.hasSuffix(".journal") }
        .flatMap { fixture.files[$0]! }
      #expect(all.firstRange(of: [200, 0]) != nil, "what is not known is copied as it is")
      #expect(all.firstRange(of: [1, 2, 3]) != nil)
      #expect(fixture.reopened() == ["A", "B", "D"])
    }
  }
}
