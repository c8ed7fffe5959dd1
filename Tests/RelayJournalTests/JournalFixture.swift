// SPDX-License-Identifier: MIT

import RelayJournal

/// A journal on a disk in memory, and what tests do with it all the time.
struct JournalFixture: Sendable {
  static let path = "/app/outbox"

  let files: MemoryFiles
  var options = JournalOptions()

  init(_ files: MemoryFiles = MemoryFiles()) {
    self.files = files
    options.compactsByItself = false
    options.placeCheckInterval = .seconds(3_600)
  }

  func open(_ fileSystem: FileSystem? = nil) -> JournalOpening {
    Journal.open(
      JournalFixture.path, fileSystem: fileSystem ?? files.fileSystem, options: options)
  }

  /// The payload texts of what waits, as a new process would find them.
  func reopened() -> [String] {
    files.closeAll()
    let opening = open()
    opening.journal?.close()
    return opening.entries.map(\.text)
  }

  /// The only file of records.
  var recordsPath: String {
    let paths = files.paths.filter { $0.hasSuffix(".journal") }
    precondition(paths.count == 1, "\(files.paths)")
    return paths[0]
  }

  static func entry(
    _ id: UInt64, _ text: String, name: String = "receipt.send", group: String = "MailFeature"
  ) -> JournalEntry {
    JournalEntry(
      id: id, place: JournalPlace(run: 1, sequence: id), name: name, group: group,
      acceptedAt: 1_700_000_000_000, payload: ArraySlice(text.utf8))
  }
}

extension RecoveredEntry {
  var text: String { String(decoding: entry.payload, as: UTF8.self) }
}

extension JournalWrite {
  var isWritten: Bool {
    if case .written = self { return true }
    return false
  }

  var isBehind: Bool {
    if case .behind = self { return true }
    return false
  }

  var error: JournalError? {
    if case .failed(let error) = self { return error }
    return nil
  }
}
