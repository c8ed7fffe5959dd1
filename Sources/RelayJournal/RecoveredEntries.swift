// SPDX-License-Identifier: MIT

/// What an opening has found, in the order of acceptance: read as a whole, taken apart one by one.
///
/// Whoever goes through it once pays for each entry once, and no memory for all of them together.
/// It keeps the bytes of the files in memory for as long as it lives; so does a payload with the
/// mebibyte that it was read in.
package struct RecoveredEntries: Sendable {
  /// Where an entry is and what has happened to it.
  struct Item: Sendable {
    var id: UInt64
    /// Which piece holds the body, and where.
    var piece: UInt32
    var bodyStart: UInt32
    var attempts: UInt16 = 0
    var unfinished: UInt16 = 0
    var wasStarted = false
    /// Whether `places` has another place for it than its record.
    var isMoved = false
  }

  /// A part of a file, and what the file's numbers for names stand for.
  struct Piece: Sendable {
    /// The file's number, its lower half.
    var file: UInt32
    /// Where it begins in the file.
    var offset: Int
    var bytes: [UInt8]
    var names: [String?]

    /// The bytes of a record's body.
    @inline(__always)
    func body(_ item: Item) -> Range<Int> {
      let start = Int(item.bodyStart)
      let count = bytes.withUnsafeBytes {
        $0.loadUnaligned(
          fromByteOffset: start - JournalFormat.recordHeaderSize, as: UInt32.self)
      }
      return start..<start + Int(UInt32(littleEndian: count))
    }
  }

  private var items: [Item]
  private let pieces: [Piece]
  private let deaths: [UInt64: JournalDeath]
  private let places: [UInt64: JournalPlace]

  init(
    _ items: [Item] = [], _ pieces: [Piece] = [], deaths: [UInt64: JournalDeath] = [:],
    places: [UInt64: JournalPlace] = [:]
  ) {
    self.items = items
    self.pieces = pieces
    self.deaths = deaths
    self.places = places
  }

  /// The same in the order of acceptance.
  consuming func sorted() -> RecoveredEntries {
    var order = items.map { (place: place($0), item: $0) }
    order.sort { ($0.place, $0.item.id) < ($1.place, $1.item.id) }
    items = order.map(\.item)
    return self
  }

  private func place(_ item: Item) -> JournalPlace {
    if item.isMoved, let place = places[item.id] { return place }
    let piece = pieces[Int(item.piece)]
    let head = piece.bytes.withUnsafeBytes { bytes in
      RecordReader.head(UnsafeRawBufferPointer(rebasing: bytes[piece.body(item)])) { _, _ in }
    }
    guard let head else { RecoveredEntries.isNotWhole() }
    return head.place
  }

  /// All of a record was looked at when the file was read.
  private static func isNotWhole() -> Never {
    preconditionFailure("A record that was whole is not any more.")
  }
}

extension RecoveredEntries: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { items.count }

  package subscript(_ position: Int) -> RecoveredEntry {
    let item = items[position]
    let piece = pieces[Int(item.piece)]
    var entry = RecoveredEntries.blank
    var names = RecoveredEntries.noNames
    return fill(&entry, &names, item, piece) ? entry : rareEntry(item, piece)
  }

  /// Lends one entry after the other, in order.
  ///
  /// Each is made in the place of the one before: who only looks at it copies nothing. That is a
  /// third of the time of a `for` loop.
  package func forEach(_ body: (RecoveredEntry) -> Void) {
    var entry = RecoveredEntries.blank
    var names = RecoveredEntries.noNames
    var position = 0
    while position < items.count {
      // A piece is taken in hand once for all the entries in it.
      let number = items[position].piece
      let piece = pieces[Int(number)]
      names = RecoveredEntries.noNames
      while position < items.count, items[position].piece == number {
        let item = items[position]
        position += 1
        if fill(&entry, &names, item, piece) {
          body(entry)
        } else {
          body(rareEntry(item, piece))
        }
      }
    }
  }

  /// All of them at once.
  var takenApart: [RecoveredEntry] {
    var all: [RecoveredEntry] = []
    all.reserveCapacity(items.count)
    forEach { all.append($0) }
    return all
  }

  private static let blank = RecoveredEntry(
    entry: JournalEntry(
      id: 0, place: JournalPlace(run: 0, sequence: 0), name: "", group: "", acceptedAt: 0,
      payload: []))

  /// Which names the entry has in whose place another one is made.
  private typealias Names = (name: Int, group: Int)
  private static let noNames: Names = (-1, -1)

  /// Makes an entry of which there is nothing rare to say, as most are, in the place of another
  /// such one.
  ///
  /// - Returns: false if it is none.
  @inline(__always)
  private func fill(
    _ result: inout RecoveredEntry, _ names: inout Names, _ item: Item, _ piece: borrowing Piece
  ) -> Bool {
    let range = piece.body(item)
    let plain = piece.bytes.withUnsafeBytes { bytes in
      RecordReader.plain(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
    guard let plain, !item.isMoved, deaths.isEmpty else { return false }
    if names != (plain.name, plain.group) {
      // Both were looked up when the file was read.
      result.entry.name = piece.names[plain.name] ?? ""
      result.entry.group = piece.names[plain.group] ?? ""
      names = (plain.name, plain.group)
    }
    result.entry.id = plain.id
    result.entry.place = plain.place
    result.entry.priority = plain.priority
    result.entry.payloadVersion = plain.payloadVersion
    result.entry.acceptedAt = plain.acceptedAt
    result.entry.payload = piece.bytes[range.lowerBound + plain.payloadStart..<range.upperBound]
    result.attempts = UInt32(item.attempts)
    result.unfinishedAttempts = UInt32(item.unfinished)
    result.wasStarted = item.wasStarted
    return true
  }

  @inline(never)
  private func rareEntry(_ item: Item, _ piece: borrowing Piece) -> RecoveredEntry {
    let body = piece.bytes[piece.body(item)]
    guard let head = body.withUnsafeBytes({ RecordReader.head($0) { _, _ in } }),
      let name = piece.names[Int(head.name)], let group = piece.names[Int(head.group)],
      var (entry, _) = RecordReader.entry(head, body, name: name, group: group)
    else { RecoveredEntries.isNotWhole() }
    if item.isMoved, let place = places[item.id] { entry.place = place }
    entry.replaces = nil
    return RecoveredEntry(
      entry: entry, attempts: UInt32(item.attempts), unfinishedAttempts: UInt32(item.unfinished),
      wasStarted: item.wasStarted, death: deaths.isEmpty ? nil : deaths[item.id])
  }
}
