// SPDX-License-Identifier: MIT

/// What a journal asks of a disk, as a value: the real one, one in memory, or one that fails.
///
/// Its operations are not public; `RelayTesting` builds faulty ones on it.
public struct FileSystem: Sendable {
  /// Makes a directory and those above it. One that is there is left as it is.
  package var makeDirectory: @Sendable (_ path: String) throws(JournalError) -> Void
  /// Opens a file.
  package var open: @Sendable (_ path: String, _ mode: OpenMode) throws(JournalError) -> OpenFile
  /// Closes a file; its lock is given up. Errors have nobody to go to.
  package var close: @Sendable (_ file: OpenFile) -> Void
  /// Reads up to as many bytes as fit; 0 is the end of the file.
  package var read:
    @Sendable (_ file: OpenFile, _ offset: Int, _ into: UnsafeMutableRawBufferPointer)
      throws(JournalError) -> Int
  /// Writes bytes at an offset, possibly fewer than asked for, but at least one.
  package var write:
    @Sendable (_ file: OpenFile, _ offset: Int, _ bytes: UnsafeRawBufferPointer)
      throws(JournalError) -> Int
  /// Waits until the file's bytes and size are on the medium.
  package var sync: @Sendable (_ file: OpenFile) throws(JournalError) -> Void
  /// Cuts a file, or extends it with zeros.
  package var truncate: @Sendable (_ file: OpenFile, _ size: Int) throws(JournalError) -> Void
  /// Looks at an open file.
  package var status: @Sendable (_ file: OpenFile) throws(JournalError) -> FileStatus
  /// Looks at a path; nil if there is nothing.
  package var statusOfPath: @Sendable (_ path: String) throws(JournalError) -> FileStatus?
  /// Gives a file another name, in the place of what has that name.
  package var rename: @Sendable (_ from: String, _ to: String) throws(JournalError) -> Void
  /// Removes a file, or an empty directory. Nothing there is no error.
  package var remove: @Sendable (_ path: String) throws(JournalError) -> Void
  /// The names in a directory, in no order.
  package var list: @Sendable (_ path: String) throws(JournalError) -> [String]
  /// Takes the exclusive lock of a file without waiting.
  ///
  /// It belongs to this opening of the file and ends with it, at the latest with the process.
  ///
  /// - Returns: whether nobody else has it.
  package var lock: @Sendable (_ file: OpenFile) throws(JournalError) -> Bool
  /// Gives up the lock.
  package var unlock: @Sendable (_ file: OpenFile) throws(JournalError) -> Void
  /// Waits until the names in a directory are on the medium.
  package var syncDirectory: @Sendable (_ path: String) throws(JournalError) -> Void

  /// The disk of this machine.
  public static var disk: FileSystem { Platform.disk }
}

/// How a file is opened.
package enum OpenMode: Hashable, Sendable {
  /// For reading; it has to be there.
  case reading
  /// For reading and writing; it has to be there.
  case writing
  /// For reading and writing; it is made if it is not there.
  case creating
  /// For reading and writing; it is made, or emptied.
  case replacing
}

/// An open file: a number of its file system.
package struct OpenFile: Hashable, Sendable {
  package let number: Int

  package init(number: Int) {
    self.number = number
  }
}

/// What a file system knows about a file.
package struct FileStatus: Hashable, Sendable {
  /// Bytes.
  package var size: Int
  /// Tells two files apart, also when one took the other's name.
  package var identity: FileIdentity
  /// Whether it is a directory.
  package var isDirectory: Bool
  /// Whether it has no name any more.
  package var isUnlinked: Bool

  package init(size: Int, identity: FileIdentity, isDirectory: Bool, isUnlinked: Bool) {
    self.size = size
    self.identity = identity
    self.isDirectory = isDirectory
    self.isUnlinked = isUnlinked
  }
}

/// The device and the number of a file on it.
package struct FileIdentity: Hashable, Sendable {
  package var device: UInt64
  package var number: UInt64

  package init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}
