// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import RaceSupport
import Testing

@testable import RelayJournal

/// Files with bits flipped, pieces cut out, moved, doubled, overwritten: a million of them in
/// release, from fixed seeds; `RELAY_FUZZ_INPUTS` says otherwise.
@Suite(.timeLimit(.minutes(20)))
struct FuzzTests {
  private static var inputs: Int {
    let wanted = ProcessInfo.processInfo.environment["RELAY_FUZZ_INPUTS"].flatMap { Int($0) }
    return wanted ?? (_isDebugAssertConfiguration() ? 10_000 : 1_000_000)
  }

  @Test func noInputTrapsHangsOrHidesAnIntactRecord() {
    let workers = 2
    let share = max(1, FuzzTests.inputs / workers)
    print("journal fuzzer: seeds 1 to \(workers), \(share) inputs each")
    DispatchQueue.concurrentPerform(iterations: workers) { worker in
      let original = FuzzFile()
      var generator = SeededGenerator(seed: UInt64(worker) + 1)
      for number in 0..<share {
        let input = original.mutated(using: &generator)
        if let fault = original.check(input) {
          Issue.record("seed \(worker + 1), input \(number): \(fault)")
          return
        }
        guard number.isMultiple(of: 16) else { continue }
        if let fault = original.checkOpening(input) {
          Issue.record("seed \(worker + 1), input \(number), opened: \(fault)")
          return
        }
      }
    }
  }

  @Test func bytesWithoutAnyMeaningAreReadInBoundedTime() {
    var generator = SeededGenerator(seed: 7)
    let original = FuzzFile()
    for size in [0, 1, 15, 16, 17, 63, 64, 65, 1_000, 1 << 20, 3 << 20] {
      let noise = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(original.check(FuzzFile.Input(bytes: noise)) == nil, "\(size) bytes of noise")
      let zeros = [UInt8](repeating: 0, count: size)
      #expect(original.check(FuzzFile.Input(bytes: zeros)) == nil, "\(size) zeros")
    }
  }

  @Test func beginningsThatPromiseTooMuchAreNotBelieved() throws {
    // Each looks like the beginning of a record that takes all the rest of the file.
    let original = FuzzFile()
    let count = _isDebugAssertConfiguration() ? 2_000 : 20_000
    var bytes = Array(original.bytes[..<64])
    for number in 0..<count {
      bytes += original.beginning(
        length: UInt32((count - number) * 16 - 16), sequence: UInt32(number + 1))
    }
    let reads = Tally()
    let largest = Handover<Int>()
    let scan = try original.scan(bytes) { size in
      reads.add(size)
      largest.current = max(largest.current ?? 0, size)
    }
    #expect(scan.frames.isEmpty)
    #expect(reads.current < 100 * bytes.count)
    #expect((largest.current ?? 0) <= max(bytes.count, 1 << 20))
    // A length beyond the file's end asks for no memory.
    let absurd = Array(original.bytes[..<64]) + original.beginning(length: .max, sequence: 1)
    largest.current = 0
    #expect(
      try original.scan(absurd) { largest.current = max(largest.current ?? 0, $0) }.frames.isEmpty)
    #expect((largest.current ?? 0) <= 1 << 20)
  }
}

/// A file whose records are known.
struct FuzzFile: Sendable {
  struct Input {
    var bytes: [UInt8]
    /// Where each byte comes from; -1 if it is none of the file's.
    var origins: [Int32] = []
  }

  static let salt: UInt32 = 0x5F3A_21BC
  let bytes: [UInt8]
  private let records: [Range<Int>]
  private let recordStarts: [Int32: Int]
  private let carriesNames: [Bool]

  init() {
    var writer = RecordWriter(salt: FuzzFile.salt)
    writer.write(
      FileHeader(
        salt: FuzzFile.salt, number: 1, kind: .records, nextIdentifier: 1, run: 1, madeAt: 0))
    var records: [Range<Int>] = []
    for id in 1...14 as ClosedRange<UInt64> {
      let start = writer.buffer.count
      let text = String(repeating: "payload \(id) ", count: Int(id * 5 % 9))
      var entry = JournalFixture.entry(id, text)
      if id % 3 == 0 { entry.labels = ["user-\(id)", ""] }
      if id % 4 == 0 { entry.key = JournalKey(bytes: [1, 2], rule: [UInt8(id)]) }
      if id % 5 == 0 { entry.timeToLive = id << 40 }
      writer.write(id % 2 == 0 ? .accepted(entry) : .acceptedAndStarted(entry), at: 0)
      records.append(start..<writer.buffer.count)
    }
    for id in [2, 5, 9] as [UInt64] {
      let start = writer.buffer.count
      writer.write(
        id == 5 ? .dead(5, JournalDeath(reason: 1, detail: "why", at: 3)) : .interrupted(id), at: 0)
      records.append(start..<writer.buffer.count)
    }
    bytes = Array(writer.buffer.bytes)
    self.records = records
    recordStarts = Dictionary(
      uniqueKeysWithValues: records.enumerated().map { (Int32($1.lowerBound), $0) })
    carriesNames = records.indices.map { $0 < JournalFormat.namesPerBlock }
  }

