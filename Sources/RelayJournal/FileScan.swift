// SPDX-License-Identifier: MIT

/// Is shown the whole records of a file, in the order in which they lie there.
protocol RecordVisitor {
  mutating func visit(_ frame: FileScan.Frame, _ body: UnsafeRawBufferPointer)
  /// Everything up to this offset has been gone through.
  mutating func passed(_ offset: Int)
}

/// One pass over a file: its records, as far as they are whole, and what lies between them.
///
/// Reads in pieces of a mebibyte, or of one record if it is longer and the file really has as many
/// bytes: memory is bounded by the file's own size. A record is looked at while its piece is still
/// in the processor's caches, and not kept track of: whoever needs that, collects.
struct FileScan: Sendable {
  /// Where a whole record lies.
  struct Frame: Sendable {
    /// Offset of the record in the file.
    var offset: Int
    var sequence: UInt32
    /// Which piece holds the body, and where.
    var piece: UInt32
    var bodyStart: UInt32
    var bodyCount: UInt32
    var type: RecordType

    /// Bytes, with the record's header.
    var size: Int { Int(bodyCount) + JournalFormat.recordHeaderSize }
    /// The body in its piece.
    var body: Range<Int> { Int(bodyStart)..<Int(bodyStart + bodyCount) }
  }

  /// Bytes that are no record.
  struct Damage: Hashable, Sendable {
    var range: Range<Int>
    /// How many records are missing there, as far as the next one's number tells.
    var lost: Int
  }

  /// Bytes of the file that hold records.
  struct Piece: Sendable {
    var offset: Int
    var bytes: [UInt8]
  }

  /// In the order of their numbers, none twice; empty where somebody was shown them instead.
  private(set) var frames: [Frame] = []
  /// How many whole records there are.
  private(set) var count = 0
  /// Whether they lie in the order of their numbers, as they were written.
  private(set) var isOrdered = true
  private(set) var pieces: [Piece] = []
  private(set) var damages: [Damage] = []
  /// Where the next record goes: the end of the last whole one. What follows is torn.
  private(set) var end: Int
  /// The number of the last whole record.
  private(set) var lastSequence: UInt32 = 0
  /// Set where something was found that only a newer version knows.
  private(set) var isNewer = false

  var lost: Int { damages.reduce(0) { $0 + $1.lost } }

  /// Collects a file's records.
  ///
  /// - Parameters:
  ///   - salt: the file's.
  ///   - size: its size in bytes.
  ///   - start: the first record's offset.
  ///   - progress: called with the bytes read so far.
  ///   - read: reads at an offset into a buffer and returns the count.
  init(
    salt: UInt32, size: Int, start: Int = JournalFormat.headerSize,
    progress: (Int) -> Void = { _ in },
    read: (Int, UnsafeMutableRawBufferPointer) throws(JournalError) -> Int
  ) throws(JournalError) {
    var collector = FrameCollector()
    try self.init(
      salt: salt, size: size, start: start, visitor: &collector, progress: progress, read: read)
    frames = collector.frames
    if !isOrdered { putInOrder() }
  }

  /// Shows a file's records to a visitor. If they turn out not to lie in order, whatever it made of
  /// them is void, and they are to be collected.
  init<Visitor: RecordVisitor>(
    salt: UInt32, size: Int, start: Int = JournalFormat.headerSize, visitor: inout Visitor,
    progress: (Int) -> Void = { _ in },
    read: (Int, UnsafeMutableRawBufferPointer) throws(JournalError) -> Int
  ) throws(JournalError) {
    end = start
    var size = size
    var position = start
    var gapStart: Int?
    // Looking for a record's beginning may try bodies in vain; together no more than this.
    var budget = 8 * size + (1 << 20)
    var wanted = FileScan.pieceSize
    while position < size {
      let offset = position
      let piece = try FileScan.piece(offset, min(wanted, size - offset), read)
      // The file became shorter: what is gone is gone.
      if piece.count < min(wanted, size - offset) { size = offset + piece.count }
      if piece.isEmpty { break }
      wanted = FileScan.pieceSize
      progress(offset + piece.count)
      var found = 0
      piece.withUnsafeBytes { bytes in
        var local = 0
        scan: while local < bytes.count {
          switch FileScan.look(at: bytes, local, fileRest: size - offset - local, salt, &budget) {
          case .record(let type, let sequence, let count):
            let place = offset + local
            var lost = 0
            if sequence > lastSequence {
              lost = Int(sequence - lastSequence) - 1
              lastSequence = sequence
            } else {
              isOrdered = false
            }
            if let gap = gapStart {
              // From the file's first byte on it is the header that is missing, not a record.
              damages.append(Damage(range: gap..<place, lost: max(lost, gap == 0 ? 0 : 1)))
              gapStart = nil
            } else if lost > 0 {
              damages.append(Damage(range: place..<place, lost: lost))
            }
            let body = local + JournalFormat.recordHeaderSize
            visitor.visit(
              Frame(
                offset: place, sequence: sequence, piece: UInt32(pieces.count),
                bodyStart: UInt32(body), bodyCount: UInt32(count), type: type),
              UnsafeRawBufferPointer(start: bytes.baseAddress! + body, count: count))
            if !type.isKnown, !type.mayBeIgnored { isNewer = true }
            found += 1
            local = body + count
            end = max(end, offset + local)
          case .more(let count):
            // The rest of it is in the file, but not in this piece.
            wanted = max(count, FileScan.pieceSize)
            break scan
          case .nothing(let skip):
            if gapStart == nil { gapStart = offset + local }
            local += skip
          }
        }
        position = offset + local
      }
      if found > 0 { pieces.append(Piece(offset: offset, bytes: piece)) }
      count += found
      visitor.passed(position)
      if budget < 0 { break }
    }
    if let gap = gapStart, try !FileScan.isTorn(gap, size, salt, read) {
      damages.append(Damage(range: gap..<size, lost: 1))
    }
  }

