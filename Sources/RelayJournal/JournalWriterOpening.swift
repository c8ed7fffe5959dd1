// SPDX-License-Identifier: MIT

/// What came of looking into a directory with its lock taken.
enum WriterOpening {
  case opened(JournalWriter, Recovery)
  case newer(version: Int)
  case unavailable(JournalUnavailability)

  /// What to say about it.
  var outcome: JournalOutcome {
    switch self {
    case .newer(let version): return .newer(version: version)
    case .unavailable(let reason): return .unavailable(reason)
    case .opened(_, let recovery):
      if recovery.isDamaged {
        return .damaged(salvaged: recovery.entries.count, lost: recovery.lost)
      }
      return recovery.entries.isEmpty ? .empty : .recovered(entries: recovery.entries.count)
    }
  }
}

extension JournalWriter {
  /// Takes the lock, reads what is there, and puts the directory in order.
  ///
  /// If it can be read but not written, the journal opens all the same: appends will try again.
  static func open(_ directory: JournalDirectory, _ options: JournalOptions) -> WriterOpening {
    do throws(JournalError) {
      try directory.fileSystem.makeDirectory(directory.path)
      let lock: OwnerLock
      switch try OwnerLock.take(directory) {
      case .taken(let taken): lock = taken
      case .locked(let process): return .unavailable(.locked(process: process))
      }
      let recovery = try Recovery(directory, mode: .writing)
      if let version = recovery.newerVersion { return .newer(version: version) }
      let writer = JournalWriter(directory, options, lock, recovery)
      writer.putInOrder(recovery)
      return .opened(writer, recovery)
    } catch {
      return .unavailable(JournalUnavailability(error))
    }
  }

  private convenience init(
    _ directory: JournalDirectory, _ options: JournalOptions, _ lock: OwnerLock,
    _ recovery: Recovery
  ) {
    self.init(
      directory: directory, options: options, lock: lock, index: recovery.index, older: [],
      active: nil, unknown: recovery.unknown, nextNumber: recovery.nextNumber)
    var files = recovery.files
    if let last = files.last, let active = JournalWriter.continued(last, directory.fileSystem) {
      files.removeLast()
      self.active = active
    }
    replaceOlder(
      files.map { found in
        OlderFile(file: marked(found), size: found.size, names: found.names)
      })
    // A process that died may not have synced what it wrote: the first sync here does.
    dirty = older.map(\.file)
    if let active {
      active.isDirty = true
      dirty.append(active.file)
    }
  }

  /// Goes on with the last file, if nothing speaks against it.
  private static func continued(_ found: Recovery.Found, _ fileSystem: FileSystem) -> Active? {
    guard !found.isDamaged, !found.file.isDamaged, case .header(let header) = found.header,
      header.version == JournalFormat.version, header.kind != .inbox, let scan = found.scan
    else { return nil }
    if scan.end < found.size {
      do { try fileSystem.truncate(found.file.file, scan.end) } catch { return nil }
    }
    return Active(
      file: found.file,
      writer: RecordWriter(
        salt: found.salt, sequence: scan.lastSequence + 1, names: NameNumbers(found.names)),
      end: scan.end)
  }

  /// A damaged file says so in its name from now on, so that it is never removed as superseded.
  private func marked(_ found: Recovery.Found) -> RecordsFile {
    guard found.isDamaged, !found.file.isDamaged else { return found.file }
    let name = FileName.damaged(found.number, found.salt)
    guard (try? directory.rename(found.name, to: name)) != nil,
      let file = try? directory.open(name, .reading)
    else { return found.file }
    return RecordsFile(
      number: found.number, salt: found.salt, file: file, isDamaged: true,
      fileSystem: directory.fileSystem)
  }

  private func putInOrder(_ recovery: Recovery) {
    for name in recovery.superseded {
      if case .damaged = FileName(name) {
        try? directory.quarantine(name, as: name, limit: options.quarantineLimit)
      } else {
        directory.sweep(name)
      }
    }
    for name in recovery.leftovers { directory.sweep(name) }
    for found in recovery.files where found.isDamaged {
      events.append(.quarantined(file: found.name, lost: found.lost))
    }
    do throws(JournalError) {
      if recovery.isDamaged || older.contains(where: \.file.isDamaged) {
        // What could be read is written anew, then the damaged files are put aside.
        var compaction = try Compaction(of: self)
        try compaction.writeBase()
        for name in compaction.finish(self) { directory.sweep(name) }
      }
      if active == nil { try roll() }
    } catch {
      events.append(.failed(error))
    }
  }
}

extension JournalUnavailability {
  init(_ error: JournalError) {
    switch error.code {
    case .notPermitted: self = .notPermitted(error)
    case .locked: self = .locked(process: nil)
    default: self = .failed(error)
    }
  }
}
