// SPDX-License-Identifier: MIT

import FeatureRelay

/// Turns what happened into lines for people. It writes nothing itself.
struct Printer {
  let isColored: Bool

  /// A line of a script, as it is read.
  func echo(_ text: String, number: Int) -> String {
    let gap = String(repeating: " ", count: max(0, 4 - "\(number)".count))
    let line = harmless(text, limit: 120)
    let isComment = text.first { !$0.isWhitespace } == "#"
    return paint("\(gap)\(number)  ", .dim) + paint(line, isComment ? .dim : .strong)
  }

  /// What a line brought about. Where that is much, what is alike is one line.
  func lines(_ entries: [Entry]) -> [String] {
    let rows = entries.compactMap { Row($0) }
    return (rows.count > Self.mostRows ? Row.gathered(rows) : rows).map(line)
  }

  /// A relay as a table.
  func table(_ snapshot: RelaySnapshot) -> [String] {
    snapshot.description.split(separator: "\n").map { "      " + harmless(String($0)) }
  }

  /// What became of all commands of a session.
  func summary(_ counts: RelayCounts) -> String {
    var ends = ["\(counts.delivered) delivered", "\(counts.waiting) waiting"]
    if counts.running > 0 { ends.append("\(counts.running) running") }
    if counts.dropped > 0 {
      let reasons = DropReason.allCases.filter { counts.dropped($0) > 0 }
        .map { "\(counts.dropped($0)) \($0)" }
      ends.append("\(counts.dropped) dropped (\(reasons.joined(separator: ", ")))")
    }
    let refused = counts.offered - counts.accepted
    var beginnings = "\(counts.accepted) accepted"
    if counts.restored > 0 { beginnings += " + \(counts.restored) restored" }
    let line =
      "\(counts.offered) offered = \(counts.accepted) accepted + \(refused) refused; "
      + "\(beginnings) = \(ends.joined(separator: " + "))"
    return paint(line, .dim)
  }

  static let mostRows = 24

  private func line(_ row: Row) -> String {
    let action = row.action.padded(to: 13)
    let place = row.place.padded(to: 16)
    var line = "      " + paint(action, row.tone) + " " + place + " " + row.subject
    while line.last == " " { line.removeLast() }
    return line
  }

  private func paint(_ text: String, _ tone: Row.Tone) -> String {
    guard isColored, tone != .plain else { return text }
    return "\u{1B}[\(tone.code)m\(text)\u{1B}[0m"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

extension Row.Tone {
  fileprivate var code: String {
    switch self {
    case .plain: "0"
    case .dim: "2"
    case .strong: "1"
    case .good: "32"
    case .waiting: "33"
    case .bad: "31"
    case .shell: "36"
    }
  }
}
