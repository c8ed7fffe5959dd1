// SPDX-License-Identifier: MIT

import Foundation

/// Where text goes.
enum Output {
  /// Writes text and a line end; a reader that has gone away is not an error of ours to talk about.
  static func write(_ text: String) -> ExitStatus {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
      return .success
    } catch {
      return .inputOutput
    }
  }

  /// Standard error is where failures are told; there is nowhere to tell of its own.
  static func complain(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("relayctl: \(text)\n".utf8))
  }
}

enum Terminal {
  static var errorsAreATerminal: Bool { isatty(2) != 0 }
}

/// How far long work is, on standard error: on one line of a terminal, or a line for each tenth.
final class Progress {
  private let isShown: Bool
  private let isTerminal = Terminal.errorsAreATerminal
  private var last = -1

  init(isShown: Bool) {
    self.isShown = isShown
  }

  func show(_ what: String, _ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let percent = min(100, done * 100 / total)
    guard isTerminal ? percent != last : percent / 10 != last / 10 || last < 0 else { return }
    last = percent
    let text = isTerminal ? "\r\(what): \(percent) %" : "\(what): \(percent) %\n"
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  func clear() {
    if isShown, isTerminal, last >= 0 {
      try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8))
    }
    last = -1
  }
}

/// Numbers as people read them.
enum Format {
  static func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }

  static func bytes(_ number: Int) -> String {
    if number < 10_000 { return "\(number) B" }
    let kibibytes = Double(number) / 1_024
    return kibibytes < 10_000
      ? "\(Int(kibibytes.rounded())) KiB" : "\(Int((kibibytes / 1_024).rounded())) MiB"
  }

  /// Milliseconds as one or two units: 3 d 4 h, 12 s.
  static func age(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    if seconds < 0 { return "future" }
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return "\(seconds / 60) min" }
    if seconds < 86_400 { return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min" }
    return "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
  }

  /// Rows with their columns one below the other.
  static func table(_ rows: [[String]], rightAligned: Set<Int>) -> String {
    guard let first = rows.first else { return "" }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, text) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - text.count)
        line += (column > 0 ? "  " : "")
        line += rightAligned.contains(column) ? padding + text : text + padding
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// Text without anything that would move a terminal's cursor.
  static func visible(_ text: String) -> String {
    String(
      text.unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control ? "\u{FFFD}" : Character(scalar)
      })
  }
}

enum JSON {
  static func text(_ object: [String: Any]) -> String {
    let data = try? JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
