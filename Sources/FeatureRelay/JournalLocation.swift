// SPDX-License-Identifier: MIT

public import Foundation
package import RelayJournal

/// Where a relay keeps its durable commands.
///
/// ```swift
/// let relay = try Relay(
///   scope: "outbox", journal: .applicationSupport("outbox"), restoring: SendReceipt.self)
/// ```
public struct JournalLocation: Sendable {
  enum Place: Sendable, Hashable {
    case none
    case directory(URL)
    case applicationSupport(String)
    case appGroup(String, name: String)
  }

  let place: Place
  /// What a command survives once it is written.
  public let durability: Durability
  /// Whose commands lie there; nil if it does not matter.
  public private(set) var installation: String?
  /// What the files are reached through; another one in tests.
  package var fileSystem = FileSystem.disk
  /// Which process a test plays: each has its own table of directories.
  package var process = ""
  /// How often a write looks whether the files are still where they were.
  package var placeCheckInterval: Duration = .seconds(1)

  private init(place: Place, durability: Durability) {
    self.place = place
    self.durability = durability
  }

  /// Nowhere: durable commands live in memory.
  public static let none = JournalLocation(place: .none, durability: .inMemory)

  /// A directory of the journal's own; it is made when it is first needed.
  ///
  /// - Parameters:
  ///   - url: the directory.
  ///   - durability: what a command survives by the time it is delivered; `.inMemory` counts as
  ///     `.survivesProcessDeath`.
  public static func directory(
    _ url: URL, durability: Durability = .survivesProcessDeath
  ) -> JournalLocation {
    JournalLocation(
      place: .directory(url), durability: max(durability, .survivesProcessDeath))
  }

  /// The folder `RelayJournals/`*name* where the system keeps an app's own data: Application
  /// Support on Apple platforms, the XDG data home elsewhere.
  ///
  /// - Parameters:
  ///   - name: another one for each relay.
  ///   - durability: what a command survives by the time it is delivered.
  public static func applicationSupport(
    _ name: String, durability: Durability = .survivesProcessDeath
  ) -> JournalLocation {
    JournalLocation(
      place: .applicationSupport(name), durability: max(durability, .survivesProcessDeath))
  }

  /// The folder `RelayJournals/`*name* in the container that an app and its extensions share. Where
  /// the platform or the app has no such container the journal is unavailable.
  ///
  /// - Parameters:
  ///   - identifier: the app group's identifier.
  ///   - name: another one for each relay.
  ///   - durability: what a command survives by the time it is delivered.
  public static func appGroup(
    _ identifier: String, name: String, durability: Durability = .survivesProcessDeath
  ) -> JournalLocation {
    JournalLocation(
      place: .appGroup(identifier, name: name), durability: max(durability, .survivesProcessDeath))
  }
}

extension JournalLocation {
  /// The same place, for commands of one installation of the app only.
  ///
  /// A journal is kept out of backups. Where a copy of it comes to another device all the same, by a
  /// migration or another tool, its commands must not be carried out a second time there: with
  /// another identifier than the one that the journal was written with, everything that lies in it
  /// is ended when it is opened, and ``JournalStatus/otherInstallation(dropped:)`` says so.
  ///
  /// ```swift
  /// let location = JournalLocation.applicationSupport("outbox").ofInstallation(installID)
  /// ```
  ///
  /// - Parameter identifier: the same in all processes of one installation at all times, from a
  ///   place that neither a backup nor a migration takes along; blank traps. A journal that was
  ///   written without one becomes this installation's.
  public func ofInstallation(_ identifier: String) -> JournalLocation {
    if identifier.allSatisfy(\.isWhitespace) {
      mistake("JournalLocation: an installation's identifier must not be blank.")
    }
    var location = self
    location.installation = identifier
    return location
  }

  /// The folder that journals lie in where the system chooses the place.
  private static let folder = "RelayJournals"

  /// What tells two locations apart, without a look at the disk; nil for none.
  var identity: String? {
    switch place {
    case .none: nil
    case .directory(let url): process + url.standardizedFileURL.path
    case .applicationSupport: (try? resolve()) ?? ""
    case .appGroup(let identifier, let name): "group \(identifier) \(name)"
    }
  }

  /// The directory's path. May ask the system, so not on the thread that makes a relay.
  func resolve() throws -> String {
    switch place {
    case .none: throw Unresolved(description: "no place")
    case .directory(let url): return url.standardizedFileURL.path
    case .applicationSupport(let name):
      guard let base = Platform.applicationSupport else {
        throw Unresolved(description: "this platform has no folder for an app's own data")
      }
      return base.appendingPathComponent(Self.folder).appendingPathComponent(name)
        .standardizedFileURL.path
    case .appGroup(let identifier, let name):
      guard let base = Platform.appGroupContainer(identifier) else {
        throw Unresolved(description: "there is no container of the app group \(identifier)")
      }
      return base.appendingPathComponent(Self.folder).appendingPathComponent(name)
        .standardizedFileURL.path
    }
  }

  private struct Unresolved: Error, CustomStringConvertible {
    let description: String
  }
}

/// Which directories the relays of this process have their journals in: the one table of its kind.
/// An entry goes when its relay is closed.
enum JournalDirectories {
  private static let taken = TakenDirectories()

  /// Takes a directory; false when another relay has it.
  static func take(_ location: JournalLocation) -> Bool {
    guard let identity = location.identity else { return true }
    return taken.state.withLock { $0.insert(identity).inserted }
  }

  static func release(_ location: JournalLocation) {
    guard let identity = location.identity else { return }
    _ = taken.state.withLock { $0.remove(identity) }
  }

  /// How many directories are taken.
  static var count: Int { taken.state.withLock { $0.count } }

  /// An object, for the reason given at ``Relay/shared``.
  private final class TakenDirectories: Sendable {
    let state = Lock(Set<String>())
  }
}
