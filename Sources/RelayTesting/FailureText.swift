// SPDX-License-Identifier: MIT

/// What an expectation says when it fails: what was wanted, what came nearest, what there was.
struct FailureText {
  /// So many commands are listed.
  static let listed = 30

  private var lines: [String]

  init(_ headline: String) {
    lines = [headline]
  }

  var text: String { lines.joined(separator: "\n") }

  mutating func add(_ line: String) {
    lines.append(line)
  }

  /// Puts the command that comes nearest to a pattern under it, with a mark where they part.
  mutating func addNearest(to pattern: DispatchPattern, among commands: [RecordedCommand]) {
    let candidates = commands.filter(pattern.nearlyMatches)
    guard let value = pattern.value else {
      if let last = candidates.last { lines.append("  nearest: \(last.number)  \(last.words)") }
      return
    }
    let distances = candidates.map { (Self.distance(value, $0.words), $0) }
    guard let nearest = distances.min(by: { $0.0 < $1.0 })?.1 else { return }
    lines.append("  wanted:  \(value)")
    lines.append("  nearest: \(nearest.words)")
    let common = zip(value, nearest.words).prefix { $0 == $1 }.count
    lines.append(String(repeating: " ", count: 11 + common) + "^")
  }

  /// Lists commands as a table.
  mutating func addTable(_ title: String, _ commands: [RecordedCommand], marked: Set<Int> = []) {
    guard !commands.isEmpty else {
      lines.append("\(title) nothing")
      return
    }
    lines.append(title)
    let rows = commands.prefix(Self.listed).map { command in
      [
        "\(command.number)", command.feature, command.words,
        "\(command.priority)" + command.tags.map { " #\($0)" }.joined(), "\(command.outcome)",
      ]
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for (row, command) in zip(rows, commands) {
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      var line = (marked.contains(command.number) ? "> " : "  ") + cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      lines.append(line)
    }
    if commands.count > Self.listed {
      lines.append("  … and \(commands.count - Self.listed) more")
    }
  }

  /// In how many characters two texts differ (Levenshtein 1966, by Wagner and Fischer's table of
  /// 1974), as far as their first 200 characters go.
  static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.prefix(200))
    let right = Array(right.prefix(200))
    var row = Array(0...right.count)
    for (number, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = number + 1
      for column in right.indices {
        let substitution = diagonal + (character == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substitution, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[right.count]
  }
}
