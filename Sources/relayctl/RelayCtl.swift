// SPDX-License-Identifier: MIT

import Foundation
import RelayJournal

@main
enum RelayCtl {
  static func main() {
    exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }

  static func run(_ arguments: [String]) -> ExitStatus {
    let options: Options
    do {
      options = try Options(arguments: arguments)
    } catch {
      Output.complain("\(error.message)\nrelayctl --help says more.")
      return .usage
    }
    guard case .run(let word, let directory) = options.action else {
      return Output.write(usage)
    }
    let progress = Progress(isShown: options.showsProgress || Terminal.errorsAreATerminal)
    defer { progress.clear() }
    do throws(JournalError) {
      if word == .compact { return try compact(directory, options, progress) }
      let inspection = try JournalInspection(directory) { done, total in
        progress.show("reading", done, of: total)
      }
      progress.clear()
      switch word {
      case .verify: return Verification(inspection, isJSON: options.isJSON).answer()
      default:
        let listing = Listing(inspection, knownNames: options.knownNames)
        let text = options.isJSON ? listing.json : listing.text
        let status = Output.write(text)
        return status == .success && inspection.isDamaged ? .damaged : status
      }
    } catch {
      return complain(error, directory)
    }
  }

  private static func compact(_ directory: String, _ options: Options, _ progress: Progress)
    throws(JournalError) -> ExitStatus
  {
    // Looked at first: a mistyped path must not become a new journal.
    let before = try JournalInspection(directory) { progress.show("reading", $0, of: $1) }
    var settings = JournalOptions()
    settings.compactsByItself = false
    let opening = Journal.open(directory, options: settings)
    guard let journal = opening.journal else {
      switch opening.outcome {
      case .unavailable(.locked(let process)):
        let name = process.map { " (process \($0))" } ?? ""
        Output.complain(
          "\(directory): another process\(name) owns the journal. It compacts by itself; "
            + "or try again when that process has ended.")
        return .locked
      case .unavailable(.notPermitted(let error)), .unavailable(.failed(let error)): throw error
      default: throw JournalError(.newer, operation: "open", file: directory)
      }
    }
    defer { journal.close() }
    progress.show("compacting", 0, of: 1)
    try journal.compact()
    progress.clear()
    let after = journal.statistics
    if options.isJSON {
      return Output.write(
        JSON.text([
          "bytesBefore": before.bytes, "bytesAfter": after.bytes, "entries": after.live,
          "deadLetters": after.dead,
        ]))
    }
    return Output.write(
      "\(Format.bytes(before.bytes)) before, \(Format.bytes(after.bytes)) after; "
        + "\(Format.count(after.live, "command")), \(Format.count(after.dead, "dead letter"))")
  }

  private static func complain(_ error: JournalError, _ directory: String) -> ExitStatus {
    let (message, status): (String, ExitStatus) =
      switch error.code {
      case .notFound: ("there is no such directory", .noInput)
      case .wrongKind:
        ("it is not a directory; a journal is one, with several files in it", .noInput)
      case .notAJournal: ("there is no journal in this directory", .noInput)
      case .newer: ("a newer version wrote this journal; use its relayctl", .newer)
      case .locked: ("another process owns the journal", .locked)
      case .notPermitted: ("\(error)", .notPermitted)
      default: ("\(error)", .inputOutput)
      }
    Output.complain("\(directory): \(message)")
    return status
  }
}
