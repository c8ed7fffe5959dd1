// SPDX-License-Identifier: MIT

import Foundation

/// Where lines go: each is out when the call returns.
struct Output {
  /// Standard output could not take a line.
  struct Failure: Error {}

  func write(_ lines: [String]) throws(Failure) {
    guard !lines.isEmpty else { return }
    let text = lines.map { $0 + "\n" }.joined()
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      throw Failure()
    }
  }

  func write(_ text: String) throws(Failure) { try write([text]) }

  /// Without a line end.
  func prompt(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }

  /// Standard error is where failures are told; there is nowhere to tell of its own.
  func complain(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("relay-demo: \(text)\n".utf8))
  }
}

/// What standard input and output are.
enum Terminal {
  static var inputIsTerminal: Bool { isatty(0) != 0 }
  static var outputIsTerminal: Bool { isatty(1) != 0 }

  /// Whether lines are to be coloured: on a terminal that can do it, unless NO_COLOR (no-color.org)
  /// says no.
  static func wantsColor(environment: [String: String], isTerminal: Bool) -> Bool {
    isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Whether somebody types the lines and sees the answers: then there is a prompt, and no echo.
  static func isConversation(
    _ source: Options.Source, inputIsTerminal: Bool, outputIsTerminal: Bool
  ) -> Bool {
    source == .standardInput && inputIsTerminal && outputIsTerminal
  }
}
