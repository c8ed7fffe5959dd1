// SPDX-License-Identifier: MIT

import FeatureRelay
import Testing

@testable import relay_demo

struct InstructionParserTests {
  @Test(arguments: [
    ("crash", Instruction.crash),
    (
      "dispatch mail \"Hi\" durable",
      Instruction.dispatch(.mail, text: "Hi", DispatchOptions(isDurable: true))
    ),
    ("dispatch toast \"Hello\"", Instruction.dispatch(.toast, text: "Hello", DispatchOptions())),
    ("  show\ttoast  ", .show(.toast)),
    ("hide navigation", .hide(.navigation)),
    ("forget mail", .forget(.mail)),
    ("sheet open", .sheet(isOpen: true)),
    ("sheet close # the end", .sheet(isOpen: false)),
    ("permission deny", .person(allows: false)),
    ("network up", .network(isUp: true)),
    ("background", .background),
    ("active", .active),
    ("login", .login(user: nil)),
    ("logout 42", .logout(user: "42")),
    ("cancel user-42", .cancel(tag: "user-42")),
    ("clear", .clear(nil)),
    ("clear permission", .clear(.permission)),
    ("reset", .reset),
    ("close", .close),
    ("scope checkout", .scope("checkout")),
    ("scope \"check out\"", .scope("check out")),
    ("status", .status),
    ("help", .help),
    ("flood 1000", .flood(1_000, .toast)),
    ("flood 3 analytics", .flood(3, .analytics)),
    ("ask permission", .ask(text: "camera", waitingAtMost: nil)),
    ("ask permission \"photos\" within 5s", .ask(text: "photos", waitingAtMost: .seconds(5))),
    ("wait 5s", .wait(.seconds(5))),
    ("wait 1.5s", .wait(.milliseconds(1_500))),
    ("wait 500ms", .wait(.milliseconds(500))),
    ("wait 2m", .wait(.seconds(120))),
    ("wait 1h", .wait(.seconds(3_600))),
  ])
  func readsEveryWord(_ line: String, _ instruction: Instruction) throws {
    #expect(try InstructionParser.parse(line) == instruction)
  }

  @Test(arguments: ["", "   ", "\t", "# dispatch toast \"a\"", "  #"])
  func linesWithoutAWordAskForNothing(_ line: String) throws {
    #expect(try InstructionParser.parse(line) == nil)
  }

  @Test func optionsComeInAnyOrder() throws {
    let line =
      "dispatch mail \"Hi\" tag user-42 from background unique latest sync tag x priority high within 2s"
    let options = DispatchOptions(
      isFromBackground: true, priority: .high, tags: ["user-42", "x"],
      unique: .keepLatest("sync"), timeToLive: .seconds(2))
    #expect(try InstructionParser.parse(line) == .dispatch(.mail, text: "Hi", options))
    #expect(
      try InstructionParser.parse("dispatch toast \"a\" unique first k")
        == .dispatch(.toast, text: "a", DispatchOptions(unique: .keepFirst("k"))))
  }

  @Test(arguments: [
    ("nonsense", "unknown word \"nonsense\": expected one of active, ask,"),
    ("\"show\" toast", "unknown word \"show\""),
    ("SHOW toast", "unknown word \"SHOW\""),
    (
      "show",
      "show: expected a feature: toast, navigation, mail, analytics or permission, found the end"
    ),
    ("show toats", "found \"toats\""),
    ("show \"toast\"", "found \"toast\""),
    ("show toast now", "show: expected the end of the line, found \"now\""),
    (
      "dispatch permission \"a\"", "expected a feature: toast, navigation, mail or analytics, found"
    ),
    ("dispatch toast", "expected a text in quotation marks, found the end of the line"),
    ("dispatch toast hello", "expected a text in quotation marks, found \"hello\""),
    ("dispatch toast \"a\" from here", "expected background, found \"here\""),
    ("dispatch toast \"a\" priority urgent", "expected low, normal, high or critical, found"),
    ("dispatch toast \"a\" tag", "expected a tag, found the end of the line"),
    ("dispatch toast \"a\" unique k", "expected latest or first, found \"k\""),
    (
      "dispatch toast \"a\" twice",
      "expected from, priority, tag, unique, within, durable or the end"
    ),
    ("dispatch toast \"a", "expected a closing quotation mark, found the end of the line"),
    ("dispatch toast \"a\"from", "expected a space after a closing quotation mark, found \"f\""),
    ("dispatch toast\"a\"", "expected a space before a quotation mark, after \"toast\""),
    ("dispatch toast \"\\q\"", "expected \\\", \\\\, \\n or \\t, found \\q"),
    ("dispatch toast \"\\", "expected a closing quotation mark"),
    ("ask toast", "ask: expected a feature: permission, found \"toast\""),
    ("ask permission soon", "ask: expected within or the end of the line, found \"soon\""),
    ("flood", "flood: expected a number from 1 to 100000, found the end of the line"),
    ("flood 0", "found \"0\""),
    ("flood 100001", "found \"100001\""),
    ("flood 99999999999999999999", "found \"99999999999999999999\""),
    ("wait", "wait: expected a time above zero such as 500ms, 5s, 2m or 1h"),
    ("wait 5", "found \"5\""),
    ("wait 0s", "found \"0s\""),
    ("wait -5s", "found \"-5s\""),
    ("wait 1.2.3s", "found \"1.2.3s\""),
    ("wait 1e9h", "found \"1e9h\""),
    ("wait 99999999h", "found \"99999999h\""),
    ("wait nans", "found \"nans\""),
    ("scope \" \"", "scope: expected a scope's name, found \" \""),
    ("cancel", "cancel: expected a tag, found the end of the line"),
  ])
  func saysWhatWasExpected(_ line: String, _ message: String) {
    #expect {
      try InstructionParser.parse(line)
    } throws: {
      ($0 as? ScriptProblem)?.message.contains(message) == true
    }
  }

  @Test func textKeepsWhatStandsInQuotationMarks() throws {
    let tokens = try Token.split(#"a "x # \"y\" \\ \n\t" "" # "no""#)
    #expect(
      tokens == [
        Token(text: "a", isQuoted: false), Token(text: "x # \"y\" \\ \n\t", isQuoted: true),
        Token(text: "", isQuoted: true),
      ])
  }

  @Test func everyWordIsToldInHelp() {
    for word in InstructionParser.words {
      #expect(Usage.words.contains(" \(word)"), "\(word) is missing from the help")
    }
  }

  @Test func theStoryIsUnderstood() throws {
    for line in Story.text.split(separator: "\n") {
      #expect(throws: Never.self) { try InstructionParser.parse(String(line)) }
    }
  }
}
