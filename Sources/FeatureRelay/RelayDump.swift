// SPDX-License-Identifier: MIT

extension Relay {
  /// The relay as a table for people: registrations, queues, gates, limits and counts.
  public func dump() -> String { snapshot().description }
}

extension RelaySnapshot: CustomStringConvertible {
  /// The snapshot as a table for people.
  public var description: String {
    var lines = ["relay \"\(scope)\"\(parent.map { ", parent \"\($0)\"" } ?? "")"]
    if isClosed { lines.append("  closed") }
    lines.append("  gate: \(gateReasons.isEmpty ? "open" : "closed for " + list(gateReasons))")
    if inTransit > 0 { lines.append("  in transit: \(inTransit)") }
    if !features.isEmpty {
      lines += table(
        [
          "feature", "handlers", "gate", "waiting", "running", "delivered", "dropped", "refused",
          "limit", "time to live",
        ], features.map(row))
    }
    for feature in features {
      for command in feature.running { lines.append("  running: \(line(feature, command))") }
      for command in feature.waiting.prefix(20) {
        lines.append("  waiting: \(line(feature, command))")
      }
      if feature.counts.waiting > 20 {
        lines.append("  … and \(feature.counts.waiting - 20) more for \(feature.name)")
      }
    }
    for problem in problems { lines.append("  problem: \(problem)") }
    return lines.joined(separator: "\n")
  }

  private func row(_ feature: Feature) -> [String] {
    let counts = feature.counts
    let handlers = feature.registrations.map { registration in
      registration.handler + (registration.isOwned ? " (owned)" : "")
        + (registration.isAlive ? "" : " (dead)")
    }
    var gate = "open"
    if !feature.gateReasons.isEmpty {
      gate = "closed for \(list(feature.gateReasons))"
    } else if !feature.isOpen {
      gate = "closed (relay)"
    }
    return [
      feature.name, handlers.isEmpty ? "none" : handlers.joined(separator: " > "), gate,
      "\(counts.waiting)", "\(counts.running)", "\(counts.delivered)", dropped(counts),
      "\(counts.offered - counts.accepted)", "\(feature.limit)", "\(feature.timeToLive)",
    ]
  }

  private func dropped(_ counts: RelayCounts) -> String {
    let reasons = DropReason.allCases.filter { counts.dropped($0) > 0 }
    if reasons.isEmpty { return "0" }
    return reasons.map { "\(counts.dropped($0)) \($0)" }.joined(separator: ", ")
  }

  private func line(_ feature: Feature, _ command: Command) -> String {
    var words = ["\(feature.name)", "\(command.type ?? "closure")", "[\(command.id)]"]
    words.append("\(command.priority)")
    words.append("age \(command.age)")
    if command.attempts > 0 { words.append("attempts \(command.attempts)") }
    if !command.tags.isEmpty { words.append("tags \(list(command.tags.map(\.description)))") }
    return words.joined(separator: " ")
  }

  private func list(_ words: [String]) -> String { words.joined(separator: ", ") }

  private func table(_ head: [String], _ rows: [[String]]) -> [String] {
    let widths = head.indices.map { column in
      ([head] + rows).map { $0[column].count }.max() ?? 0
    }
    return ([head] + rows).map { row in
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      var line = "  " + cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
