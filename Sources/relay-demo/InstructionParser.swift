// SPDX-License-Identifier: MIT

import FeatureRelay

/// Reads lines. It knows nothing of relays: what it returns is a value.
struct InstructionParser {
  /// The words that a line can begin with.
  static let words = [
    "active", "ask", "background", "cancel", "clear", "close", "crash", "dispatch", "flood",
    "forget",
    "help", "hide", "login", "logout", "network", "permission", "reset", "scope", "sheet", "show",
    "status", "wait",
  ]

  private var tokens: ArraySlice<Token>
  private let word: String

  /// Reads a line.
  ///
  /// - Returns: nil for a line that is empty or a comment.
  static func parse(_ line: String) throws(ScriptProblem) -> Instruction? {
    let tokens = try Token.split(line)
    guard let first = tokens.first else { return nil }
    var parser = InstructionParser(tokens: tokens.dropFirst(), word: first.text)
    guard !first.isQuoted, let instruction = try parser.instruction() else {
      throw ScriptProblem(
        message: "unknown word \(quoted(first.text)): expected one of \(list(words))")
    }
    if let extra = parser.tokens.first {
      throw ScriptProblem(
        message: "\(first.text): expected the end of the line, found \(quoted(extra.text))")
    }
    return instruction
  }

  private mutating func instruction() throws(ScriptProblem) -> Instruction? {
    switch word {
    case "dispatch":
      let feature = try feature(among: FeatureName.dispatchable)
      return .dispatch(feature, text: try text(), try dispatchOptions())
    case "ask":
      _ = try feature(among: [.permission])
      let text = tokens.first?.isQuoted == true ? try text() : "camera"
      return .ask(text: text, waitingAtMost: try takeIf("within") ? try duration() : nil)
    case "flood":
      let count = try count()
      return .flood(count, tokens.isEmpty ? .toast : try feature(among: FeatureName.dispatchable))
    case "show": return .show(try feature())
    case "hide": return .hide(try feature())
    case "forget": return .forget(try feature())
    case "sheet": return .sheet(isOpen: try either("open", "close"))
    case "permission": return .person(allows: try either("allow", "deny"))
    case "network": return .network(isUp: try either("up", "down"))
    case "background": return .background
    case "active": return .active
    case "login": return .login(user: tokens.isEmpty ? nil : try name("a user"))
    case "logout": return .logout(user: tokens.isEmpty ? nil : try name("a user"))
    case "cancel": return .cancel(tag: try name("a tag"))
    case "clear": return .clear(tokens.isEmpty ? nil : try feature())
    case "reset": return .reset
    case "close": return .close
    case "scope": return .scope(try name("a scope's name"))
    case "status": return .status
    case "wait": return .wait(try duration())
    case "crash": return .crash
    case "help": return .help
    default: return nil
    }
  }

  private mutating func dispatchOptions() throws(ScriptProblem) -> DispatchOptions {
    var options = DispatchOptions()
    while let token = tokens.popFirst() {
      switch token.text {
      case "from":
        _ = try one(of: ["background"])
        options.isFromBackground = true
      case "priority":
        let name = try one(of: CommandPriority.allCases.map { "\($0)" })
        options.priority = CommandPriority.allCases.first { "\($0)" == name }
      case "tag": options.tags.append(try name("a tag"))
      case "unique":
        let keepsLatest = try either("latest", "first")
        let key = try name("a key")
        options.unique = keepsLatest ? .keepLatest(key) : .keepFirst(key)
      case "within": options.timeToLive = try duration()
      case "durable": options.isDurable = true
      default:
        throw expected(
          "from, priority, tag, unique, within, durable or the end of the line", token)
      }
    }
    return options
  }
}

// MARK: Pieces

extension InstructionParser {
  private mutating func feature(
    among features: [FeatureName] = FeatureName.allCases
  ) throws(ScriptProblem) -> FeatureName {
    FeatureName(rawValue: try one(of: features.map(\.rawValue), "a feature"))!
  }

  private mutating func one(
    of words: [String], _ what: String? = nil
  ) throws(ScriptProblem) -> String {
    let token = tokens.popFirst()
    if let token, !token.isQuoted, words.contains(token.text) { return token.text }
    throw expected((what.map { "\($0): " } ?? "") + Self.list(words), token)
  }

  private mutating func either(_ yes: String, _ no: String) throws(ScriptProblem) -> Bool {
    try one(of: [yes, no]) == yes
  }

  private mutating func takeIf(_ word: String) throws(ScriptProblem) -> Bool {
    guard let token = tokens.first else { return false }
    guard token == Token(text: word, isQuoted: false) else {
      throw expected("\(word) or the end of the line", token)
    }
    tokens.removeFirst()
    return true
  }

  private mutating func text() throws(ScriptProblem) -> String {
    let token = tokens.popFirst()
    guard let token, token.isQuoted else { throw expected("a text in quotation marks", token) }
    return token.text
  }

  private mutating func name(_ what: String) throws(ScriptProblem) -> String {
    let token = tokens.popFirst()
    guard let token, token.text.contains(where: { !$0.isWhitespace }) else {
      throw expected(what, token)
    }
    return token.text
  }

  private mutating func count() throws(ScriptProblem) -> Int {
    let token = tokens.popFirst()
    guard let token, let count = Int(token.text), (1...100_000).contains(count) else {
      throw expected("a number from 1 to 100000", token)
    }
    return count
  }

  private mutating func duration() throws(ScriptProblem) -> Duration {
    let token = tokens.popFirst()
    if let token, let duration = Self.duration(token.text) { return duration }
    throw expected("a time above zero such as 500ms, 5s, 2m or 1h, at most 10000h", token)
  }

  private static func duration(_ text: String) -> Duration? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let number = Double(digits) else { return nil }
    let units = ["ms": 1.0, "s": 1_000, "m": 60_000, "h": 3_600_000]
    guard let unit = units[String(text.dropFirst(digits.count))] else { return nil }
    let milliseconds = (number * unit).rounded()
    guard (1...36_000_000_000).contains(milliseconds) else { return nil }
    return .milliseconds(Int(milliseconds))
  }

  private func expected(_ what: String, _ token: Token?) -> ScriptProblem {
    let found = token.map { quoted($0.text) } ?? "the end of the line"
    return ScriptProblem(message: "\(word): expected \(what), found \(found)")
  }

  private static func list(_ words: [String]) -> String {
    guard words.count > 1 else { return words.joined() }
    return words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
  }
}
