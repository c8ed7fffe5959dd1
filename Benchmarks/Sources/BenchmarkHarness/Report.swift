// SPDX-License-Identifier: MIT

import Foundation

/// What a run of the suite found, in the forms in which it can be read.
package struct Report: Sendable, Codable {
  package let machine: Machine
  package let rows: [Row]

  package init(machine: Machine, rows: [Row]) {
    self.machine = machine
    self.rows = rows
  }

  /// Each broken bound, in words.
  package var failures: [String] {
    rows.flatMap { row in
      row.verdicts.filter { !$0.isMet }.map { verdict in
        "\(row.group)/\(row.name): \(format(verdict.value)) where \(verdict.bound) is to be reached"
      }
    }
  }

  /// The aligned table.
  package var text: String { "\(machine.description)\n\n\(table.text)\n" }

  /// The table for a README.
  package var markdown: String { "\(machine.description)\n\(table.markdown)\n" }

  /// Everything, for machines.
  package var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try encoder.encode(self)
    }
  }

  private var table: Table {
    var table = Table([
      ("row", .left), ("", .left), ("min", .right), ("median", .right), ("spread", .right),
      ("× F", .right), ("to reach (aim)", .left), ("found", .right), ("", .left),
    ])
    var group: String?
    for row in rows {
      if row.group != group {
        group = row.group
        table.addSection("\(row.group): \(row.groupTitle)")
      }
      let figures = [
        row.name, row.title, row.minimum.map { "\(format($0)) \(row.unit.shortName)" } ?? "–",
        row.rounds > 1 ? row.median.map(format) ?? "" : "",
        row.rounds > 1 ? row.spread.map { "\(Int(($0 * 100).rounded())) %" } ?? "" : "",
        row.floors.map(format) ?? "",
      ]
      let verdicts = row.verdicts.map { [$0.bound, format($0.value), $0.word] }
      table.add(figures + (verdicts.first ?? ["", "", ""]))
      for verdict in verdicts.dropFirst() {
        table.add(Array(repeating: "", count: figures.count) + verdict)
      }
    }
    return table
  }
}

extension Row.Verdict {
  fileprivate var word: String {
    if !isMet { return "broken" }
    if !isWithinLimit { return "within noise" }
    return reachesAim ? "aim" : "ok"
  }
}

extension Subject.Unit {
  fileprivate var shortName: String {
    switch self {
    case .nanoseconds: "ns"
    case .bytes: "B"
    case .allocations, .hops: ""
    case .instructions: "i"
    }
  }
}
