// SPDX-License-Identifier: MIT

/// Writes what is live into one new file that takes the place of all files before the active one.
///
/// 1. With the right to write: appends go to a new active file, whose number is above the base's.
/// 2. Without it: the live entries of the older files are copied to a file under another name,
///    synced, and renamed. Killed before the rename the old files rule, after it the new one: a
///    base supersedes all lower numbers.
/// 3. With the right to write: the index points to the new places; older files are let go.
struct Compaction {
  private let directory: JournalDirectory
  private let number: UInt64
  private let sources: [OlderFile]
  private let index: JournalIndex
  private let unknown: [UnknownRecord]
  private let bytesBefore: Int

  private var base: OlderFile?
  private var moved: [(id: UInt64, from: JournalIndex.Item, offset: Int, size: Int)] = []
  private var movedUnknown: [UnknownRecord] = []

  /// Begins: from now on appends go to a file of their own.
  init(of writer: JournalWriter) throws(JournalError) {
    number = writer.nextNumber
    writer.nextNumber += 1
    bytesBefore = writer.bytes
    try writer.roll()
    directory = writer.directory
    sources = writer.older
    index = writer.index
    unknown = writer.unknown
  }

  /// Copies what is live; on an error the old files stay what they were.
  mutating func writeBase() throws(JournalError) {
    let output = try JournalWriter.makeFile(.base, number: number, directory, index)
    do throws(JournalError) {
      for salt in index.inboxes.keys.sorted() {
        output.writer.write(adopted: InboxMark(salt: salt, offset: index.inboxes[salt] ?? 0))
      }
      var items = index.items.all
      items.sort { ($0.item.file, $0.item.offset) < ($1.item.file, $1.item.offset) }
      var next = items[...]
      for source in sources {
        let number = UInt32(truncatingIfNeeded: source.file.number)
        let end = next.firstIndex { $0.item.file != number } ?? next.endIndex
        try copy(next[..<end], from: source, to: output)
        next = next[end...]
        for record in unknown where record.file == source.file.number {
          try copy(record, from: source, to: output)
        }
      }
      try output.flush(directory)
      try directory.fileSystem.sync(output.file.file)
      try directory.rename(
        FileName.new(number, output.file.salt), to: FileName.records(number, output.file.salt))
    } catch {
      directory.sweep(FileName.new(number, output.file.salt))
      throw error
    }
    base = OlderFile(
      file: output.file, size: output.end, names: output.writer.names.texts)
    try directory.fileSystem.syncDirectory(directory.path)
  }

  private mutating func copy(
    _ items: ArraySlice<(id: UInt64, item: JournalIndex.Item)>, from source: OlderFile,
    to output: JournalWriter.Active
  ) throws(JournalError) {
    var window = ReadWindow(source)
    for (id, item) in items {
      let record = try window.record(at: item.offset, Int(item.size))
      guard let (entry, _) = source.entry(record) else {
        throw JournalError(.damaged, operation: "read", file: source.file.name)
      }
      var changed = entry
      changed.replaces = nil
      if item.isMoved, let place = index.places[id] { changed.place = place }
      let offset = output.offset
      output.writer.write(changed, index.state(id, item), at: output.end)
      moved.append((id, item, offset, output.offset - offset))
      if output.writer.buffer.count >= 256 << 10 { try output.flush(directory) }
    }
  }

  private mutating func copy(
    _ record: UnknownRecord, from source: OlderFile, to output: JournalWriter.Active
  ) throws(JournalError) {
    let bytes = try source.file.read(at: record.offset, record.size)
    let offset = output.offset
    bytes.withUnsafeBytes { bytes in
      output.writer.write(
        record.type,
        verbatim: UnsafeRawBufferPointer(rebasing: bytes[JournalFormat.recordHeaderSize...]))
    }
    movedUnknown.append(
      UnknownRecord(
        file: number, offset: offset, size: output.offset - offset, type: record.type))
    if output.writer.buffer.count >= 256 << 10 { try output.flush(directory) }
  }

  /// Puts the base in the place of the older files.
  ///
  /// - Returns: the names of files that nobody needs any more.
  func finish(_ writer: JournalWriter) -> [String] {
    guard let base else { return [] }
    for (id, item, offset, size) in moved {
      writer.index.move(id, from: item, file: number, offset: offset, size: size)
    }
    writer.unknown = movedUnknown + writer.unknown.filter { $0.file > number }
    writer.replaceOlder([base] + writer.older.filter { $0.file.number > number })
    writer.resetCompactionFloor()
    let synced = Set(sources.map(\.file.number))
    writer.dirty.removeAll { synced.contains($0.number) }
    writer.events.append(.compacted(bytesBefore: bytesBefore, bytesAfter: writer.bytes))
    var names: [String] = []
    for source in sources {
      guard source.file.isDamaged else {
        names.append(source.file.name)
        continue
      }
      try? directory.quarantine(
        source.file.name, as: source.file.name, limit: writer.options.quarantineLimit)
    }
    return names
  }
}

extension OlderFile {
  /// The entry of a record that lies in this file, with its state when it was written.
  func entry(_ record: ArraySlice<UInt8>) -> (JournalEntry, EntryState)? {
    let body = record.dropFirst(JournalFormat.recordHeaderSize)
    guard record.withUnsafeBytes({ RecordReader.isWhole($0, salt: file.salt) }),
      let head = body.withUnsafeBytes({ RecordReader.head($0) { _, _ in } }),
      Int(head.name) < names.count, let name = names[Int(head.name)],
      Int(head.group) < names.count, let group = names[Int(head.group)]
    else { return nil }
    return RecordReader.entry(head, body, name: name, group: group)
  }
}

extension JournalWriter.Active {
  /// Where the next record will begin.
  fileprivate var offset: Int { end + writer.buffer.count }

  fileprivate func flush(_ directory: JournalDirectory) throws(JournalError) {
    try directory.write(writer.buffer.bytes, to: file.file, at: end)
    end += writer.buffer.count
    writer.removeAll()
  }
}

/// Reads records that follow each other in larger pieces.
private struct ReadWindow {
  private let source: OlderFile
  private var bytes: [UInt8] = []
  private var start = 0

  init(_ source: OlderFile) {
    self.source = source
  }

  mutating func record(at offset: Int, _ size: Int) throws(JournalError) -> ArraySlice<UInt8> {
    if offset < start || offset + size > start + bytes.count {
      bytes = []
      bytes = try source.file.read(
        at: offset, max(size, min(FileScan.pieceSize, source.size - offset)))
      start = offset
    }
    return bytes[offset - start..<offset - start + size]
  }
}
