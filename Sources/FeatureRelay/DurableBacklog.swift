// SPDX-License-Identifier: MIT

internal import RelayJournal

/// Records that could not be written yet, boiled down to what has to be written when the disk
/// answers: a command that came and went meanwhile leaves nothing behind.
///
/// Its size is bounded by the commands that live: one item for each of them, or for the end of one
/// that is on disk.
struct DurableBacklog {
  private struct Item {
    /// Set when the command itself is not on disk.
    var accepted: DurableWrite? = nil
    var records: [DurableWrite] = []
  }

  private var items: [UInt64: Item] = [:]
  /// Everything that is on disk has to go first.
  private(set) var hasBarrier = false

  var isEmpty: Bool { items.isEmpty && !hasBarrier }
  var count: Int { items.count }

  /// Whether the command itself, or something about it, is still to be written.
  func contains(_ id: UInt64) -> Bool { items[id] != nil }

  /// Adds a record behind those that are there.
  mutating func add(_ write: DurableWrite) {
    guard let id = write.record.id else {
      items = [:]
      hasBarrier = true
      return
    }
    var item = items[id] ?? Item()
    switch write.record {
    case .accepted(var entry):
      forgetReplaced(&entry)
      item = Item(accepted: DurableWrite(.accepted(entry), write.state))
    case .acceptedAndStarted(var entry):
      forgetReplaced(&entry)
      item = Item(accepted: DurableWrite(.accepted(entry), write.state))
      item.records = [DurableWrite(.started(id, attempt: 1), write.state)]
    case .started:
      item.records.append(write)
    case .interrupted:
      // It says that the start before it does not count.
      if case .started = item.records.last?.record {
        item.records.removeLast()
      } else {
        item.records.append(write)
      }
    case .failed(_, let place):
      if let place, case .accepted(var entry) = item.accepted?.record {
        entry.place = place
        item.accepted = DurableWrite(.accepted(entry), item.accepted?.state)
      }
      // How many attempts there were is told by the last start.
      item.records.removeAll { if case .started = $0.record { false } else { true } }
      if item.records.count > 1 { item.records.removeFirst(item.records.count - 1) }
      item.records.append(write)
    case .acknowledged, .ended:
      if let accepted = item.accepted {
        items[id] = nil
        endReplaced(by: accepted)
        return
      }
      // The barrier that goes first ends what is on disk.
      if hasBarrier { return items[id] = nil }
      item.records = [write]
    case .dead, .revived:
      item.records.append(write)
    case .barrier: break
    }
    items[id] = item
  }

  /// A command that takes the place of one which is not on disk has nothing to replace there.
  private mutating func forgetReplaced(_ entry: inout JournalEntry) {
    guard let replaced = entry.replaces, let accepted = items[replaced]?.accepted else { return }
    items[replaced] = nil
    // It may have taken the place of one that is there.
    if case .accepted(let former) = accepted.record { entry.replaces = former.replaces }
  }

  /// A command that came and went has still taken the place of one that is on disk.
  private mutating func endReplaced(by accepted: DurableWrite) {
    guard case .accepted(let entry) = accepted.record, let replaced = entry.replaces else { return }
    items[replaced] = Item(
      records: [DurableWrite(.ended(replaced, reason: DropReason.coalesced.rawValue))])
  }

  /// Everything, in an order in which it can be written.
  mutating func take() -> [DurableWrite] {
    defer {
      items = [:]
      hasBarrier = false
    }
    var writes: [DurableWrite] = hasBarrier ? [DurableWrite(.barrier)] : []
    for (_, item) in items.sorted(by: { $0.key < $1.key }) {
      if let accepted = item.accepted { writes.append(accepted) }
      writes += item.records
    }
    return writes
  }

  /// The commands that are not on disk.
  var unwritten: [DurableState] { items.values.compactMap(\.accepted?.state) }
}
