// SPDX-License-Identifier: MIT

import BenchmarkHarness
import Foundation

/// All groups, and what is done with what they find.
@MainActor
struct Suite {
  static let groups = [
    directGroup, nonisolatedGroup, ownedGroup, variantsGroup, manyGroup, enqueueGroup,
    enqueueMillionGroup, replayGroup, orderGroup, tagsGroup, ageGroup, threadsGroup,
    contentionGroup, lifecycleGroup, reactorGroup, journalGroup, journalRestoreGroup,
    journalSyncGroup, journalBytesGroup, durableGroup, memoryGroup, allocationsGroup, hopsGroup,
    instructionsGroup,
  ]

  let options: Options

  /// Does what the options say.
  ///
  /// - Returns: the exit code.
  func run() async throws -> Int32 {
    let groups = options.countedOnly ? Self.groups.filter(\.isCounted) : Self.groups
    if options.lists {
      for group in groups {
        for subject in group.subjects(matching: options.filter) {
          print("\(group.name)/\(subject.name)  \(subject.title)")
        }
      }
      return 0
    }
    let runner = Runner(rounds: options.rounds, progress: .standardError)
    var rows: [Row] = []
    for group in groups {
      rows += try await runner.measure(
        group, filter: options.filter, attempts: options.checks ? 3 : 1)
    }
    guard !rows.isEmpty else {
      complain("no row contains \"\(options.filter ?? "")\"; --list shows them")
      return 64
    }
    let report = Report(machine: .current, rows: rows)
    print(options.isMarkdown ? report.markdown : report.text)
    if let file = options.jsonFile { try report.json.write(to: URL(fileURLWithPath: file)) }
    if let file = options.svgFile {
      try Data(report.chart.svg.utf8).write(to: URL(fileURLWithPath: file))
    }
    guard options.checks || options.countedOnly else { return 0 }
    let missing = rows.filter { $0.minimum == nil }.map { "\($0.group)/\($0.name)" }
    if !missing.isEmpty { complain("not available here: \(missing.joined(separator: ", "))") }
    for failure in report.failures { complain(failure) }
    return report.failures.isEmpty ? 0 : 1
  }

  func complain(_ message: String) {
    FileHandle.standardError.write(Data("relay-bench: \(message)\n".utf8))
  }
}
