// SPDX-License-Identifier: MIT

/// A file system that does what another one does, until it is told to fail, hang or die at some
/// operation.
///
/// Operations are counted from 1. What a fault does is decided before the operation is done, by a
/// rule that may look at its number, its kind and the file's name. After a death nothing works any
/// more: for the journal on it, that is what being killed at that operation leaves on disk.
package final class FaultyFiles: Sendable {
  /// An operation that is about to be done.
  package struct Operation: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, CaseIterable, Sendable {
      case makeDirectory, open, close, read, write, sync, truncate, status, statusOfPath, rename
      case remove, list, lock, unlock, syncDirectory
    }

    /// 1, 2, 3 … over all kinds.
    package var number: Int
    package var kind: Kind
    /// The last component of the path.
    package var file: String

    package var description: String { "\(number) \(kind.rawValue) \(file)" }
  }

  /// What happens instead.
  package enum Fault: Sendable {
    /// The system says no; a write has written so many bytes before.
    case fail(JournalError.Code, errno: Int32 = 0, afterBytes: Int = 0)
    /// Nothing works from here on; a write has written so many bytes before.
    case die(afterBytes: Int = 0)
    /// It takes as long as the closure does, and then goes on as usual.
    case hang(@Sendable () -> Void)
    /// A write writes so many bytes and says so.
    case short(bytes: Int)
  }

  private struct State {
    var count = 0
    var isDead = false
    var log: [Operation] = []
    var names: [Int: String] = [:]
    var rule: @Sendable (Operation) -> Fault? = { _ in nil }
  }

  /// What is to be done with an operation.
  private struct Plan {
    /// How many bytes a write may write; nil for all.
    var bytes: Int?
    /// What to throw afterwards.
    var error: JournalError?
    var dies = false
  }

  private let base: FileSystem
  private let state = Lock(State())

  /// Makes one without faults.
  package init(over base: FileSystem) {
    self.base = base
  }

  /// Decides from now on; the last rule counts.
  package func setRule(_ rule: @escaping @Sendable (Operation) -> Fault?) {
    let before = state.withLock { state in
      defer { state.rule = rule }
      return state.rule
    }
    withExtendedLifetime(before) {}
  }

  /// No faults from now on; a dead one stays dead.
  package func clearRule() { setRule { _ in nil } }

  /// How many operations were asked for.
  package var count: Int { state.withLock { $0.count } }

  /// All operations that were asked for, in order.
  package var log: [Operation] { state.withLock { $0.log } }

  /// Whether it has died.
  package var isDead: Bool { state.withLock { $0.isDead } }
}

extension FaultyFiles {
  /// Counts an operation and does what the rule says before it.
  ///
  private func before(_ kind: Operation.Kind, _ file: String) throws(JournalError)
    -> Plan
  {
    let (operation, rule, isDead) = state.withLock { state in
      state.count += 1
      let operation = Operation(
        number: state.count, kind: kind, file: String(file.split(separator: "/").last ?? ""))
      state.log.append(operation)
      return (operation, state.rule, state.isDead)
    }
    let dead = JournalError(.inputOutput, operation: "\(kind)", file: file)
    if isDead { throw dead }
    switch rule(operation) {
    case nil: return Plan()
    case .fail(let code, let errno, let bytes):
      let error = JournalError(code, operation: kind.rawValue, file: file, errno: errno)
      if kind == .write, bytes > 0 { return Plan(bytes: bytes, error: error) }
      throw error
    case .die(let bytes):
      if kind == .write, bytes > 0 { return Plan(bytes: bytes, error: dead, dies: true) }
      state.withLock { $0.isDead = true }
      throw dead
    case .hang(let wait):
      wait()
      return Plan()
    case .short(let bytes): return Plan(bytes: bytes)
    }
  }

  private func name(_ file: OpenFile) -> String {
    state.withLock { $0.names[file.number] ?? "" }
  }

  private func write(_ file: OpenFile, _ offset: Int, _ bytes: UnsafeRawBufferPointer)
    throws(JournalError) -> Int
  {
    let plan = try before(.write, name(file))
    guard let limit = plan.bytes else { return try base.write(file, offset, bytes) }
    let some = UnsafeRawBufferPointer(rebasing: bytes.prefix(limit))
    let count = try base.write(file, offset, some)
    if plan.dies { state.withLock { $0.isDead = true } }
    if let error = plan.error { throw error }
    return count
  }

  /// The file system to give to a journal.
  package var fileSystem: FileSystem {
    let base = base
    return FileSystem(
      makeDirectory: { path throws(JournalError) in
        _ = try self.before(.makeDirectory, path)
        try base.makeDirectory(path)
      },
      open: { path, mode throws(JournalError) in
        _ = try self.before(.open, path)
        let file = try base.open(path, mode)
        self.state.withLock { $0.names[file.number] = path }
        return file
      },
      close: { file in
        // Closing says nothing; a dead process' files are closed by the system.
        _ = try? self.before(.close, self.name(file))
        base.close(file)
      },
      read: { file, offset, buffer throws(JournalError) in
        _ = try self.before(.read, self.name(file))
        return try base.read(file, offset, buffer)
      },
      write: { file, offset, bytes throws(JournalError) in try self.write(file, offset, bytes) },
      sync: { file throws(JournalError) in
        _ = try self.before(.sync, self.name(file))
        try base.sync(file)
      },
      truncate: { file, size throws(JournalError) in
        _ = try self.before(.truncate, self.name(file))
        try base.truncate(file, size)
      },
      status: { file throws(JournalError) in
        _ = try self.before(.status, self.name(file))
        return try base.status(file)
      },
      statusOfPath: { path throws(JournalError) in
        _ = try self.before(.statusOfPath, path)
        return try base.statusOfPath(path)
      },
      rename: { from, to throws(JournalError) in
        _ = try self.before(.rename, from)
        try base.rename(from, to)
        self.state.withLock { state in
          for (number, name) in state.names where name == from { state.names[number] = to }
        }
      },
      remove: { path throws(JournalError) in
        _ = try self.before(.remove, path)
        try base.remove(path)
      },
      list: { path throws(JournalError) in
        _ = try self.before(.list, path)
        return try base.list(path)
      },
      lock: { file throws(JournalError) in
        _ = try self.before(.lock, self.name(file))
        return try base.lock(file)
      },
      unlock: { file throws(JournalError) in
        _ = try self.before(.unlock, self.name(file))
        try base.unlock(file)
      },
      syncDirectory: { path throws(JournalError) in
        _ = try self.before(.syncDirectory, path)
        try base.syncDirectory(path)
      })
  }
}
