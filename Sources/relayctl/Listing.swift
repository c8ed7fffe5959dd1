// SPDX-License-Identifier: MIT

import Foundation
import RelayJournal

/// All commands of a journal, as a table or as JSON.
struct Listing {
  private enum State: String {
    case live, running, started, dead, parked, inbox
  }

  private struct Row {
    var state: State
    var recovered: RecoveredEntry
    var inbox: String?
  }

  private let inspection: JournalInspection
  private let rows: [Row]
  private let now: Int64

  init(_ inspection: JournalInspection, knownNames: Set<String>?, now: Date = Date()) {
    self.inspection = inspection
    self.now = Int64(now.timeIntervalSince1970 * 1_000)
    let isOwned = inspection.owner?.isRunning ?? false
    rows =
      inspection.recovered.map { recovered in
        var state = State.live
        if recovered.death != nil {
          state = .dead
        } else if let knownNames, !knownNames.contains(recovered.entry.name) {
          state = .parked
        } else if recovered.unfinishedAttempts > 0 {
          // Who started it may have died since.
          state = isOwned ? .running : .started
        }
        return Row(state: state, recovered: recovered)
      }
      + inspection.inboxEntries.map { entry in
        Row(state: .inbox, recovered: RecoveredEntry(entry: entry.entry), inbox: entry.inbox)
      }
  }

  /// What `inspect` prints.
  var text: String {
    var lines: [String] = []
    if rows.isEmpty {
      lines.append("no commands")
    } else {
      let header = ["id", "state", "name", "feature", "priority", "age", "attempts", "size"]
      let table = rows.map { row -> [String] in
        let entry = row.recovered.entry
        return [
          "\(entry.id)", row.state.rawValue, Format.visible(entry.name),
          Format.visible(entry.group), "\(entry.priority)", Format.age(now - entry.acceptedAt),
          "\(row.recovered.attempts)", Format.bytes(entry.payload.count),
        ]
      }
      lines.append(Format.table([header] + table, rightAligned: [0, 4, 5, 6, 7]))
    }
    lines.append("")
    lines.append(summary)
    for file in inspection.files where !file.damages.isEmpty {
      lines.append("damaged: \(file.name); relayctl verify says where")
    }
    let kept = inspection.files.filter { $0.kind == .quarantined }
    if !kept.isEmpty {
      lines.append("\(Format.count(kept.count, "damaged file")) from before in quarantine")
    }
    return lines.joined(separator: "\n")
  }

  private var summary: String {
    var counts: [State: Int] = [:]
    for row in rows { counts[row.state, default: 0] += 1 }
    let states: [State] = [.live, .running, .started, .dead, .parked, .inbox]
    var parts = states.compactMap { state in counts[state].map { "\($0) \(state.rawValue)" } }
    parts.append(
      "\(Format.bytes(inspection.bytes)) in \(Format.count(inspection.files.count, "file"))")
    if let owner = inspection.owner {
      parts.append("process \(owner.process) \(owner.isRunning ? "uses it" : "used it last")")
    }
    return parts.joined(separator: ", ")
  }

  /// What `export --json` prints.
  var json: String {
    var object: [String: Any] = [
      "entries": rows.map(object),
      "files": inspection.files.map { file in
        [
          "name": file.name, "kind": file.kind.rawValue, "bytes": file.bytes,
          "records": file.records, "tornBytes": file.tornBytes, "damages": file.damages.count,
        ] as [String: Any]
      },
      "isDamaged": inspection.isDamaged,
    ]
    if let owner = inspection.owner {
      object["owner"] = ["process": Int(owner.process), "isRunning": owner.isRunning]
    }
    return JSON.text(object)
  }

  private func object(_ row: Row) -> [String: Any] {
    let entry = row.recovered.entry
    var object: [String: Any] = [
      "id": entry.id, "state": row.state.rawValue, "name": entry.name, "feature": entry.group,
      "priority": Int(entry.priority), "acceptedAt": entry.acceptedAt, "run": entry.place.run,
      "sequence": entry.place.sequence, "attempts": Int(row.recovered.attempts),
      "unfinishedAttempts": Int(row.recovered.unfinishedAttempts),
      "payloadVersion": Int(entry.payloadVersion), "size": entry.payload.count,
    ]
    if let timeToLive = entry.timeToLive { object["timeToLive"] = timeToLive }
    if !entry.labels.isEmpty { object["tags"] = entry.labels }
    if let key = entry.key { object["key"] = Data(key.bytes).base64EncodedString() }
    if let death = row.recovered.death {
      object["death"] = [
        "reason": Int(death.reason), "detail": death.detail, "at": death.at,
      ]
    }
    if let inbox = row.inbox { object["inbox"] = inbox }
    // A payload that is JSON stays readable; anything else goes out whole as well.
    let payload = Data(entry.payload)
    if let value = try? JSONSerialization.jsonObject(with: payload, options: .fragmentsAllowed) {
      object["payload"] = value
    } else {
      object["payloadBase64"] = payload.base64EncodedString()
    }
    return object
  }
}
