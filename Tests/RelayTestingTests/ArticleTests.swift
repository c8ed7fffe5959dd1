// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What the article shows is what tests compile and run, and what expectations print.
@Suite struct ArticleTests {
  private static let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent()
  private static let sources = tests.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/RelayTesting")

  private static func essence(_ text: some StringProtocol) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") }.joined(separator: "\n")
  }

  private static func files(in folder: URL, _ ending: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == ending }
  }

  private static func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }

  @Test func everyBlockIsRunByATest() throws {
    let underAnotherSetting = Self.tests.deletingLastPathComponent()
      .appendingPathComponent("MainActorDefaultTests/KitTests.swift")
    let tests = try (Self.files(in: Self.tests, "swift") + [underAnotherSetting])
      .map { Self.essence(try Self.text($0)) }
    var count = 0
    let pages = try Self.files(in: Self.sources.appendingPathComponent("RelayTesting.docc"), "md")
    for page in pages {
      for block in try Self.text(page).matches(of: /(?s)```swift\n(.*?)```/) {
        count += 1
        let block = Self.essence(block.output.1)
        #expect(
          tests.contains { "\($0)\n".contains("\n\(block)\n") },
          "\(page.lastPathComponent) shows what no test runs: \(block)")
      }
    }
    #expect(count >= 9, "only \(count) blocks were found")
  }

  @Test func everyMessageIsExpectedByATest() throws {
    let tests = try Self.text(Self.tests.appendingPathComponent("ExpectationTests.swift"))
    // Every second piece between fences is a block; a message's has no language.
    let blocks = Article.text.split(separator: "```").enumerated().filter { $0.offset % 2 == 1 }
    let messages = blocks.map(\.element).filter { $0.hasPrefix("\n") }
    #expect(messages.count == 4)
    for message in messages {
      let first = message.split(separator: "\n").first ?? ""
      #expect(tests.contains(first), "no test expects: \(first)")
    }
  }

  @Test func theLandingPageNamesEveryPublicType() throws {
    let landing = try Self.text(
      Self.sources.appendingPathComponent("RelayTesting.docc/RelayTesting.md"))
    let declaration = /(?m)^public (?:final class|struct|enum|protocol|actor) (\w+)/
    let names = try Self.files(in: Self.sources, "swift").flatMap {
      try Self.text($0).matches(of: declaration).map { String($0.output.1) }
    }
    #expect(names.count >= 7)
    for name in names {
      #expect(landing.contains("- ``\(name)``"), "\(name) has no place on the landing page")
    }
  }
}
