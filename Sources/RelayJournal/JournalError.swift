// SPDX-License-Identifier: MIT

/// What went wrong with a journal: which operation on which file, and what the system said.
///
/// It never carries payloads, keys or whole paths.
package struct JournalError: Error, Hashable, Sendable {
  /// The kind of fault.
  package let code: Code
  /// What was being done: "open", "write", "sync" …
  package let operation: String
  /// The last component of the path, or an empty string.
  package let file: String
  /// The system's error number, or 0 where the system was not asked.
  package let errno: Int32

  package init(_ code: Code, operation: String, file: String = "", errno: Int32 = 0) {
    self.code = code
    self.operation = operation
    self.file = String(file.split(separator: "/").last ?? "")
    self.errno = errno
  }
}

extension JournalError {
  /// A kind of fault. More may come.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// The medium failed in some way that has no code of its own.
    package static let inputOutput = Code(description: "the disk failed")
    /// No space is left, or no more of the user's quota.
    package static let noSpace = Code(description: "no space is left")
    /// The system does not allow it (now: a protected file before the first unlock).
    package static let notPermitted = Code(description: "the system does not permit it")
    /// There is no such file or directory.
    package static let notFound = Code(description: "it does not exist")
    /// The path leads to something that is not a directory, or not a file.
    package static let wrongKind = Code(description: "it is not a directory")
    /// A directory without any file of a journal.
    package static let notAJournal = Code(description: "there is no journal in it")
    /// Another process, or another journal of this one, holds the lock.
    package static let locked = Code(description: "another owner holds it")
    /// What was written before cannot be read back.
    package static let damaged = Code(description: "it is damaged")
    /// A later version of the format.
    package static let newer = Code(description: "it was written by a newer version")
    /// The journal has reached its size limit.
    package static let full = Code(description: "the journal is full")
    /// One entry is larger than the format or the options allow.
    package static let tooLarge = Code(description: "the entry is too large")
    /// Too many bytes wait for a disk that does not answer.
    package static let behind = Code(description: "too much waits for the disk")
    /// The journal was closed.
    package static let closed = Code(description: "the journal is closed")
    /// The journal has given up its lock until it is resumed.
    package static let suspended = Code(description: "the journal is suspended")
    /// There is no way to do it on this platform.
    package static let unsupported = Code(description: "this platform has no way to do it")
  }
}

extension JournalError: CustomStringConvertible {
  /// The operation, the file, what happened, and the error number where there is one.
  package var description: String {
    let place = file.isEmpty ? operation : "\(operation) \(file)"
    return errno == 0
      ? "\(place): \(code.description)" : "\(place): \(code.description) (errno \(errno))"
  }
}
