// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import relay_demo

@Suite(.timeLimit(.minutes(5)))
struct DemoProcessTests {
  @Test func queueDeliveryTableAndTheErrorOfABadLine() async throws {
    let result = try await DemoProcess.play("dispatch toast \"a\"\nshow toast\nstatus\nnonsense\n")
    #expect(result.status == 1)
    #expect(
      result.errors.hasPrefix("relay-demo: line 4: unknown word \"nonsense\": expected one of"))
    #expect(result.errors.split(separator: "\n").count == 1)
    let wanted = [
      "   1  dispatch toast \"a\"",
      "      accepted      app/toast        #1 \"a\"",
      "      queued        app/toast        #1 \"a\": nobody handles it yet",
      "   2  show toast",
      "      registered    app/toast        ToastPresenter",
      "      handler       app/toast        ToastPresenter shows \"a\"",
      "      delivered     app/toast        #1 \"a\" to ToastPresenter",
      "   3  status",
      "      relay \"app\"",
    ]
    #expect(result.lines.prefix(wanted.count).map(String.init) == wanted)
    #expect(result.output.contains("ToastFeature      ToastPresenter  open"))
  }

  @Test func whatFollowsABadLineIsPlayed() async throws {
    let result = try await DemoProcess.play("nonsense\ndispatch toast \"a\"\nshow\nshow toast\n")
    #expect(result.status == 1)
    #expect(result.output.contains("#1 \"a\" to ToastPresenter"))
    #expect(result.errors.contains("line 1:"))
    #expect(result.errors.contains("line 3: show: expected a feature"))
  }

  @Test func theStoryIsTheSameEachTimeAndHasNoErrors() async throws {
    let first = try await DemoProcess.run([])
    let second = try await DemoProcess.run([])
    #expect(first.status == 0)
    #expect(first.errors == "")
    #expect(first.output == second.output)
    #expect(first.output.contains("SheetPresenter shows \"In front of you\" in the sheet"))
    #expect(first.output.contains("900 commands"))
    #expect(first.output.contains("0 waiting"))
  }

  @Test func nothingIsColouredInAFile() async throws {
    let result = try await DemoProcess.run([], environment: ["TERM": "xterm-256color"])
    #expect(!result.output.contains("\u{1B}"))
  }

  @Test func aDurableCommandSurvivesACrashAndTheOthersDoNot() async throws {
    let journal = FileManager.default.temporaryDirectory
      .appendingPathComponent("relay-demo-journal-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: journal) }
    let script = "dispatch mail \"kept\" durable\ndispatch toast \"lost\"\ncrash\nstatus\n"
    let first = try await DemoProcess.play(script, "--journal", journal)
    #expect(first.status == SIGKILL)
    #expect(first.output.contains("#1 \"kept\", durable"))
    #expect(!first.output.contains("   4  status"))
    let second = try await DemoProcess.play(
      "show mail\nshow toast\n", "--journal", journal)
    #expect(second.status == 0)
    #expect(second.lines.first?.hasSuffix("restored 1") == true)
    #expect(second.output.contains("MailSender sends \"kept\""))
    #expect(!second.output.contains("lost"))
    #expect(second.output.contains("0 accepted + 1 restored = 1 delivered + 0 waiting"))
    let third = try await DemoProcess.play("show mail\n", "--journal", journal, "--json")
    #expect(third.status == 0)
    #expect(!third.output.contains("delivered"))
  }

  @Test func withoutAJournalADurableCommandSaysWhereItLives() async throws {
    let result = try await DemoProcess.play("dispatch toast \"a\" durable\nshow toast\n")
    #expect(result.output.contains("there is no --journal DIR: what is durable lives in memory"))
    #expect(result.output.contains("ToastPresenter shows \"a\""))
  }

  @Test func jsonIsOneObjectALineAndNothingElse() async throws {
    let script = """
      # a comment
      dispatch toast "a" tag user-42
      nonsense
      status
      help

      show toast
      scope m
      network down
      show mail
      dispatch mail "b"
      wait 1m
      """
    let result = try await DemoProcess.play(script, "--json")
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("relay-demo: line 3:"))
    let objects = try result.lines.map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
    let events = objects.map { $0["event"] as? String }
    #expect(
      events.prefix(4) == ["accepted", "registered", "started", "delivered"])
    #expect(events.filter { $0 == "failed" }.count == 4)
    #expect(objects.last?["event"] as? String == "dropped")
    #expect(objects.last?["reason"] as? String == "failed")
    #expect(objects.last?["time"] as? Double == 7)
    #expect(objects.last?["line"] as? Int == 12)
    #expect(objects.first?["scope"] as? String == "app")
    #expect(!result.output.contains("\n\n"))
  }

  @Test func jsonOfTheStoryIsValid() async throws {
    let result = try await DemoProcess.run(["--json"])
    #expect(result.status == 0)
    #expect(result.lines.count > 1_900)
    for line in result.lines {
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }
  }

  @Test(arguments: [["--nope"], ["run"], ["run", "a", "b"], ["play"]])
  func aWrongCommandLineIsToldOnStandardError(_ arguments: [String]) async throws {
    let result = try await DemoProcess.run(arguments)
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(result.errors.contains("Try relay-demo --help."))
  }

  @Test func aScriptInAFileIsPlayedAsOneFromStandardInput() async throws {
    let script = "dispatch toast \"a\"\nshow toast\nstatus\n"
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("relay-demo-\(UUID().uuidString).txt")
    try Data(script.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try await DemoProcess.run(["run", file.path])
    #expect(result.status == 0 && result.errors == "")
    #expect(result.output == (try await DemoProcess.play(script)).output)
    #expect(result.output.contains("ToastPresenter shows \"a\""))
  }

  @Test func aScriptThatCannotBeReadIsTold() async throws {
    let missing = try await DemoProcess.run(["run", "/no/such/script"])
    #expect(missing.status == 66)
    #expect(missing.output == "")
    #expect(
      missing.errors == "relay-demo: cannot read \"/no/such/script\": there is no such file\n")
    let folder = try await DemoProcess.run(["run", "/"])
    #expect(folder.status == 66)
    #expect(folder.errors.hasPrefix("relay-demo: cannot read \"/\": "))
  }

  @Test func helpTellsWordsAndStatuses() async throws {
    let result = try await DemoProcess.run(["--help"])
    #expect(result.status == 0)
    #expect(result.errors == "")
    for text in ["--json", "NO_COLOR", "dispatch FEATURE", "64", "66", "74", "clock of its own"] {
      #expect(result.output.contains(text), "\(text) is missing")
    }
  }

  @Test func inputOfAllKindsIsTaken() async throws {
    let nothing = try await DemoProcess.play("")
    #expect((nothing.status, nothing.output, nothing.errors) == (0, "", ""))

    let windows = try await DemoProcess.play("\u{FEFF}dispatch toast \"a\"\r\n\r\nshow toast\r\n")
    #expect(windows.status == 0)
    #expect(windows.output.contains("#1 \"a\" to ToastPresenter"))

    let bytes = Data([0xFF, 0xFE, 0x0A]) + Data(repeating: 0x78, count: 200_000) + Data([0x0A])
    let broken = try await DemoProcess.run(
      ["run", "-"], input: bytes + Data("show toast".utf8))
    #expect(broken.status == 1)
    #expect(broken.errors.contains("line 1: expected UTF-8, found other bytes"))
    #expect(broken.errors.contains("line 2: expected at most 4096 bytes, found more"))
    #expect(broken.output.contains("registered    app/toast        ToastPresenter"))
  }

  @Test func aCommandFromAnotherThreadIsDeliveredWhereMainIsNotTheMainThread() async throws {
    let result = try await DemoProcess.play(
      "show toast\ndispatch toast \"a\" from background\nask permission\nshow permission\n")
    #expect(result.status == 0)
    #expect(result.output.contains("#1 \"a\", from a background thread"))
    #expect(result.output.contains("#1 \"a\" to ToastPresenter"))
    #expect(result.output.contains("answer                         #2 \"camera\": granted"))
  }

  @Test func theReadmeShowsWhatTheDemoPrints() async throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md")
    let readme = try String(contentsOf: file, encoding: .utf8)
    let match = try #require(
      readme.firstMatch(of: /(?s)\$ swift run relay-demo run script.txt\n(.*?)\n```/))
    let shown = String(match.output.1)
    // The script is what stands behind the line numbers.
    let script = shown.matches(of: /(?m)^ *\d+  (.*)$/).map { String($0.output.1) }
    let result = try await DemoProcess.play(script.joined(separator: "\n"))
    #expect(script.count >= 5)
    #expect(result.output == shown + "\n")
  }

  @Test func consequencesAreOutBeforeTheNextLineIsRead() async throws {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = DemoProcess.executable
    process.arguments = ["run", "-"]
    (process.standardInput, process.standardOutput) = (input, output)
    let (ends, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { end.yield($0.terminationStatus) }
    try process.run()
    var heard = ""
    for (line, answer) in [("dispatch toast \"a\"\n", "queued "), ("show toast\n", "delivered ")] {
      try input.fileHandleForWriting.write(contentsOf: Data(line.utf8))
      // The next line is written only once this one's consequences are there.
      while !heard.contains(answer) {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        heard += String(decoding: data, as: UTF8.self)
      }
      #expect(heard.contains(answer))
    }
    try input.fileHandleForWriting.close()
    var iterator = ends.makeAsyncIterator()
    #expect(await iterator.next() == 0)
  }
}
