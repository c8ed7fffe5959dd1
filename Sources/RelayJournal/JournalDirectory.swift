// SPDX-License-Identifier: MIT

/// A journal's directory on its file system.
struct JournalDirectory: Sendable {
  let path: String
  let fileSystem: FileSystem

  init(_ path: String, _ fileSystem: FileSystem) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
    self.fileSystem = fileSystem
  }

  subscript(_ name: String) -> String { path + "/" + name }

  func open(_ name: String, _ mode: OpenMode) throws(JournalError) -> OpenFile {
    try fileSystem.open(self[name], mode)
  }

  func remove(_ name: String) throws(JournalError) { try fileSystem.remove(self[name]) }

  /// Removes what is in nobody's way: if it cannot be done now, the next start does it.
  func sweep(_ name: String) { try? fileSystem.remove(self[name]) }

  func rename(_ name: String, to other: String) throws(JournalError) {
    try fileSystem.rename(self[name], self[other])
  }

  func list() throws(JournalError) -> [String] { try fileSystem.list(path) }

  /// Writes all the bytes at an offset, by one call where the system takes them in one.
  func write(_ bytes: UnsafeRawBufferPointer, to file: OpenFile, at offset: Int)
    throws(JournalError)
  {
    var done = 0
    while done < bytes.count {
      let count = try fileSystem.write(
        file, offset + done, UnsafeRawBufferPointer(rebasing: bytes[done...]))
      guard count > 0 else { throw JournalError(.inputOutput, operation: "write") }
      done += count
    }
  }

  /// Puts a damaged file aside, and removes the oldest ones beyond the limit.
  func quarantine(_ name: String, as newName: String, limit: Int) throws(JournalError) {
    guard limit > 0 else { return try remove(name) }
    try fileSystem.makeDirectory(self[JournalFormat.quarantineName])
    try rename(name, to: JournalFormat.quarantineName + "/" + newName)
    let names = try fileSystem.list(self[JournalFormat.quarantineName]).sorted()
    for name in names.dropLast(limit) { sweep(JournalFormat.quarantineName + "/" + name) }
  }

  /// Removes all damaged files that were put aside.
  func emptyQuarantine() throws(JournalError) {
    let path = self[JournalFormat.quarantineName]
    guard try fileSystem.statusOfPath(path) != nil else { return }
    for name in try fileSystem.list(path) { try fileSystem.remove(path + "/" + name) }
    try fileSystem.remove(path)
  }
}
