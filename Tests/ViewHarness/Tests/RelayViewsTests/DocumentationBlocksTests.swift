// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What the articles show is what is compiled: here, and against the stubs for UIKit.
struct DocumentationBlocksTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let articles = root.appendingPathComponent(
    "Sources/RelaySwiftUI/RelaySwiftUI.docc")

  private static func files(in folder: URL, _ kind: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == kind }.sorted { $0.path < $1.path }
  }

  /// The lines that count: not how far they stand to the right, no empty ones, no imports.
  private static func essence(_ text: some StringProtocol) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") }.joined(separator: "\n")
  }

  @Test func everyBlockIsCompiled() throws {
    let sources =
      try Self.files(in: Self.tests, "swift") + [
        Self.root.appendingPathComponent("Tests/AppleStubs/Snippets/UIKitSnippets.swift"),
        Self.root.appendingPathComponent(
          "Tests/Samples/RepositorySearch/RepositorySearchView.swift"),
      ]
    let compiled = try sources.map { Self.essence(try String(contentsOf: $0, encoding: .utf8)) }
    var count = 0
    // The block of README.md that is not the main package's.
    let readme = try String(
      contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let shown = try #require(readme.firstMatch(of: /(?s)## In SwiftUI\n.*?```\n(.*?)```/))
    let block = Self.essence(shown.output.1)
    #expect(block.contains("relayHandler"))
    #expect(compiled.contains { "\n\($0)\n".contains("\n\(block)\n") }, "README.md: \(block)")
    for article in try Self.files(in: Self.articles, "md") {
      let text = try String(contentsOf: article, encoding: .utf8)
      for match in text.matches(of: /(?s)```swift\n(.*?)```/) {
        count += 1
        let block = Self.essence(match.output.1)
        #expect(
          compiled.contains { "\n\($0)\n".contains("\n\(block)\n") },
          "\(article.lastPathComponent) shows what is not compiled: \(block.prefix(60))")
      }
    }
    #expect(count >= 20, "only \(count) blocks were found: are the articles where they were?")
  }

  @Test func theLandingPageNamesWhatIsPublic() throws {
    let landing = try String(
      contentsOf: Self.articles.appendingPathComponent("RelaySwiftUI.md"), encoding: .utf8)
    let sources = try Self.files(
      in: Self.root.appendingPathComponent("Sources/RelaySwiftUI"), "swift")
    let type = /(?m)^public (?:final class|struct|enum|protocol) (\w+)/
    let method = /(?m)^    public (?:func|var) (relay\w*)/
    var names: Set<String> = []
    for source in sources {
      let text = try String(contentsOf: source, encoding: .utf8)
      names.formUnion(text.matches(of: type).map { "``\($0.output.1)``" })
      names.formUnion(text.matches(of: method).map { "/\($0.output.1)" })
    }
    #expect(names.count >= 6)
    for name in names.sorted() {
      #expect(landing.contains(name), "\(name) has no place on the landing page")
    }
  }
}
