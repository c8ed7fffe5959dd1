// SPDX-License-Identifier: MIT

import Testing

@testable import relay_demo

struct OptionsTests {
  @Test func withoutArgumentsTheStoryIsPlayed() throws {
    #expect(try Options(arguments: []).action == .play(.story))
  }

  @Test func sourcesAndOptionsInAnyOrder() throws {
    #expect(try Options(arguments: ["run", "-"]).action == .play(.standardInput))
    let options = try Options(arguments: ["run", "a.txt", "--json"])
    #expect(options.action == .play(.file("a.txt")))
    #expect(options.isJSON)
    #expect(try Options(arguments: ["--", "run", "--json"]).action == .play(.file("--json")))
  }

  @Test func theJournalIsADirectory() throws {
    #expect(try Options(arguments: ["run", "-", "--journal", "a b"]).journal == "a b")
    #expect(try Options(arguments: ["--journal", "--json", "run", "-"]).journal == "--json")
    #expect(try Options(arguments: []).journal == nil)
  }

  @Test(arguments: [["--help"], ["-h"], ["help"], ["run", "--help"]])
  func helpIsHelpWhereverItStands(_ arguments: [String]) throws {
    #expect(try Options(arguments: arguments).action == .help)
  }

  @Test(arguments: [
    (["run", "-", "--journal"], "--journal needs a DIR"), (["--journal", ""], "needs a DIR"),
    (["--colour"], "unknown option \"--colour\""), (["run"], "run needs a FILE"),
    (["run", "a", "b"], "found \"b\""), (["play"], "unknown word \"play\""),
  ])
  func mistakesAreNamed(_ arguments: [String], _ message: String) {
    #expect {
      try Options(arguments: arguments)
    } throws: {
      ($0 as? Options.Problem)?.message.contains(message) == true
    }
  }

  @Test func colourIsForTerminalsOnly() {
    #expect(Terminal.wantsColor(environment: ["TERM": "xterm"], isTerminal: true))
    #expect(Terminal.wantsColor(environment: ["NO_COLOR": ""], isTerminal: true))
    #expect(!Terminal.wantsColor(environment: ["NO_COLOR": "1"], isTerminal: true))
    #expect(!Terminal.wantsColor(environment: ["TERM": "dumb"], isTerminal: true))
    #expect(!Terminal.wantsColor(environment: [:], isTerminal: false))
  }

  @Test func onlyAPersonWhoTypesIsPrompted() {
    func prompts(_ source: Options.Source, _ input: Bool, _ output: Bool) -> Bool {
      Terminal.isConversation(source, inputIsTerminal: input, outputIsTerminal: output)
    }
    #expect(prompts(.standardInput, true, true))
    #expect(!prompts(.standardInput, false, true))
    #expect(!prompts(.standardInput, true, false))
    #expect(!prompts(.story, true, true))
    #expect(!prompts(.file("a"), true, true))
  }
}
