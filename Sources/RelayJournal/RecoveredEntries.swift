// SPDX-License-Identifier: MIT

/// What an opening has found, in the order of acceptance: read as a whole, taken apart one by one.
///
/// Whoever goes through it once pays for each entry once, and no memory for all of them together.
/// It keeps the bytes of the files in memory for as long as it lives.
package struct RecoveredEntries: Sendable {
  /// Where an entry is and what has happened to it.
  struct Item: Sendable {
    var place: JournalPlace
    var id: UInt64
    var file: UInt32
    var frame: UInt32
    var attempts: UInt16 = 0
    var unfinished: UInt16 = 0
    var wasStarted = false
  }

  /// A file's records and what their numbers for names stand for.
  final class Source: Sendable {
    let frames: [FileScan.Frame]
    let pieces: [[UInt8]]
    let names: [String?]

    init(_ scan: FileScan, _ names: [String?]) {
      frames = scan.frames
      pieces = scan.pieces
      self.names = names
    }
  }

  fileprivate let items: [Item]
  private let sources: [Source]
  private let deaths: [UInt64: JournalDeath]

  init(_ items: [Item] = [], _ sources: [Source] = [], deaths: [UInt64: JournalDeath] = [:]) {
    self.items = items
    self.sources = sources
    self.deaths = deaths
  }
}

extension RecoveredEntries: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { items.count }

  package subscript(_ position: Int) -> RecoveredEntry {
    let item = items[position]
    let source = sources[Int(item.file)]
    let frame = source.frames[Int(item.frame)]
    let piece = source.pieces[Int(frame.piece)]
    let plain = piece.withUnsafeBytes { bytes in
      RecordReader.plain(UnsafeRawBufferPointer(rebasing: bytes[frame.body]))
    }
    if let (head, acceptedAt, payloadStart) = plain, let name = source.names[Int(head.name)],
      let group = source.names[Int(head.group)]
    {
      // Most are like this: nothing is made that is not returned.
      return RecoveredEntry(
        entry: JournalEntry(
          id: head.id, place: item.place, name: name, group: group, priority: head.priority,
          acceptedAt: acceptedAt,
          payload: piece[frame.body.lowerBound + payloadStart..<frame.body.upperBound]),
        attempts: UInt32(item.attempts), unfinishedAttempts: UInt32(item.unfinished),
        wasStarted: item.wasStarted, death: deaths.isEmpty ? nil : deaths[item.id])
    }
    let body = piece[frame.body]
    // All of this was looked at when the file was read.
    guard let head = body.withUnsafeBytes({ RecordReader.head($0) { _, _ in } }),
      let name = source.names[Int(head.name)],
      let group = source.names[Int(head.group)],
      var (entry, _) = RecordReader.entry(head, body, name: name, group: group)
    else { preconditionFailure("A record that was whole is not any more.") }
    entry.place = item.place
    entry.replaces = nil
    return RecoveredEntry(
      entry: entry, attempts: UInt32(item.attempts), unfinishedAttempts: UInt32(item.unfinished),
      wasStarted: item.wasStarted, death: deaths.isEmpty ? nil : deaths[item.id])
  }
}