  /// The file with one to four kinds of damage.
  func mutated(using generator: inout SeededGenerator) -> Input {
    var input = Input(bytes: bytes, origins: (0..<Int32(bytes.count)).map { $0 })
    for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&input, using: &generator) }
    return input
  }

  private func mutate(_ input: inout Input, using generator: inout SeededGenerator) {
    let count = input.bytes.count
    guard count > 0 else { return }
    let start = Int.random(in: 0..<count, using: &generator)
    let length = min(count - start, Int.random(in: 1...200, using: &generator))
    let range = start..<start + length
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1:
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<count, using: &generator)
        input.bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        input.origins[place] = -1
      }
    case 2:
      input.bytes.removeLast(count - start)
      input.origins.removeLast(count - start)
    case 3:
      input.bytes.removeSubrange(range)
      input.origins.removeSubrange(range)
    case 4:
      for place in range {
        input.bytes[place] = 0
        input.origins[place] = -1
      }
    case 5:
      let place = Int.random(in: 0...count, using: &generator)
      let (copied, origins) = (Array(input.bytes[range]), Array(input.origins[range]))
      input.bytes.insert(contentsOf: copied, at: place)
      input.origins.insert(contentsOf: origins, at: place)
    case 6:
      let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      input.bytes.replaceSubrange(range, with: noise)
      input.origins.replaceSubrange(range, with: [Int32](repeating: -1, count: length))
    default:
      let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      input.bytes.insert(contentsOf: noise, at: start)
      input.origins.insert(contentsOf: [Int32](repeating: -1, count: length), at: start)
    }
  }

  /// The records that are whole somewhere, by their place in the original.
  private func intact(_ input: Input) -> Set<Int> {
    var intact: Set<Int> = []
    var run = 0
    let origins = input.origins
    for place in origins.indices.reversed() {
      let origin = origins[place]
      if origin < 0 {
        run = 0
        continue
      }
      let goesOn = place + 1 < origins.count && origins[place + 1] == origin + 1
      run = goesOn ? run + 1 : 1
      if let record = recordStarts[origin], run >= records[record].count { intact.insert(record) }
    }
    return intact
  }

  func scan(_ bytes: [UInt8], onRead: (Int) -> Void = { _ in }) throws -> FileScan {
    let header = bytes.withUnsafeBytes { FileHeader.read($0) }
    let isDamaged = if case .header = header { false } else { true }
    return try FileScan(
      salt: FuzzFile.salt, size: bytes.count, start: isDamaged ? 0 : JournalFormat.headerSize
    ) { (offset, buffer) throws(JournalError) in
      onRead(buffer.count)
      guard offset < bytes.count else { return 0 }
      let count = min(buffer.count, bytes.count - offset)
      bytes.withUnsafeBytes { bytes in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
      }
      return count
    }
  }

  /// What is wrong with what the scan makes of an input.
  func check(_ input: Input) -> String? {
    guard let scan = try? scan(input.bytes) else { return "an error" }
    var found: Set<Int> = []
    for frame in scan.frames {
      guard frame.sequence >= 1, Int(frame.sequence) <= records.count else {
        return "record \(frame.sequence) was invented"
      }
      let record = Int(frame.sequence) - 1
      guard
        input.bytes[frame.offset..<frame.offset + frame.size].elementsEqual(bytes[records[record]])
      else { return "record \(frame.sequence) is not what it was" }
      guard found.insert(record).inserted else { return "record \(frame.sequence) twice" }
    }
    let missing = intact(input).subtracting(found)
    return missing.isEmpty ? nil : "records \(missing.sorted()) are whole and were not found"
  }

  /// What is wrong with what an opening makes of it.
  func checkOpening(_ input: Input) -> String? {
    let fixture = JournalFixture()
    _ = try? fixture.files.fileSystem.makeDirectory(JournalFixture.path)
    fixture.files[JournalFixture.path + "/" + FileName.records(1, FuzzFile.salt)] = input.bytes
    let opening = fixture.open()
    guard let journal = opening.journal else { return "\(opening.outcome)" }
    let intact = intact(input).filter { $0 < 14 }
    if intact.contains(where: { carriesNames[$0] }) {
      let ids = Set(opening.entries.map(\.entry.id))
      let missing = intact.filter { !ids.contains(UInt64($0 + 1)) }
      if !missing.isEmpty { return "entries \(missing.sorted()) are whole and did not come back" }
    }
    guard journal.append(.accepted(JournalFixture.entry(100, "after"))).isWritten else {
      return "it takes no append"
    }
    journal.close()
    let again = fixture.open()
    if case .damaged = again.outcome { return "it is damaged twice" }
    guard again.entries.map(\.entry.id) == opening.entries.map(\.entry.id) + [100] else {
      return "a second opening differs"
    }
    return nil
  }

  /// The first 16 bytes of a record whose body is not what they say.
  func beginning(length: UInt32, sequence: UInt32) -> [UInt8] {
    var buffer = RecordBuffer()
    buffer.append(fixed: length)
    buffer.append(fixed: sequence)
    buffer.append(fixed: UInt16(1))
    let check = Checksum.crc32c(buffer.start, 10, seed: FuzzFile.salt)
    buffer.append(fixed: UInt16(truncatingIfNeeded: check))
    buffer.append(fixed: UInt32(0))
    return Array(buffer.bytes)
  }
}
