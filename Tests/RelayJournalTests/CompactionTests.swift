// SPDX-License-Identifier: MIT

import RaceSupport
import RelayJournal
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CompactionTests {
  private func entry(_ id: UInt64, _ text: String? = nil) -> JournalEntry {
    JournalFixture.entry(id, text ?? "\(id)")
  }

  /// Compacts and calls at each operation on the disk, after the appends have been given a file of
  /// their own.
  private func compact(
    _ journal: Journal, _ faulty: FaultyFiles, _ body: @escaping @Sendable (Int) -> Void
  ) throws {
    let isInside = Handover<Bool>()
    let start = faulty.count
    let rolled = Handover<Bool>()
    faulty.setRule { operation in
      // Opening the base is the first thing that is done without the right to write.
      if operation.kind == .open, operation.file.hasSuffix(".new") { rolled.current = true }
      guard rolled.current == true, isInside.current != true else { return nil }
      return .hang {
        isInside.current = true
        body(operation.number - start)
        isInside.current = false
      }
    }
    try journal.compact()
    faulty.clearRule()
  }

  @Test func appendsAtEachStepOfACompactionAreKept() throws {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    for id in 1...50 as ClosedRange<UInt64> { journal.append(.accepted(entry(id))) }
    journal.append((1...25).map { .acknowledged($0) })
    let written = Tally()
    try compact(journal, faulty) { _ in
      let number = UInt64(written.add())
      // A new one, and one of the old ones that the compaction may just be copying.
      #expect(journal.append(.accepted(entry(100 + number))).isWritten)
      #expect(journal.append(.acknowledged(25 + number)).isWritten)
    }
    let count = UInt64(written.current)
    #expect(count > 3)
    let texts = (26 + count...50).map { "\($0)" } + (101...100 + count).map { "\($0)" }
    #expect(journal.statistics.live == texts.count)
    #expect(fixture.reopened() == texts)
    let again = try #require(fixture.open().journal)
    try again.compact()
    #expect(fixture.reopened() == texts)
  }

  @Test func manyDeadRecordsAreCompactedByThemselves() async throws {
    var fixture = JournalFixture()
    let compacted = Latch()
    fixture.options.compactsByItself = true
    fixture.options.compactionFloor = 10_000
    fixture.options.onEvent = { event in
      if case .compacted(let before, let after) = event {
        #expect(after < before / 2)
        compacted.open()
      }
    }
    let journal = try #require(fixture.open().journal)
    for id in 1...300 as ClosedRange<UInt64> {
      journal.append(.accepted(entry(id)))
      if id > 10 { journal.append(.acknowledged(id)) }
    }
    await compacted.wait()
    journal.close()
    #expect(fixture.reopened() == (1...10).map { "\($0)" })
    let bytes = fixture.files.paths.reduce(0) { $0 + fixture.files[$1]!.count }
    #expect(bytes < 10_000 * 2)
  }

  @Test func whatIsAliveIsNotCompactedAgainAndAgain() throws {
    var fixture = JournalFixture()
    fixture.options.compactsByItself = true
    fixture.options.compactionFloor = 1_000
    let scheduled = Tally()
    fixture.options.schedule = { _ in scheduled.add() }
    let journal = try #require(fixture.open().journal)
    for id in 1...1_000 as ClosedRange<UInt64> { journal.append(.accepted(entry(id))) }
    #expect(scheduled.current == 0)
  }

  @Test func aFailedCompactionLeavesEverythingAndIsNotTriedAtOnceAgain() async throws {
    var fixture = JournalFixture()
    fixture.options.compactsByItself = true
    fixture.options.compactionFloor = 1_000
    let failures = Tally()
    let failed = Latch()
    fixture.options.onEvent = { event in
      if case .failed = event {
        failures.add()
        failed.open()
      }
    }
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    faulty.setRule { operation in
      operation.kind == .rename ? .fail(.noSpace) : nil
    }
    journal.append(.accepted(entry(1)))
    for id in 2...40 as ClosedRange<UInt64> {
      journal.append([.accepted(entry(id)), .acknowledged(id)])
    }
    await failed.wait()
    for id in 41...45 as ClosedRange<UInt64> {
      journal.append([.accepted(entry(id)), .acknowledged(id)])
    }
    journal.close()
    #expect(failures.current == 1)
    #expect(fixture.files.paths.filter { $0.hasSuffix(".new") }.isEmpty)
    #expect(fixture.reopened() == ["1"])
  }

  @Test func erasingLeavesNoByteOfThePayload() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([.accepted(entry(1, "SECRET-ONE")), .accepted(entry(2, "kept"))])
    journal.append([.accepted(entry(3, "SECRET-TWO")), .ended(3, reason: 1)])
    fixture.files[JournalFixture.path + "/quarantine/x"] = Array("SECRET-ONE".utf8)
    _ = try? fixture.files.fileSystem.makeDirectory(JournalFixture.path + "/quarantine")
    try journal.compact(erasing: [1, 99])
    let secret = Array("SECRET".utf8)
    for path in fixture.files.paths {
      #expect(fixture.files[path]!.firstRange(of: secret) == nil, "\(path)")
    }
    #expect(journal.statistics.live == 1)
    #expect(fixture.reopened() == ["kept"])
  }

  @Test func aRecordThatRottedIsNotCopied() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    journal.append([.accepted(entry(1, "A")), .accepted(entry(2, "B"))])
    fixture.files[fixture.recordsPath]![100] ^= 1
    do {
      try journal.compact()
      Issue.record("a damaged record was written anew")
    } catch {
      #expect(error.code == .damaged)
    }
    #expect(journal.append(.accepted(entry(3, "C"))).isWritten)
    fixture.files.closeAll()
    #expect(fixture.open().entries.map(\.text) == ["B", "C"])
  }

  @Test func largePayloadsAndManyPiecesComeThrough() throws {
    let fixture = JournalFixture()
    let journal = try #require(fixture.open().journal)
    let sizes = [0, 1, 70_000, 1_048_500, 1_048_576, 2_500_000, 3]
    for (index, size) in sizes.enumerated() {
      var entry = entry(UInt64(index + 1))
      entry.payload = ArraySlice((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
      journal.append(.accepted(entry))
    }
    try journal.compact()
    journal.close()
    let entries = fixture.open().entries
    #expect(entries.map(\.entry.payload.count) == sizes)
    for (index, entry) in entries.enumerated() {
      let isRight = entry.entry.payload.enumerated().allSatisfy {
        $0.element == UInt8(truncatingIfNeeded: $0.offset &* 31 &+ index)
      }
      #expect(isRight, "payload \(index)")
    }
  }
}
