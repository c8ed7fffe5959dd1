// SPDX-License-Identifier: MIT

import BenchmarkHarness

private typealias ChartedSection = (
  title: String, group: String, rows: [(name: String, label: String)]
)

/// The rows that a README shows, in its order and with names that need no table.
private let chartedSections: [ChartedSection] = [
  (
    "A handler is there: one call on the main actor", "direct",
    [
      ("F", "call through a weak delegate"),
      ("closure", "dispatch, closure without captures"),
      ("string", "dispatch, closure with a string"),
      ("typed", "dispatch, typed command"),
      ("naive", "lock, dictionary, weak box"),
      ("AsyncStream", "AsyncStream, yield alone"),
      ("NotificationCenter", "NotificationCenter.post, weak observer"),
    ]
  ),
  (
    "The relay owns the handler", "owned",
    [
      ("strong", "call through a strong reference"),
      ("closure", "dispatch, closure without captures"),
    ]
  ),
  (
    "Nobody is there yet: one of 10,000 is queued", "enqueue",
    [
      ("closure-10000", "dispatch, closure without captures"),
      ("capture-10000", "dispatch, closure with a number"),
      ("append-capture", "Array.append, closure with a number"),
    ]
  ),
  (
    "A handler comes: one of 10,000 is delivered", "replay",
    [
      ("closure-10000", "replay, closure without captures"),
      ("capture-10000", "replay, closure with a number"),
      ("loop-capture", "for over an Array, with a number"),
    ]
  ),
  (
    "From another thread until delivered on the main actor", "threads",
    [
      ("dispatch-1", "dispatch"),
      ("main.async-1", "DispatchQueue.main.async for each"),
      ("Task-1", "Task { @MainActor in } for each"),
    ]
  ),
  (
    "A question and its answer", "lifecycle",
    [("request", "request"), ("task-answer", "Task and continuation")]
  ),
]

extension Report {
  /// The rows of ``chartedSections`` that were measured.
  var chart: Chart {
    let sections = chartedSections.map { title, group, charted in
      let bars = charted.compactMap { name, label -> Chart.Bar? in
        guard let row = rows.first(where: { $0.group == group && $0.name == name }),
          let nanoseconds = row.minimum
        else { return nil }
        return Chart.Bar(title: label, nanoseconds: nanoseconds, role: row.role)
      }
      return Chart.Section(title: title, bars: bars)
    }
    return Chart(
      sections: sections,
      caption: "ns for one, logarithmic, less is better · \(machine.description)")
  }
}
