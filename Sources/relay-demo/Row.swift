// SPDX-License-Identifier: MIT

/// A line about one thing that happened: what, where, to whom.
struct Row: Equatable {
  enum Tone {
    case plain, dim, strong, good, waiting, bad, shell
  }

  let action: String
  /// Scope and feature.
  let place: String
  var subject: String
  let tone: Tone
  /// Rows with the same kind say the same of different commands; nil for those that stand alone.
  var kind: String?
  /// The command that it is about.
  var number: Int?

  /// Makes a row; nil for what another row says better.
  init?(_ entry: Entry) {
    switch entry {
    case .event(let event, let label):
      self.init(event, label)
    case .deed(let deed):
      self.init(
        "handler", Self.place(deed.scope, deed.feature.typeName),
        "\(deed.handler) \(deed.action)", .shell)
      kind = deed.handler
    case .queued(let label, let scope, let feature, let reason):
      self.init("queued", Self.place(scope, feature), "\(label): \(reason)", .waiting)
      (kind, number) = (reason, label.number)
    case .answer(let label, let text):
      self.init("answer", "", "\(label): \(text)", .good)
    case .note(let text):
      self.init("note", "", text, .dim)
    }
  }

  private init(_ action: String, _ place: String, _ subject: String, _ tone: Tone) {
    self.action = action
    self.place = place
    self.subject = subject
    self.tone = tone
  }

  private init?(_ event: EventRecord, _ label: CommandLabel?) {
    let place = Self.place(event.scope, event.feature)
    let command = label.map { "\($0)" } ?? event.command ?? "a command"
    let handler = event.handler ?? "a handler"
    let reason = harmless(event.reason ?? "")
    switch event.event {
    case "started": return nil
    case "registered": self.init("registered", place, handler, .shell)
    case "unregistered": self.init("unregistered", place, handler, .shell)
    case "handlerDied":
      let unused = event.detail == nil ? "" : " and never received anything"
      self.init("handler gone", place, "\(handler) was let go\(unused)", .bad)
    case "accepted":
      let details = label?.details ?? []
      self.init(
        "accepted", place, ([command] + details).joined(separator: ", "), .dim)
      kind = details.joined()
    case "refused": self.init("refused", place, "\(command): \(reason)", .bad)
    case "delivered":
      let age = event.age.map { $0 > 0 ? " after \(seconds(.seconds($0)))" : "" } ?? ""
      self.init("delivered", place, "\(command) to \(handler)\(age)", .good)
      kind = " to \(handler)\(age)"
    case "failed":
      let attempt = event.attempt.map { " (attempt \($0))" } ?? ""
      self.init("failed", place, "\(command): \(event.detail ?? "")\(attempt)", .bad)
    case "willRetry":
      self.init("retries", place, "\(command) in \(event.detail ?? "a while")", .waiting)
    case "dropped": self.init("dropped", place, "\(command): \(reason)", .bad)
    case "died": self.init("given up", place, "\(command): \(reason)", .bad)
    case "journal": self.init("journal", place, event.detail ?? "", .shell)
    case "gateClosed": self.init("gate closed", place, "for \(reason)", .waiting)
    case "gateOpened": self.init("gate opened", place, "for \(reason)", .good)
    case "handlerUnderAnotherType":
      self.init(
        "look here", place, "\(handler) conforms, but is registered for \(event.detail ?? "")",
        .bad)
    default: self.init(event.event, place, "", .shell)
    }
    number = label?.number
    kind = kind ?? (number == nil ? nil : reason + (event.detail ?? ""))
  }

  private static func place(_ scope: String, _ feature: String?) -> String {
    guard let feature else { return harmless(scope) }
    let name = FeatureName.allCases.first { $0.typeName == feature }?.rawValue ?? feature
    return "\(harmless(scope))/\(name)"
  }
}

extension CommandLabel: CustomStringConvertible {
  var description: String { "#\(number) \(quoted(text))" }
}

// MARK: Much of a kind

extension Row {
  /// Puts rows that say the same of different commands into one, where the first of them stands.
  static func gathered(_ rows: [Row]) -> [Row] {
    var order: [[String]] = []
    var groups: [[String]: [Row]] = [:]
    for (index, row) in rows.enumerated() {
      let key = row.kind.map { [row.action, row.place, $0] } ?? ["\(index)"]
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(row)
    }
    return order.flatMap { key -> [Row] in
      let group = groups[key]!
      guard group.count > 2, var row = group.first else { return group }
      row.subject = summary(of: group)
      return [row]
    }
  }

  private static func summary(of group: [Row]) -> String {
    let kind = group[0].kind ?? ""
    guard let first = group.compactMap(\.number).min(), let last = group.compactMap(\.number).max()
    else { return "\(kind), \(group.count) times" }
    let which = "\(group.count) commands, #\(first) to #\(last)"
    guard !kind.isEmpty else { return which }
    return kind.hasPrefix(" ") ? which + kind : "\(which): \(kind)"
  }
}
