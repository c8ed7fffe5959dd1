// SPDX-License-Identifier: MIT

import RelayJournal

/// Whether everything in a journal can be read, and where not.
struct Verification {
  private let inspection: JournalInspection
  private let isJSON: Bool

  init(_ inspection: JournalInspection, isJSON: Bool) {
    self.inspection = inspection
    self.isJSON = isJSON
  }

  /// Prints the answer.
  func answer() -> ExitStatus {
    let status = Output.write(isJSON ? json : text)
    return status == .success && inspection.isDamaged ? .damaged : status
  }

  private var text: String {
    var lines: [String] = []
    for file in inspection.files {
      let size = Format.bytes(file.bytes)
      switch file.kind {
      case .quarantined: lines.append("\(file.name): put aside before, \(size)")
      case .leftover, .unfinished, .superseded:
        lines.append("\(file.name): \(file.kind.rawValue), \(size); the next start removes it")
      case .records, .base, .inbox:
        let damage = file.damages.isEmpty ? "" : ", damaged"
        lines.append("\(file.name): \(Format.count(file.records, "record")), \(size)\(damage)")
      }
      for damage in file.damages {
        let what = damage.detail.isEmpty ? "" : " (\(damage.detail))"
        lines.append(
          "  bytes \(damage.range.lowerBound) to \(damage.range.upperBound): "
            + "\(Format.count(damage.lost, "record")) lost, at least\(what)")
      }
      if file.tornBytes > 0 {
        lines.append(
          "  \(Format.bytes(file.tornBytes)) at the end are of an append that did not end; "
            + "nothing that was reported as written is missing")
      }
    }
    lines.append(
      inspection.isDamaged
        ? "damaged; \(Format.count(inspection.recovered.count, "command")) can be read"
        : "all can be read: \(Format.count(inspection.recovered.count, "command"))")
    return lines.joined(separator: "\n")
  }

  private var json: String {
    JSON.text([
      "isDamaged": inspection.isDamaged,
      "entries": inspection.recovered.count,
      "files": inspection.files.map { file in
        [
          "name": file.name, "kind": file.kind.rawValue, "bytes": file.bytes,
          "records": file.records, "tornBytes": file.tornBytes,
          "damages": file.damages.map { damage in
            [
              "from": damage.range.lowerBound, "to": damage.range.upperBound, "lost": damage.lost,
              "detail": damage.detail,
            ] as [String: Any]
          },
        ] as [String: Any]
      },
    ])
  }
}
