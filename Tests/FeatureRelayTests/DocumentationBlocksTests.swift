// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What README.md and the articles show is what the tests of documentation run.
struct DocumentationBlocksTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The libraries with articles, and the files in Tests that run their code.
  private static let libraries = [
    "FeatureRelay": [
      "FeatureRelayTests/DocumentationTests.swift",
      "FeatureRelayTests/DocumentationMoreTests.swift",
      "FeatureRelayTests/DocumentationDurableTests.swift",
    ],
    "RelayReactor": ["RelayReactorTests/ReactorDocumentationTests.swift"],
  ]

  private static func articles(of library: String) -> URL {
    root.appendingPathComponent("Sources/\(library)/\(library).docc")
  }

  /// The lines that count: not how far they stand to the right, no empty ones, no imports.
  private static func essence(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
  }

  private static func blocks(in text: String) -> [[String]] {
    text.matches(of: /(?s)```swift\n(.*?)```/).map { essence($0.output.1) }
  }

  static var pages: [URL] {
    get throws {
      let all = try libraries.keys.sorted().flatMap { library in
        try FileManager.default
          .contentsOfDirectory(at: articles(of: library), includingPropertiesForKeys: nil)
          .filter { $0.pathExtension == "md" }
          .sorted { $0.path < $1.path }
      }
      return [root.appendingPathComponent("README.md")] + all
    }
  }

  @Test func everyBlockIsRunByATest() throws {
    let tests = try Self.libraries.values.joined().map { name in
      let file = Self.root.appendingPathComponent("Tests/\(name)")
      return Self.essence(try String(contentsOf: file, encoding: .utf8)).joined(separator: "\n")
    }
    var count = 0
    for page in try Self.pages {
      for block in Self.blocks(in: try String(contentsOf: page, encoding: .utf8)) {
        count += 1
        #expect(
          tests.contains { $0.contains("\n" + block.joined(separator: "\n") + "\n") },
          "\(page.lastPathComponent) shows what no test runs: \(block.first ?? "")")
      }
    }
    #expect(count >= 30, "only \(count) blocks were found: are the pages where they were?")
  }

  @Test(arguments: [("FeatureRelay", 30), ("RelayReactor", 12)])
  func theLandingPageNamesEveryPublicType(library: String, least: Int) throws {
    let articles = Self.articles(of: library)
    let landing = try String(
      contentsOf: articles.appendingPathComponent("\(library).md"), encoding: .utf8)
    let files = try FileManager.default
      .contentsOfDirectory(
        at: articles.deletingLastPathComponent(), includingPropertiesForKeys: nil
      )
      .filter { $0.pathExtension == "swift" }
    let declaration = /(?m)^public (?:final class|class|struct|enum|protocol|actor) (\w+)/
    let names = try files.flatMap { file in
      try String(contentsOf: file, encoding: .utf8).matches(of: declaration).map { $0.output.1 }
    }
    #expect(names.count >= least)
    for name in names {
      #expect(landing.contains("- ``\(name)``"), "\(name) has no place on the landing page")
    }
  }

  @Test func aBlockThatDriftsIsFound() {
    let text = "a\n```swift\nimport FeatureRelay\n\n  let a = 1\n```\nb\n```swift\nlet b = 2\n```\n"
    #expect(Self.blocks(in: text) == [["let a = 1"], ["let b = 2"]])
  }
}
