// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Which library knows which, and what none of them may know.
struct HouseTests {
  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources")

  /// The package's own libraries that each one may import.
  private static let arrows: [String: Set<String>] = [
    "RelayJournal": [],
    "FeatureRelay": ["RelayJournal"],
    "RelayReactor": [],
    "RelayTesting": ["FeatureRelay", "RelayJournal", "RelayReactor"],
    "RelaySwiftUI": ["FeatureRelay", "RelayReactor"],
  ]

  /// The lines of a library's files that are no comments.
  private static func code(of library: String) throws -> [Substring] {
    let folder = sources.appendingPathComponent(library)
    let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    try #require(!files.isEmpty)
    return try files.flatMap { file in
      try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        .split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("//") }
    }
  }

  @Test(arguments: arrows.keys.sorted())
  func arrowsPointOneWay(_ library: String) throws {
    let own = Set(Self.arrows.keys)
    let imported = try Self.code(of: library)
      .filter { $0.contains("import ") }
      .compactMap { $0.split(separator: " ").last.map(String.init) }
      .filter { own.contains($0) }
    #expect(Set(imported) == Self.arrows[library])
  }

  // CC-8: in one release of another system observers were silently not called. What happens to an
  // app comes to a relay through `follow(_:)` and its life-cycle calls.
  @Test(arguments: ["RelayJournal", "FeatureRelay", "RelayReactor"])
  func theCoreLinksNoNotificationCentre(_ library: String) throws {
    #expect(try Self.code(of: library).filter { $0.contains("NotificationCenter") } == [])
  }
}
