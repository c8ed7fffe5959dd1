// SPDX-License-Identifier: MIT

import FeatureRelay
import Testing

@testable import relay_demo

@MainActor
struct SessionTests {
  private let session = Session()

  private func play(_ lines: String...) async throws -> [String] {
    var printed: [String] = []
    for line in lines {
      let instruction = try #require(try InstructionParser.parse(line))
      let entries = await session.perform(instruction).entries
      printed = entries.compactMap { Row($0) }.map { "\($0.action) \($0.subject)" }
    }
    return printed
  }

  @Test func whatIsDueHappensAtItsOwnTimeWithinOneWait() async throws {
    let printed = try await play("show mail", "network down", "dispatch mail \"a\"", "wait 1h")
    #expect(
      printed == [
        "failed #1 \"a\": NetworkIsDown (attempt 2)", "retries #1 \"a\" in 2 s",
        "failed #1 \"a\": NetworkIsDown (attempt 3)", "retries #1 \"a\" in 4 s",
        "failed #1 \"a\": NetworkIsDown (attempt 4)", "dropped #1 \"a\": failed",
      ])
    #expect(session.clock.now == .seconds(3_600))
  }

  @Test func aHandlerThatIsForgottenIsNotKeptAlive() async throws {
    let printed = try await play("show toast", "forget toast", "dispatch toast \"a\"")
    #expect(
      printed == [
        "accepted #1 \"a\"", "handler gone ToastPresenter was let go and never received anything",
        "queued #1 \"a\": nobody handles it yet",
      ])
  }

  @Test func theSheetStandsOnTopAndGivesBack() async throws {
    let sheet = try await play("show toast", "sheet open", "dispatch toast \"a\"")
    #expect(sheet[1] == "handler SheetPresenter shows \"a\" in the sheet")
    let shell = try await play("sheet close", "dispatch toast \"b\"")
    #expect(shell[1] == "handler ToastPresenter shows \"b\"")
  }

  @Test func whoLogsOutTakesTheirCommandsAlongAndClosesTheGate() async throws {
    let out = try await play(
      "show toast", "background", "dispatch toast \"a\" tag user-42", "dispatch toast \"b\"",
      "logout 42")
    #expect(out == ["gate closed for login", "dropped #1 \"a\": cancelled"])
    #expect(try await play("active") == ["gate opened for background"])
    let login = try await play("login 7")
    #expect(login.contains("handler ToastPresenter shows \"b\""), "\(login)")
  }

  @Test func whatIsHiddenHandlesNothingAndWhatWaitsCanBeTakenBack() async throws {
    let hidden = try await play("show toast", "hide toast", "dispatch toast \"a\" tag x")
    #expect(hidden == ["accepted #1 \"a\", tagged x", "queued #1 \"a\": nobody handles it yet"])
    #expect(try await play("cancel x") == ["dropped #1 \"a\": cancelled"])
    #expect(try await play("dispatch toast \"b\"", "clear") == ["dropped #2 \"b\": cleared"])
  }

  @Test func aModulesGateAndItsParentsAreTold() async throws {
    let own = try await play("scope m", "background", "dispatch toast \"a\"")
    #expect(own.last == "queued #1 \"a\": the gate of m is closed for background")
    let above = try await play(
      "active", "scope app", "background", "scope m", "dispatch toast \"b\"")
    #expect(above.last == "queued #2 \"b\": the gate of app is closed for background")
  }

  @Test func aRefusedQuestionHasAnAnswerToo() async throws {
    let printed = try await play("ask permission within 1s", "wait 1s")
    #expect(printed.first == "dropped #1 \"camera\": expired")
    #expect(printed.last?.hasPrefix("answer #1 \"camera\": no answer: PermissionFeature") == true)
  }

  @Test func everyCommandOfASessionIsAccountedFor() async throws {
    _ = try await play(
      "flood 250", "scope m", "flood 150", "dispatch toast \"a\" unique first k",
      "dispatch toast \"b\" unique first k", "close", "show toast", "reset")
    #expect(session.counts.isBalanced)
    #expect(session.counts.offered == 402)
    #expect(session.counts.refusedDuplicate == 1)
    #expect(session.counts.dropped(.closed) == 100)
  }
}
