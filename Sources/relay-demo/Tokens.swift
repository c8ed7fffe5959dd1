// SPDX-License-Identifier: MIT

/// A word of a line, bare or in quotation marks.
struct Token: Equatable {
  let text: String
  let isQuoted: Bool
}

/// Why a line was not understood: what was expected, and what was found.
struct ScriptProblem: Error, Equatable {
  let message: String
}

extension Token {
  /// Cuts a line into words. `#` begins a comment; within quotation marks `\"`, `\\`, `\n` and `\t`
  /// stand for a character.
  static func split(_ line: String) throws(ScriptProblem) -> [Token] {
    var tokens: [Token] = []
    var rest = line[...]
    while true {
      rest = rest.drop(while: \.isWhitespace)
      guard let first = rest.first, first != "#" else { return tokens }
      if first == "\"" {
        rest.removeFirst()
        tokens.append(Token(text: try takeQuoted(&rest), isQuoted: true))
        if let next = rest.first, !next.isWhitespace, next != "#" {
          throw ScriptProblem(
            message: "expected a space after a closing quotation mark, found \(quoted("\(next)"))")
        }
      } else {
        let word = rest.prefix { !$0.isWhitespace && $0 != "\"" && $0 != "#" }
        rest.removeFirst(word.count)
        if rest.first == "\"" {
          throw ScriptProblem(
            message: "expected a space before a quotation mark, after \(quoted(String(word)))")
        }
        tokens.append(Token(text: String(word), isQuoted: false))
      }
    }
  }

  private static func takeQuoted(_ rest: inout Substring) throws(ScriptProblem) -> String {
    var text = ""
    while let character = rest.popFirst() {
      if character == "\"" { return text }
      guard character == "\\" else {
        text.append(character)
        continue
      }
      switch rest.popFirst() {
      case "\"": text.append("\"")
      case "\\": text.append("\\")
      case "n": text.append("\n")
      case "t": text.append("\t")
      case let other?:
        throw ScriptProblem(
          message: "expected \\\", \\\\, \\n or \\t, found \\\(harmless(String(other)))")
      case nil: break
      }
    }
    throw ScriptProblem(message: "expected a closing quotation mark, found the end of the line")
  }
}
