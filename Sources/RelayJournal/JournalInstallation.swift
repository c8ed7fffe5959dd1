// SPDX-License-Identifier: MIT

extension JournalStorage {
  /// Makes the journal that of one installation. A death at any point leaves it the former one's,
  /// with what that one had, or with nothing.
  func claim(for installation: String) throws(JournalError) -> Int? {
    let directory = withWriter { $0.directory }
    let mine = Array(installation.utf8)
    let written = try directory.contents(of: JournalFormat.installationName, atMost: mine.count + 1)
    if written == mine { return nil }
    var dropped: Int?
    if written != nil {
      // What other processes of that installation have left goes the same way: all of it, or it
      // would be taken for this one's later.
      let inboxes = try adoptInboxes { JournalPlace(run: 0, sequence: 0) }
      if let error = inboxes.left.first { throw error }
      let statistics = withWriter { $0.statistics }
      dropped = statistics.live + statistics.dead
      switch append([.barrier], nil) {
      case .written: break
      case .behind: throw JournalError(.behind, operation: "claim")
      case .failed(let error): throw error
      }
      if let error = syncNow() { throw error }
      try compact()
    }
    try directory.replace(JournalFormat.installationName, with: mine)
    return dropped
  }
}

extension JournalDirectory {
  /// The first bytes of a small file; nil if it is not there.
  fileprivate func contents(of name: String, atMost limit: Int) throws(JournalError) -> [UInt8]? {
    guard try fileSystem.statusOfPath(self[name]) != nil else { return nil }
    let file = try open(name, .reading)
    defer { fileSystem.close(file) }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 1)
    defer { bytes.deallocate() }
    var end = 0
    while end < limit {
      let count = try fileSystem.read(
        file, end, UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
      if count == 0 { break }
      end += count
    }
    return Array(bytes[..<end])
  }

  /// Writes a small file, whole or not at all.
  fileprivate func replace(_ name: String, with bytes: [UInt8]) throws(JournalError) {
    let new = name + ".new"
    let file = try open(new, .replacing)
    do throws(JournalError) {
      defer { fileSystem.close(file) }
      try write(bytes, to: file)
      try fileSystem.sync(file)
    } catch {
      sweep(new)
      throw error
    }
    try rename(new, to: name)
    try fileSystem.syncDirectory(path)
  }

  private func write(_ bytes: [UInt8], to file: OpenFile) throws(JournalError) {
    var failure: JournalError?
    bytes.withUnsafeBytes { bytes in
      do throws(JournalError) {
        try write(bytes, to: file, at: 0)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}
