// SPDX-License-Identifier: MIT

/// Follows the records of a journal's files, each shown once in the order of their numbers, and
/// knows what is there in the end. Pure: it sees bytes in memory only.
struct RecordReplay {
  private(set) var index: JournalIndex
  private(set) var unknown: [UnknownRecord] = []
  /// All entries whose record made sense, whatever became of them.
  private var found: [RecoveredEntries.Item] = []
  private var pieces: [RecoveredEntries.Piece] = []
  /// Whether entries lie in the order of acceptance.
  private var isSorted = true
  private var lastPlace = JournalPlace(run: 0, sequence: 0)
  /// Where files end behind which a failed write could not be taken away, as later files say.
  private(set) var cuts: [UInt64: Int] = [:]
  /// Bytes of all files: tells how much room is needed once some of them have been read.
  private let total: Int
  private var hasRoom = false

  // Of the file that is being read.
  private var number: UInt64 = 0
  private var end = Int.max
  private var isFirst = true
  private var names: [String?] = []
  private var nameless: [FileScan.Frame] = []
  private var senseless = 0

  init(_ index: consuming JournalIndex, total: Int) {
    self.index = index
    self.total = total
  }

  /// A file's records follow.
  ///
  /// - Parameter end: the offset from which on they do not count.
  mutating func begin(_ number: UInt64, end: Int) {
    self.number = number
    self.end = end
    isFirst = true
    names = []
    senseless = 0
  }

  /// All of a file's records have been shown.
  ///
  /// - Returns: what its numbers for names stand for, and how many records made no sense.
  mutating func finish(_ scan: FileScan) -> (names: [String?], senseless: Int) {
    for frame in nameless {
      // The name may have come later; if not, all records that had it are lost.
      guard let head = scan.withBody(frame, { RecordReader.head($0) { _, _ in } }),
        !names.has(head)
      else { continue }
      senseless += 1
      guard let item = index.items[head.id], item.offset == frame.offset,
        item.file == UInt32(truncatingIfNeeded: number)
      else { continue }
      index.apply(.acknowledged(head.id))
    }
    nameless = []
    let file = UInt32(truncatingIfNeeded: number)
    for piece in scan.pieces {
      pieces.append(
        RecoveredEntries.Piece(
          file: file, offset: piece.offset, bytes: piece.bytes, names: names))
    }
    return (names, senseless)
  }

  /// What is still there, with what has happened to it, in order. To be asked once.
  mutating func takeEntries() -> RecoveredEntries {
    keepLive()
    defer {
      found = []
      pieces = []
    }
    let entries = RecoveredEntries(
      found, pieces, deaths: index.deaths,
      places: index.places.filter { index.items[$0.key] != nil })
    return isSorted && index.places.isEmpty ? entries : entries.sorted()
  }

  private mutating func keepLive() {
    var kept = 0
    var used = [Bool](repeating: false, count: pieces.count)
    for position in found.indices {
      var candidate = found[position]
      let piece = Int(candidate.piece)
      guard let item = index.items[candidate.id], item.file == pieces[piece].file,
        item.offset
          == pieces[piece].offset + Int(candidate.bodyStart) - JournalFormat.recordHeaderSize
      else { continue }
      candidate.attempts = item.attempts
      candidate.unfinished = item.unfinished
      candidate.wasStarted = item.wasStarted
      candidate.isMoved = item.isMoved
      used[piece] = true
      found[kept] = candidate
      kept += 1
    }
    found.removeLast(found.count - kept)
    // Nobody will ask for what is in the others.
    for piece in pieces.indices where !used[piece] { pieces[piece].bytes = [] }
  }
}

extension RecordReplay: RecordVisitor {
  @inline(__always)
  mutating func visit(_ frame: FileScan.Frame, _ body: UnsafeRawBufferPointer) {
    if isFirst { noteCut(frame, body) }
    guard frame.offset < end else { return }
    guard frame.type == .entry else {
      if !apply(frame, body) { senseless += 1 }
      return
    }
    guard let head = RecordReader.head(body, define: { define($0, $1) }),
      RecordReader.isSensible(head, body)
    else {
      senseless += 1
      return
    }
    if !names.has(head) { nameless.append(frame) }
    accept(head, frame, body)
    if head.place < lastPlace { isSorted = false }
    lastPlace = head.place
    found.append(
      RecoveredEntries.Item(
        id: head.id, piece: UInt32(truncatingIfNeeded: pieces.count) + frame.piece,
        bodyStart: frame.bodyStart))
  }

  mutating func passed(_ offset: Int) {
    guard !hasRoom else { return }
    hasRoom = true
    let times = Self.room(after: offset, of: total)
    guard times > 1.1 else { return }
    index.reserve(Int(Double(index.items.count) * times))
    found.reserveCapacity(Int(Double(found.count) * times))
  }

  /// How many times as much room as the first piece needed is made at once: as all pieces need if
  /// they are like it, and a little more. Of a long file only that much is believed, since it may
  /// have nothing but zeros behind; room for more grows as it is needed.
  static func room(after offset: Int, of total: Int) -> Double {
    min(Double(total) / Double(max(offset, 1)) * 1.05, 16)
  }

  private mutating func noteCut(_ frame: FileScan.Frame, _ body: UnsafeRawBufferPointer) {
    isFirst = false
    guard frame.type == .cut,
      case .cut(let cut) = RecordReader.read(.cut, body, define: { _, _ in })
    else { return }
    cuts[cut.number] = cut.offset
  }

  private mutating func define(_ number: UInt32, _ text: String) {
    while names.count <= number { names.append(nil) }
    if names[Int(number)] == nil { names[Int(number)] = text }
  }

  @inline(__always)
  private mutating func accept(
    _ head: EntryHead, _ frame: FileScan.Frame, _ body: UnsafeRawBufferPointer
  ) {
    if head.flags.isDisjoint(with: .eventful) {
      index.accept(
        head.id, run: head.place.run, file: number, offset: frame.offset, size: frame.size)
    } else {
      index.accept(
        head.id, run: head.place.run, replaces: head.replaces, RecordReader.state(head, body),
        file: number, offset: frame.offset, size: frame.size)
    }
  }

  /// - Returns: whether it makes sense.
  private mutating func apply(_ frame: FileScan.Frame, _ body: UnsafeRawBufferPointer) -> Bool {
    guard frame.type.isKnown else {
      unknown.append(
        UnknownRecord(file: number, offset: frame.offset, size: frame.size, type: frame.type))
      return true
    }
    switch RecordReader.read(frame.type, body, define: { _, _ in }) {
    case .other(let record): index.apply(record)
    case .adopted(let mark): index.inboxes[mark.salt] = mark.offset
    case .entry, .cut: break
    case nil: return false
    }
    return true
  }
}

extension [String?] {
  /// Whether the names of an entry are known.
  @inline(__always)
  fileprivate func has(_ head: EntryHead) -> Bool {
    Int(head.name) < count && Int(head.group) < count && self[Int(head.name)] != nil
      && self[Int(head.group)] != nil
  }
}
