// SPDX-License-Identifier: MIT

internal import FeatureRelay
internal import Foundation
internal import RelayJournal

/// Where a relay for a test keeps its durable commands.
public struct TestJournal: Sendable {
  enum Kind: Sendable {
    case none
    case temporary
    case on(FaultInjectingFileSystem)
  }

  let kind: Kind

  /// Nowhere: durable commands live in memory.
  public static let none = TestJournal(kind: .none)

  /// A directory of the test's own on the real disk, which is removed when the test ends, or with
  /// the last relay on it.
  public static let temporary = TestJournal(kind: .temporary)

  /// A disk in memory of the test's own.
  public static var inMemory: TestJournal { .on(FaultInjectingFileSystem()) }

  /// A disk that fails as the test tells it to.
  public static func on(_ disk: FaultInjectingFileSystem) -> TestJournal {
    TestJournal(kind: .on(disk))
  }
}

/// The directory of one relay and of those that are relaunched on it.
final class TestJournalPlace: Sendable {
  private let disk: FaultInjectingFileSystem
  let path: String
  private let isTemporary: Bool

  init?(_ journal: TestJournal) {
    let name = "relay-test-\(UUID().uuidString)"
    switch journal.kind {
    case .none: return nil
    case .temporary:
      disk = FaultInjectingFileSystem(over: .disk)
      path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
      isTemporary = true
    case .on(let disk):
      self.disk = disk
      // A process has each directory once, whatever disk it is on.
      path = "/\(name)"
      isTemporary = false
    }
  }

  deinit { remove() }

  var location: JournalLocation { disk.location(path) }

  func kill() { disk.kill() }

  /// Removes the directory, where it is on the real disk.
  func remove() {
    // Nothing was written where nothing durable was dispatched.
    if isTemporary { try? FileManager.default.removeItem(atPath: path) }
  }
}
