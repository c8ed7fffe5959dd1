// SPDX-License-Identifier: MIT

internal import Dispatch

/// A file of its own beside a journal, for a process that does not own it: a share extension, a
/// second copy. The owner takes over what is in it with ``Journal/adoptInboxes(makePlace:)``.
///
/// The directory has to be there; nothing else in it is touched. Each append locks the file for
/// its own duration only, so that a suspended process holds no lock.
package final class JournalInbox: Sendable {
  private struct State {
    var isClosed = false
    var file: RecordsFile?
    /// Where the next record goes, and its number.
    var end = 0
    var sequence: UInt32 = 1
  }

  private let directory: JournalDirectory
  private let options: JournalOptions
  private let state = Lock(State())
  /// The right to write, a token: no lock is held while the disk works.
  private let turn = DispatchSemaphore(value: 1)

  /// Makes an inbox; no disk work before the first append.
  package init(
    _ directory: String, fileSystem: FileSystem = .disk, options: JournalOptions = JournalOptions()
  ) {
    self.directory = JournalDirectory(directory, fileSystem)
    self.options = options
  }

  /// Writes an entry; the owner will give it an id and a place of its own.
  ///
  /// - Throws: why it was not written; nothing of it is left then.
  package func append(_ entry: JournalEntry) throws(JournalError) {
    guard entry.payload.count <= options.payloadLimit else {
      throw JournalError(.tooLarge, operation: "append")
    }
    try inTurn { () throws(JournalError) in
      if state.withLock({ $0.isClosed }) { throw JournalError(.closed, operation: "append") }
      let file = try lockedFile()
      defer { try? directory.fileSystem.unlock(file.file) }
      try write(entry, to: file)
    }
  }

  /// Makes sure that what was appended is on the medium.
  package func sync() throws(JournalError) {
    try inTurn { () throws(JournalError) in
      guard let file = state.withLock({ $0.file }) else { return }
      try directory.fileSystem.sync(file.file)
      try directory.fileSystem.syncDirectory(directory.path)
    }
  }

  /// Closes the file; what is in it stays for the owner.
  package func close() {
    state.withLock { $0.isClosed = true }
    letGo()
  }

  private func inTurn(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    let limit = Int(clamping: min(options.waitLimit.nanoseconds, .max / 4))
    guard turn.wait(timeout: .now() + .nanoseconds(limit)) == .success else {
      throw JournalError(.behind, operation: "append", file: "inbox")
    }
    defer { turn.signal() }
    try body()
  }

  /// The file with its lock taken. If the owner has adopted and removed it, a new one is made.
  private func lockedFile() throws(JournalError) -> RecordsFile {
    let fileSystem = directory.fileSystem
    for _ in 0..<8 {
      if let file = state.withLock({ $0.file }) {
        // The owner locks it while it adopts, and removes it before it unlocks.
        if try fileSystem.lock(file.file) {
          let name = FileName.inbox(file.salt, process: Platform.processIdentifier)
          let there = try fileSystem.statusOfPath(directory[name])
          if try there?.identity == fileSystem.status(file.file).identity { return file }
        }
        letGo()
      }
      let salt = UInt32.random(in: 0...UInt32.max)
      let name = FileName.inbox(salt, process: Platform.processIdentifier)
      let file = RecordsFile(
        number: 0, salt: salt, file: try directory.open(name, .creating), fileSystem: fileSystem)
      state.withLock { state in
        state.file = file
        state.end = 0
        state.sequence = 1
      }
    }
    throw JournalError(.locked, operation: "append", file: "inbox")
  }

  private func letGo() {
    let file = state.withLock { state in
      defer { state.file = nil }
      return state.file
    }
    withExtendedLifetime(file) {}
  }

  /// Appends one record behind the last whole one; the lock is held.
  private func write(_ entry: JournalEntry, to file: RecordsFile) throws(JournalError) {
    let (end, sequence) = state.withLock { ($0.end, $0.sequence) }
    guard end + entry.payload.count <= options.sizeLimit else {
      throw JournalError(.full, operation: "append", file: "inbox")
    }
    var writer = RecordWriter(salt: file.salt, sequence: sequence)
    if end == 0 {
      writer.write(
        FileHeader(
          salt: file.salt, number: 0, kind: .inbox, nextIdentifier: 0, run: 0,
          madeAt: Platform.wallMilliseconds()))
    }
    writer.write(.accepted(entry), at: end)
    do throws(JournalError) {
      try directory.write(writer.buffer.bytes, to: file.file, at: end)
    } catch {
      do throws(JournalError) {
        try directory.fileSystem.truncate(file.file, end)
      } catch {
        // Nothing is written behind garbage: the next append begins a new file.
        letGo()
      }
      throw error
    }
    let newEnd = end + writer.buffer.count
    state.withLock { state in
      state.end = newEnd
      state.sequence = sequence + 1
    }
  }
}
