// SPDX-License-Identifier: MIT

import FeatureRelay
import Testing

@testable import relay_demo

struct PrinterTests {
  private let printer = Printer(isColored: false)

  private func event(
    _ name: String, handler: String? = nil, reason: String? = nil, age: Double? = nil
  ) -> EventRecord {
    EventRecord(
      event: name, feature: FeatureName.toast.typeName, age: age, handler: handler, reason: reason)
  }

  @Test func columnsStandUnderEachOther() {
    let label = CommandLabel(number: 1, text: "Hi", details: ["high priority"])
    let lines = printer.lines([
      .event(event("accepted"), label),
      .event(event("started", handler: "ToastPresenter"), label),
      .deed(Deed(scope: "app", feature: .toast, handler: "ToastPresenter", action: "shows \"Hi\"")),
      .event(event("delivered", handler: "ToastPresenter", age: 1.5), label),
      .event(event("dropped", reason: "expired"), label),
      .event(event("refused", reason: "full"), label),
      .queued(label, scope: "app", feature: FeatureName.toast.typeName, reason: "nobody is there"),
      .note("so much for that"),
    ])
    #expect(
      lines == [
        "      accepted      app/toast        #1 \"Hi\", high priority",
        "      handler       app/toast        ToastPresenter shows \"Hi\"",
        "      delivered     app/toast        #1 \"Hi\" to ToastPresenter after 1.5 s",
        "      dropped       app/toast        #1 \"Hi\": expired",
        "      refused       app/toast        #1 \"Hi\": full",
        "      queued        app/toast        #1 \"Hi\": nobody is there",
        "      note                           so much for that",
      ])
  }

  @Test func whatIsAlikeBecomesOneLineWhereThereIsMuchOfIt() {
    var entries: [Entry] = []
    for number in 1...1_000 {
      let label = CommandLabel(number: number, text: "\(number)")
      entries.append(.event(event("accepted"), label))
      if number > 100 {
        let first = CommandLabel(number: number - 100, text: "\(number - 100)")
        entries.append(.event(event("dropped", reason: "overflow"), first))
      }
    }
    entries.append(.note("done"))
    #expect(
      printer.lines(entries) == [
        "      accepted      app/toast        1000 commands, #1 to #1000",
        "      dropped       app/toast        900 commands, #1 to #900: overflow",
        "      note                           done",
      ])
  }

  @Test func gatheringKeepsReasonsApart() {
    let entries = (1...30).map { number in
      Entry.event(
        event("dropped", reason: number % 2 == 0 ? "expired" : "overflow"),
        CommandLabel(number: number, text: "x"))
    }
    #expect(
      printer.lines(entries) == [
        "      dropped       app/toast        15 commands, #1 to #29: overflow",
        "      dropped       app/toast        15 commands, #2 to #30: expired",
      ])
  }

  @Test func coloursAreTheOnlyDifference() {
    let colored = Printer(isColored: true)
    let entry = Entry.event(event("dropped", reason: "expired"), CommandLabel(number: 1, text: "a"))
    let line = colored.lines([entry])[0]
    #expect(line.contains("\u{1B}[31mdropped"))
    #expect(line.replacing(/\u{1B}\[\d+m/, with: "") == printer.lines([entry])[0])
    #expect(!printer.echo("show toast", number: 1).contains("\u{1B}"))
    #expect(colored.echo("show toast", number: 1).contains("\u{1B}"))
  }

  @Test func nothingThatATerminalObeysComesFromAScript() {
    let nasty = "a\u{1B}[2J\u{7}\n\u{202E}b"
    #expect(quoted(nasty) == #""a\u{1B}[2J\u{07}\n\u{202E}b""#)
    #expect(!printer.echo(nasty, number: 1).contains("\u{1B}"))
    #expect(quoted(String(repeating: "x", count: 61)).hasSuffix("x…\""))
    #expect(quoted("Grüße 👩‍👩‍👧") == "\"Grüße 👩‍👩‍👧\"")
  }

  @Test(arguments: [
    (Duration.zero, "0 s"), (.seconds(5), "5 s"), (.milliseconds(1_500), "1.5 s"),
    (.milliseconds(50), "0.05 s"), (.seconds(3_600), "3600 s"),
  ])
  func durationsAreShort(_ duration: Duration, _ text: String) {
    #expect(seconds(duration) == text)
  }
}
