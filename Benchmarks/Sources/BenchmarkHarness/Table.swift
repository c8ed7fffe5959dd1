// SPDX-License-Identifier: MIT

/// Cells in columns, as aligned text or as Markdown.
package struct Table: Sendable {
  package enum Alignment: Sendable {
    case left
    case right
  }

  private let header: [String]
  private let alignments: [Alignment]
  private var lines: [Line] = []

  private enum Line {
    case section(String)
    case cells([String])
  }

  package init(_ columns: [(String, Alignment)]) {
    header = columns.map(\.0)
    alignments = columns.map(\.1)
  }

  /// Starts a part with a title of its own.
  package mutating func addSection(_ title: String) {
    lines.append(.section(title))
  }

  package mutating func add(_ cells: [String]) {
    lines.append(.cells(cells))
  }

  /// Columns padded with spaces.
  package var text: String {
    var widths = header.map(\.count)
    for case .cells(let cells) in lines {
      for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    func row(_ cells: [String]) -> String {
      var line = ""
      for (index, cell) in cells.enumerated() {
        let padding = String(repeating: " ", count: widths[index] - cell.count)
        let padded = alignments[index] == .left ? cell + padding : padding + cell
        line += index == 0 ? padded : "  " + padded
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    let body = lines.map { line in
      switch line {
      case .section(let title): "\n\(title)"
      case .cells(let cells): row(cells)
      }
    }
    return ([row(header)] + body).joined(separator: "\n")
  }

  /// A Markdown table for each section.
  package var markdown: String {
    let rule = alignments.map { $0 == .left ? "---" : "--:" }
    func row(_ cells: [String]) -> String {
      "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
    return lines.map { line in
      switch line {
      case .section(let title): "\n**\(title)**\n\n\(row(header))\n\(row(rule))"
      case .cells(let cells): row(cells)
      }
    }.joined(separator: "\n")
  }
}
