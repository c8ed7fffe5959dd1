// SPDX-License-Identifier: MIT

// What a journal does seldom: erasing, suspending, resuming, adopting, closing.

extension JournalStorage {
  func compact(erasing ids: [UInt64]) throws(JournalError) {
    let failure: JournalError? =
      switch append(ids.map { .ended($0, reason: 0) }, .seconds(3_600)) {
      case .written: nil
      case .behind: JournalError(.behind, operation: "append")
      case .failed(let error): error
      }
    if let failure { throw failure }
    try maintain { () throws(JournalError) in
      try compactNow()
      try withWriter(\.directory).emptyQuarantine()
    }
  }

  func checkPlace() throws(JournalError) {
    let failure = withWriter { writer -> JournalError? in
      do throws(JournalError) { try writer.checkPlace() } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }

  func suspend() throws(JournalError) {
    try maintain { () throws(JournalError) in
      let failure = syncNow(isMaintaining: true)
      let late = withWriter { writer -> JournalError? in
        guard writer.phase == .open else { return nil }
        writer.phase = .suspended
        // What came in since the sync above is little.
        let failure = writer.syncDirty()
        writer.lock = nil
        writer.noteFingerprint()
        return failure
      }
      if let failure = failure ?? late { throw failure }
    }
  }

  func resume() -> JournalResumption {
    // Nothing in it throws.
    let resumption = try? maintain { () throws(JournalError) in resumeNow() }
    return resumption
      ?? JournalResumption(
        outcome: .unavailable(.failed(JournalError(.closed, operation: "resume"))), added: [],
        removed: [])
  }

  private func resumeNow() -> JournalResumption {
    withWriter { [self] writer in
      func answer(_ outcome: JournalOutcome) -> JournalResumption {
        JournalResumption(outcome: outcome, added: [], removed: [])
      }
      switch writer.phase {
      case .closed:
        return answer(.unavailable(.failed(JournalError(.closed, operation: "resume"))))
      case .open: return answer(writer.unchangedOutcome)
      case .suspended: break
      }
      do throws(JournalError) {
        if try writer.takeBack() { return answer(writer.unchangedOutcome) }
      } catch {
        return answer(.unavailable(JournalUnavailability(error)))
      }
      let opening = JournalWriter.open(writer.directory, writer.options)
      guard case .opened(let other, let recovery) = opening else { return answer(opening.outcome) }
      other.index.note(nextIdentifier: writer.index.nextIdentifier, run: writer.index.highestRun)
      raiseIdentifier(to: other.index.nextIdentifier)
      let before = writer.index.items
      writer.letGo()
      replaceWriter(other)
      return JournalResumption(
        outcome: opening.outcome,
        added: recovery.entries.filter { before[$0.entry.id] == nil },
        removed: before.all.map(\.id).filter { other.index.items[$0] == nil }.sorted())
    }
  }

  func close() {
    try? maintain { () throws(JournalError) in
      withWriter { $0.close() }
    }
  }

  func erase() throws(JournalError) {
    try maintain { () throws(JournalError) in
      let failure = withWriter { writer -> JournalError? in
        guard writer.phase != .closed else { return JournalError(.closed, operation: "erase") }
        do throws(JournalError) {
          if writer.lock == nil {
            guard case .taken(let lock) = try OwnerLock.take(writer.directory) else {
              throw JournalError(.locked, operation: "erase", file: JournalFormat.lockName)
            }
            writer.lock = lock
          }
          try writer.directory.erase()
        } catch {
          return error
        }
        writer.close()
        return nil
      }
      if let failure { throw failure }
    }
  }
}

extension JournalDirectory {
  /// Removes what belongs to a journal, the lock's file last; the directory if nothing else is in.
  fileprivate func erase() throws(JournalError) {
    try emptyQuarantine()
    let names = try list()
    for name in names {
      switch FileName(name) {
      case .records, .damaged, .new, .inbox: try remove(name)
      case .lock, .quarantine, .other: break
      }
    }
    try remove(JournalFormat.lockName)
    let isEmpty = names.allSatisfy { FileName($0) != .other }
    if isEmpty { try fileSystem.remove(path) }
  }
}

extension JournalWriter {
  /// Names, sizes and identities of the files when the lock was given up.
  struct Fingerprint: Hashable, Sendable {
    var files: [String: FileStatus]
  }

  fileprivate var unchangedOutcome: JournalOutcome {
    index.items.count == 0 ? .empty : .recovered(entries: index.items.count)
  }

  /// Syncs what has been written, with the right to write.
  fileprivate func syncDirty() -> JournalError? {
    let dirty = takeDirty()
    do throws(JournalError) {
      for file in dirty.files { try directory.fileSystem.sync(file.file) }
      if dirty.directory { try directory.fileSystem.syncDirectory(directory.path) }
      return nil
    } catch {
      mustRewrite = true
      return error
    }
  }

  fileprivate func noteFingerprint() { fingerprint = try? look() }

  /// Takes the lock and goes on if nothing has changed.
  ///
  /// - Returns: false if something has; then the lock is free again.
  fileprivate func takeBack() throws(JournalError) -> Bool {
    guard let fingerprint, try directory.fileSystem.statusOfPath(directory.path) != nil else {
      return false
    }
    guard case .taken(let lock) = try OwnerLock.take(directory) else { return false }
    guard try look() == fingerprint else { return false }
    self.lock = lock
    phase = .open
    return true
  }

  private func look() throws(JournalError) -> Fingerprint {
    var files: [String: FileStatus] = [:]
    for name in try directory.list() {
      switch FileName(name) {
      case .records, .damaged, .new:
        files[name] = try directory.fileSystem.statusOfPath(directory[name])
      case .inbox, .lock, .quarantine, .other: break
      }
    }
    return Fingerprint(files: files)
  }
}
