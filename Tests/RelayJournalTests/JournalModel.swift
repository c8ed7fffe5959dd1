// SPDX-License-Identifier: MIT

import RelayJournal

/// What a journal should hold: the records' meaning written down once more, as simply as possible.
struct JournalModel: Hashable, Sendable {
  private(set) var entries: [UInt64: RecoveredEntry] = [:]

  /// In the order of acceptance, as an opening gives them.
  var inOrder: [RecoveredEntry] {
    entries.values.sorted { ($0.entry.place, $0.entry.id) < ($1.entry.place, $1.entry.id) }
  }

  var live: [UInt64] { entries.keys.filter { entries[$0]?.death == nil }.sorted() }
  var dead: [UInt64] { entries.keys.filter { entries[$0]?.death != nil }.sorted() }

  mutating func apply(_ records: [JournalRecord]) {
    for record in records { apply(record) }
  }

  mutating func apply(_ record: JournalRecord) {
    switch record {
    case .accepted(let entry): accept(RecoveredEntry(entry: entry))
    case .acceptedAndStarted(let entry):
      accept(
        RecoveredEntry(entry: entry, attempts: 1, unfinishedAttempts: 1, wasStarted: true))
    case .started(let id, let attempt):
      entries[id]?.attempts = attempt
      entries[id]?.unfinishedAttempts += 1
      entries[id]?.wasStarted = true
    case .acknowledged(let id), .ended(let id, _): entries[id] = nil
    case .interrupted(let id):
      guard let entry = entries[id] else { return }
      entries[id]?.attempts = max(1, entry.attempts) - 1
      entries[id]?.unfinishedAttempts = max(1, entry.unfinishedAttempts) - 1
    case .failed(let id, let place):
      guard let entry = entries[id] else { return }
      entries[id]?.unfinishedAttempts = max(1, entry.unfinishedAttempts) - 1
      if let place { entries[id]?.entry.place = place }
    case .dead(let id, let death): entries[id]?.death = death
    case .revived(let id):
      entries[id]?.death = nil
      entries[id]?.attempts = 0
      entries[id]?.unfinishedAttempts = 0
    case .barrier: entries = [:]
    }
  }

  private mutating func accept(_ recovered: RecoveredEntry) {
    var recovered = recovered
    if let replaced = recovered.entry.replaces { entries[replaced] = nil }
    recovered.entry.replaces = nil
    entries[recovered.entry.id] = recovered
  }
}