  /// Calls with the bytes of a record's body.
  @inline(__always)
  func withBody<Result>(_ frame: Frame, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    pieces[Int(frame.piece)].bytes.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[frame.body]))
    }
  }

  /// The bytes of a record's body, a part of their piece.
  func body(_ frame: Frame) -> ArraySlice<UInt8> { pieces[Int(frame.piece)].bytes[frame.body] }

  /// Forgets the records and their bytes, which somebody else has; what was found out stays.
  mutating func letGo() {
    frames = []
    pieces = []
  }

  /// Records that stand twice or in another's place (copied parts of the file) are sorted.
  private mutating func putInOrder() {
    frames.sort { ($0.sequence, $0.offset) < ($1.sequence, $1.offset) }
    var last: UInt32 = 0
    frames.removeAll { frame in
      defer { last = frame.sequence }
      return frame.sequence == last
    }
    count = frames.count
    if damages.isEmpty { damages.append(Damage(range: end..<end, lost: 0)) }
  }
}

/// Keeps track of all records.
private struct FrameCollector: RecordVisitor {
  var frames: [FileScan.Frame] = []

  mutating func visit(_ frame: FileScan.Frame, _ body: UnsafeRawBufferPointer) {
    frames.append(frame)
  }

  mutating func passed(_ offset: Int) {}
}

extension FileScan {
  static let pieceSize = 1 << 20

  private enum Look {
    case record(RecordType, UInt32, Int)
    /// A beginning whose record has so many bytes, which the piece does not have.
    case more(Int)
    /// No record begins here, nor before so many bytes.
    case nothing(Int)
  }

  @inline(__always)
  private static func look(
    at bytes: UnsafeRawBufferPointer, _ local: Int, fileRest: Int, _ salt: UInt32,
    _ budget: inout Int
  ) -> Look {
    let headerSize = JournalFormat.recordHeaderSize
    let rest = bytes.count - local
    guard rest >= headerSize else {
      return fileRest > rest ? .more(headerSize) : .nothing(rest)
    }
    let start = bytes.baseAddress! + local
    // A record's tenth byte is zero and its type is not: cheaper than a checksum.
    let kind = UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
    if kind == 0 { return .nothing(zeros(bytes, local)) }
    guard kind < 0x100 else { return .nothing(1) }
    let (check, head) = Checksum.crc32c(recordHeader: start, seed: salt)
    guard
      UInt16(truncatingIfNeeded: check)
        == UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 10, as: UInt16.self))
    else { return .nothing(1) }
    let count = Int(UInt32(littleEndian: start.loadUnaligned(as: UInt32.self)))
    let sequence = UInt32(littleEndian: start.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    guard sequence > 0, count <= JournalFormat.bodyLimit, headerSize + count <= fileRest else {
      return .nothing(1)
    }
    guard headerSize + count <= rest else { return .more(headerSize + count) }
    guard
      Checksum.crc32c(start + headerSize, count, seed: head)
        == UInt32(littleEndian: start.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    else {
      budget -= count
      return .nothing(budget < 0 ? rest : 1)
    }
    return .record(RecordType(rawValue: UInt8(kind)), sequence, count)
  }

  /// How many bytes may be passed over at once: a record's beginning has something but zeros.
  private static func zeros(_ bytes: UnsafeRawBufferPointer, _ local: Int) -> Int {
    var position = local
    while position + 8 <= bytes.count,
      bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) == 0
    { position += 8 }
    // The zeros' end may be a record's first bytes: its length may begin with up to 9 of them.
    return max(1, position - local - JournalFormat.recordHeaderSize)
  }

  /// Whether the bytes from an offset to the end are what an interrupted append leaves: a record
  /// whose end is missing, or zeros.
  private static func isTorn(
    _ gap: Int, _ size: Int, _ salt: UInt32,
    _ read: (Int, UnsafeMutableRawBufferPointer) throws(JournalError) -> Int
  ) throws(JournalError) -> Bool {
    var offset = gap
    var isFirst = true
    while offset < size {
      let piece = try piece(offset, min(pieceSize, size - offset), read)
      if piece.isEmpty { return true }
      if isFirst, piece.count < JournalFormat.recordHeaderSize { return true }
      if isFirst, beginsLongerRecord(piece, size - gap, salt) { return true }
      if piece.contains(where: { $0 != 0 }) { return false }
      isFirst = false
      offset += piece.count
    }
    return true
  }

  private static func beginsLongerRecord(_ piece: [UInt8], _ rest: Int, _ salt: UInt32) -> Bool {
    piece.withUnsafeBytes { bytes in
      UInt16(truncatingIfNeeded: Checksum.crc32c(bytes.baseAddress!, 10, seed: salt))
        == UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self))
        && Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
          + JournalFormat.recordHeaderSize > rest
    }
  }

  private static func piece(
    _ offset: Int, _ count: Int,
    _ read: (Int, UnsafeMutableRawBufferPointer) throws(JournalError) -> Int
  ) throws(JournalError) -> [UInt8] {
    var failure: JournalError?
    let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = 0
      do throws(JournalError) {
        while filled < count {
          let rest = UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
          let read = try read(offset + filled, rest)
          if read <= 0 { break }
          filled += read
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return piece
  }
}
