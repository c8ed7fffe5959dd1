// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation

/// Plays line after line: everything that one brings about is written before the next one is read.
@MainActor
struct Player {
  let isJSON: Bool
  let output: Output
  private let session: Session
  private let printer: Printer
  private let encoder = JSONEncoder()

  init(isJSON: Bool, journal: String?, output: Output) {
    self.isJSON = isJSON
    session = Session(journal: journal)
    self.output = output
    printer = Printer(
      isColored: Terminal.wantsColor(
        environment: ProcessInfo.processInfo.environment, isTerminal: Terminal.outputIsTerminal))
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  func play(_ source: Options.Source) async throws -> ExitStatus {
    var input = try Input(source)
    let isTyped =
      !isJSON
      && Terminal.isConversation(
        source, inputIsTerminal: Terminal.inputIsTerminal,
        outputIsTerminal: Terminal.outputIsTerminal)
    var status = ExitStatus.success
    var number = 0
    try show(await session.restore(), line: nil)
    while true {
      if isTyped { output.prompt("relay> ") }
      guard let line = try input.next() else { break }
      number += 1
      do {
        try await play(line, number: number, echoes: !isJSON && !isTyped)
      } catch let problem as ScriptProblem {
        output.complain("line \(number): \(problem.message)")
        status = .badLine
      }
    }
    if isTyped { try output.write("") }
    if !isJSON, number > 0 { try output.write(["", printer.summary(session.counts)]) }
    return status
  }

  private func play(_ line: LineSplitter.Line, number: Int, echoes: Bool) async throws {
    switch line {
    case .notUTF8: throw ScriptProblem(message: "expected UTF-8, found other bytes")
    case .tooLong:
      throw ScriptProblem(message: "expected at most \(LineSplitter.limit) bytes, found more")
    case .text(let text):
      if echoes {
        let isBlank = text.allSatisfy(\.isWhitespace)
        try output.write(isBlank ? "" : printer.echo(text, number: number))
      }
      guard let instruction = try InstructionParser.parse(text) else { return }
      try show(await session.perform(instruction), line: number)
    }
  }

  private func show(_ outcome: Session.Outcome, line: Int?) throws {
    if isJSON {
      try output.write(outcome.entries.compactMap { json($0, line: line) })
    } else {
      try output.write(printer.lines(outcome.entries))
      try output.write(outcome.snapshots.flatMap(printer.table))
      if outcome.showsHelp { try output.write(Usage.words) }
    }
  }

  private func json(_ entry: Entry, line: Int?) -> String? {
    guard case .event(var record, _) = entry else { return nil }
    record.line = line
    // Strings and finite numbers: nothing in it can fail to be encoded.
    return (try? encoder.encode(record)).map { String(decoding: $0, as: UTF8.self) }
  }
}
