// SPDX-License-Identifier: MIT

/// An inbox that is locked by us and whose entries have been read.
private struct ReadInbox {
  var name: String
  var salt: UInt32
  var file: RecordsFile
  var isDamaged: Bool
  var lost: Int
  /// Everything up to there is taken over.
  var end: Int
  /// Those that have not been taken over yet, with their ids in the inbox.
  var entries: [JournalEntry]
}

extension JournalStorage {
  func adoptInboxes(_ makePlace: @escaping @Sendable () -> JournalPlace) throws(JournalError)
    -> JournalAdoption
  {
    try maintain { () throws(JournalError) in
      let (directory, index, phase) = withWriter { ($0.directory, $0.index, $0.phase) }
      guard phase == .open else {
        throw JournalError(phase == .closed ? .closed : .suspended, operation: "adopt")
      }
      var left: [JournalError] = []
      var entries: [RecoveredEntry] = []
      var taken: [ReadInbox] = []
      for name in try directory.list().sorted() {
        guard case .inbox(let salt) = FileName(name) else { continue }
        do throws(JournalError) {
          let inbox = try read(name, salt, directory, index)
          entries += try adopt(inbox, makePlace)
          taken.append(inbox)
        } catch {
          left.append(error)
        }
      }
      // What the inboxes' own processes synced must not be lost by a power cut.
      if !taken.isEmpty, let error = syncNow(isMaintaining: true) {
        return JournalAdoption(entries: entries, left: left + [error], lost: 0)
      }
      for inbox in taken {
        do throws(JournalError) {
          try putAway(inbox, directory)
        } catch {
          left.append(error)
        }
      }
      let lost = taken.reduce(0) { $0 + $1.lost }
      return JournalAdoption(entries: entries, left: left, lost: lost)
    }
  }

  private func read(
    _ name: String, _ salt: UInt32, _ directory: JournalDirectory, _ index: JournalIndex
  ) throws(JournalError) -> ReadInbox {
    let fileSystem = directory.fileSystem
    let file = RecordsFile(
      number: 0, salt: salt, file: try directory.open(name, .writing), fileSystem: fileSystem)
    // Its lock ends with `file`.
    guard try fileSystem.lock(file.file) else {
      throw JournalError(.locked, operation: "adopt", file: name)
    }
    let inbox = try InboxContents(file, name, fileSystem)
    let mark = index.inboxes[salt] ?? 0
    let entries = inbox.entries.filter { offset, entry in
      offset >= mark && index.origins[EntryOrigin(salt: salt, id: entry.id)] == nil
    }
    return ReadInbox(
      name: name, salt: salt, file: file, isDamaged: inbox.isDamaged, lost: inbox.lost,
      end: inbox.end, entries: entries.map(\.entry))
  }

  /// Writes the entries and that they were taken over, by one call.
  private func adopt(_ inbox: ReadInbox, _ makePlace: @Sendable () -> JournalPlace)
    throws(JournalError) -> [RecoveredEntry]
  {
    if inbox.entries.isEmpty { return [] }
    let salt = inbox.salt
    let adopted = inbox.entries.map { entry in
      var changed = entry
      changed.id = makeIdentifier()
      changed.place = makePlace()
      changed.replaces = nil
      return (entry: changed, origin: EntryOrigin(salt: salt, id: entry.id))
    }
    let mark = InboxMark(salt: salt, offset: inbox.end)
    let failure = withWriter { writer -> JournalError? in
      if let refusal = writer.refusal(adopted.lazy.map { .accepted($0.entry) }) { return refusal }
      do throws(JournalError) {
        try writer.adopt(adopted, mark)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    return adopted.map { RecoveredEntry(entry: $0.entry) }
  }

  /// Removes an inbox of which everything is in the journal now.
  private func putAway(_ inbox: ReadInbox, _ directory: JournalDirectory) throws(JournalError) {
    let limit = withWriter(\.options.quarantineLimit)
    if inbox.isDamaged {
      try directory.quarantine(inbox.name, as: inbox.name, limit: limit)
    } else {
      try directory.remove(inbox.name)
    }
    let salt = inbox.salt
    let (isDamaged, name, lost) = (inbox.isDamaged, inbox.name, inbox.lost)
    withWriter { writer in
      writer.index.inboxes[salt] = nil
      if isDamaged { writer.events.append(.quarantined(file: name, lost: lost)) }
    }
  }
}

/// What an inbox's file holds.
struct InboxContents {
  var entries: [(offset: Int, entry: JournalEntry)] = []
  var isDamaged = false
  var lost = 0
  var end = 0

  init(_ file: RecordsFile, _ name: String, _ fileSystem: FileSystem) throws(JournalError) {
    let size = try fileSystem.status(file.file).size
    let first = try file.read(at: 0, min(size, JournalFormat.headerSize))
    let header = first.withUnsafeBytes { FileHeader.read($0) }
    switch header {
    case .newer: throw JournalError(.newer, operation: "adopt", file: name)
    case .unfinished where size <= JournalFormat.headerSize: return
    case .unfinished, .damaged: isDamaged = true
    case .header: break
    }
    let scan = try FileScan(
      salt: file.salt, size: size, start: isDamaged ? 0 : JournalFormat.headerSize
    ) { (offset, buffer) throws(JournalError) in
      try fileSystem.read(file.file, offset, buffer)
    }
    if scan.isNewer { throw JournalError(.newer, operation: "adopt", file: name) }
    end = scan.end
    lost = scan.lost
    isDamaged = isDamaged || !scan.damages.isEmpty
    var names: [String?] = []
    var heads: [(FileScan.Frame, EntryHead)] = []
    for frame in scan.frames where frame.type == .entry {
      let head = scan.withBody(frame) { bytes in
        RecordReader.head(bytes) { number, text in
          while names.count <= number { names.append(nil) }
          if names[Int(number)] == nil { names[Int(number)] = text }
        }
      }
      if let head { heads.append((frame, head)) } else { noteSenseless() }
    }
    for (frame, head) in heads {
      guard Int(head.name) < names.count, let name = names[Int(head.name)],
        Int(head.group) < names.count, let group = names[Int(head.group)],
        let (entry, _) = RecordReader.entry(
          head, scan.body(frame),
          name: name, group: group)
      else {
        noteSenseless()
        continue
      }
      entries.append((frame.offset, entry))
    }
  }

  private mutating func noteSenseless() {
    lost += 1
    isDamaged = true
  }
}
