// SPDX-License-Identifier: MIT

import Testing

@testable import relayctl

struct OptionsTests {
  private func problem(_ arguments: String...) -> String? {
    do {
      _ = try Options(arguments: arguments)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func wordsAndOptionsInAnyOrder() throws {
    let options = try Options(arguments: [
      "--json", "inspect", "--known", "a,b", "dir", "--progress",
    ])
    #expect(options.action == .run(.inspect, directory: "dir"))
    #expect(options.isJSON)
    #expect(options.showsProgress)
    #expect(options.knownNames == ["a", "b"])
    #expect(
      try Options(arguments: ["verify", "--", "--odd"]).action == .run(.verify, directory: "--odd"))
    #expect(try Options(arguments: []).action == .help)
    #expect(try Options(arguments: ["inspect", "x", "--help"]).action == .help)
  }

  @Test func mistakesAreNamed() {
    #expect(problem("explode", "x")?.contains("unknown word \"explode\"") == true)
    #expect(problem("inspect") == "inspect needs the DIRECTORY of a journal")
    #expect(problem("inspect", "a", "b")?.contains("found \"b\"") == true)
    #expect(problem("inspect", "a", "--what") == "unknown option \"--what\"")
    #expect(problem("export", "a")?.contains("--json") == true)
    #expect(problem("inspect", "a", "--known")?.contains("needs NAMES") == true)
  }
}
