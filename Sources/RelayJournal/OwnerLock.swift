// SPDX-License-Identifier: MIT

/// The right to write in a directory: a lock that ends with the process, and its id for people.
final class OwnerLock: Sendable {
  private let file: OpenFile
  private let fileSystem: FileSystem
  private let isHeld: Bool

  private init(_ file: OpenFile, _ fileSystem: FileSystem, isHeld: Bool) {
    self.file = file
    self.fileSystem = fileSystem
    self.isHeld = isHeld
  }

  deinit {
    // Closing alone would not do: a child process that is just being started has the file as well,
    // until it becomes another program, and the lock would stay for as long.
    if isHeld { try? fileSystem.unlock(file) }
    fileSystem.close(file)
  }

  enum Taking {
    case taken(OwnerLock)
    case locked(process: Int32?)
  }

  /// Takes the lock without waiting.
  static func take(_ directory: JournalDirectory) throws(JournalError) -> Taking {
    let fileSystem = directory.fileSystem
    // Whoever erases a journal removes the file: then there is a new one to lock.
    for _ in 0..<8 {
      let file = try directory.open(JournalFormat.lockName, .creating)
      let isFree: Bool
      do throws(JournalError) {
        isFree = try fileSystem.lock(file)
      } catch {
        fileSystem.close(file)
        throw error
      }
      let lock = OwnerLock(file, fileSystem, isHeld: isFree)
      guard isFree else { return .locked(process: lock.process()) }
      let there = try fileSystem.statusOfPath(directory[JournalFormat.lockName])
      if try there?.identity == fileSystem.status(file).identity {
        lock.sign()
        return .taken(lock)
      }
    }
    return .locked(process: nil)
  }

  /// Whether the lock is still the one that others see.
  func isInPlace(_ directory: JournalDirectory) throws(JournalError) -> Bool {
    let there = try fileSystem.statusOfPath(directory[JournalFormat.lockName])
    return try there?.identity == fileSystem.status(file).identity
  }

  /// The process that wrote its id last.
  static func process(_ directory: JournalDirectory) -> Int32? {
    guard let file = try? directory.open(JournalFormat.lockName, .reading) else { return nil }
    return OwnerLock(file, directory.fileSystem, isHeld: false).process()
  }

  private func process() -> Int32? {
    text().flatMap { Int32($0) }
  }

  private func text() -> String? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = bytes.withUnsafeMutableBytes { buffer in try? fileSystem.read(file, 0, buffer) }
    guard let count else { return nil }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init)
  }

  /// Takes the process id out again: nobody owns it now.
  func unsign() { try? fileSystem.truncate(file, 0) }

  /// Writes the process id, unless it is there. It is for people: the lock holds without it.
  private func sign() {
    let id = "\(Platform.processIdentifier)"
    guard text() != id else { return }
    let line = Array((id + "\n").utf8)
    try? fileSystem.truncate(file, 0)
    _ = try? line.withUnsafeBytes { bytes in try fileSystem.write(file, 0, bytes) }
  }
}
