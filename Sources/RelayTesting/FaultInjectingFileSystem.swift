// SPDX-License-Identifier: MIT

public import FeatureRelay
internal import Foundation
package import RelayJournal

/// A disk for relays with a journal that counts, fails and dies as a test tells it to.
///
/// ```swift
/// let disk = FaultInjectingFileSystem()
/// let relay = Relay.testing(journal: .on(disk), restoring: SendReceipt.self)
/// disk.fail(.write, with: .noSpace)
/// ```
///
/// It is in memory, so that no test meets another one's files. Callable from any thread.
public final class FaultInjectingFileSystem: Sendable {
  /// What a journal asks of a disk.
  public enum Operation: String, Sendable, CaseIterable {
    /// Opening a file.
    case open
    /// Reading from one.
    case read
    /// Writing to one.
    case write
    /// Waiting until a file is on the medium.
    case sync
    /// Giving a file another's place.
    case rename
    /// Removing a file.
    case remove
    /// Taking the lock of a directory.
    case lock
  }

  /// What the system answers.
  public enum Failure: Sendable, CaseIterable {
    /// No space is left.
    case noSpace
    /// The medium failed.
    case inputOutput
    /// The system does not allow it: a protected file before the first unlock, for example.
    case notPermitted
  }

  private struct State {
    /// Nil on the real disk.
    var files: MemoryFiles?
    var faulty: FaultyFiles
  }

  private let state: SeenMutex<State>

  /// Makes an empty disk in memory.
  public init() {
    let files = MemoryFiles()
    state = SeenMutex(State(files: files, faulty: FaultyFiles(over: files.fileSystem)))
  }

  /// Makes one over the real disk.
  init(over fileSystem: FileSystem) {
    state = SeenMutex(State(files: nil, faulty: FaultyFiles(over: fileSystem)))
  }

  /// A place on the disk for a relay's journal.
  ///
  /// - Parameters:
  ///   - path: the directory. Relays that live at the same time need different ones, on different
  ///     disks too.
  ///   - durability: what a command survives by the time it is delivered.
  public func location(
    _ path: String, durability: Durability = .survivesProcessDeath
  ) -> JournalLocation {
    var location = JournalLocation.directory(URL(fileURLWithPath: path), durability: durability)
    location.fileSystem = faulty.fileSystem
    location.placeCheckInterval = .zero
    return location
  }
}

// MARK: Faults

extension FaultInjectingFileSystem {
  /// Fails every operation of a kind from now on, in place of what it was told before.
  ///
  /// - Parameters:
  ///   - operation: the kind.
  ///   - failure: what the system answers.
  ///   - successes: how many of them succeed before.
  public func fail(
    _ operation: Operation = .write, with failure: Failure = .noSpace, after successes: Int = 0
  ) {
    let left = SeenMutex(successes)
    let code = failure.code
    let kind = operation.kind
    faulty.setRule { asked in
      guard asked.kind == kind else { return nil }
      let isLeft = left.withLock { left in
        defer { left -= 1 }
        return left > 0
      }
      return isLeft ? nil : .fail(code)
    }
  }

  /// Lets everything work again.
  public func heal() { faulty.clearRule() }

  /// The process dies: what it wants to write from here on is lost. Relays that are made after that
  /// see what is there now.
  public func kill() {
    let dead = state.withLock { state in
      let dead = state.faulty
      if let files = state.files?.copy() {
        state.files = files
        state.faulty = FaultyFiles(over: files.fileSystem)
      } else {
        state.faulty = FaultyFiles(over: .disk)
      }
      return dead
    }
    dead.setRule { _ in .die() }
  }

  /// The power goes, and with it the process: what was not synced is lost. The real disk keeps its
  /// power: there it is ``kill()``.
  public func losePower() {
    kill()
    files?.losePower()
  }

  /// How many operations of a kind there were since the last death.
  public func operationCount(_ operation: Operation) -> Int { count(operation.kind) }
}

// MARK: For tests of the library

extension FaultInjectingFileSystem {
  /// What the disk is seen through: faults, counts.
  package var faulty: FaultyFiles { state.withLock { $0.faulty } }

  /// What lies on it; nil on the real disk.
  package var files: MemoryFiles? { state.withLock { $0.files } }

  /// How many system calls of a kind there were.
  package func count(_ kind: FaultyFiles.Operation.Kind) -> Int {
    faulty.log.count { $0.kind == kind }
  }

  /// Fails every write from now on.
  package func failWrites(_ code: JournalError.Code = .noSpace) {
    faulty.setRule { $0.kind == .write ? .fail(code) : nil }
  }

  /// Lets operations of a kind take as long as the closure does.
  package func hang(
    _ kind: FaultyFiles.Operation.Kind, _ wait: @escaping @Sendable () -> Void
  ) {
    faulty.setRule { $0.kind == kind ? .hang(wait) : nil }
  }
}

extension FaultInjectingFileSystem.Operation {
  fileprivate var kind: FaultyFiles.Operation.Kind {
    switch self {
    case .open: .open
    case .read: .read
    case .write: .write
    case .sync: .sync
    case .rename: .rename
    case .remove: .remove
    case .lock: .lock
    }
  }
}

extension FaultInjectingFileSystem.Failure {
  fileprivate var code: JournalError.Code {
    switch self {
    case .noSpace: .noSpace
    case .inputOutput: .inputOutput
    case .notPermitted: .notPermitted
    }
  }
}
