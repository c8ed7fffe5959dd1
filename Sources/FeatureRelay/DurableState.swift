// SPDX-License-Identifier: MIT

internal import Foundation
internal import RelayJournal
internal import Synchronization

/// What a slot keeps of a durable command beside its node: the record, and what lies on disk of it.
///
/// Safe to share: everything mutable is touched under its slot's lock, but for the level reached,
/// which is atomic.
final class DurableState: @unchecked Sendable {
  let declaration: DurableDeclaration
  /// Where it is written; nil in a relay without a journal.
  let store: DurableStore?
  /// What it survives once it may be delivered.
  let level: Durability
  /// Its record, with the payload.
  @exclusivity(unchecked) var entry: JournalEntry
  /// The record is written together with the first attempt's, by whoever dispatches.
  @exclusivity(unchecked) var isUnwritten = false
  /// It was given to another process, whose it is from now on. Set by whoever writes it, before it
  /// returns to whoever dispatches.
  var isHandedOver = false
  /// Earlier attempts of which nobody knows how they ended.
  var isRedelivery = false
  /// Why it was given up on.
  var death: DeadLetter.Reason?
  /// How often it was tried, once it has ended.
  var attempts: UInt16 = 0
  /// What it survives by now.
  private let reachedLevel = Atomic<UInt8>(Durability.inMemory.rawValue)

  var number: RecordNumber { RecordNumber(entry.id) }
  /// Its sequence number in the slot.
  var sequence: UInt64 { entry.id | CommandID.durableBit }

  var reached: Durability {
    get { Durability(rawValue: reachedLevel.load(ordering: .acquiring))! }
    set { reachedLevel.store(newValue.rawValue, ordering: .releasing) }
  }

  init(
    _ declaration: DurableDeclaration, store: DurableStore?, level: Durability, entry: JournalEntry
  ) {
    self.declaration = declaration
    self.store = store
    self.level = level
    self.entry = entry
  }

  func context(_ id: CommandID, attempt: UInt16) -> CommandContext {
    CommandContext(
      id: id, attempt: Int(attempt), isRedelivery: isRedelivery,
      acceptedAt: .milliseconds(entry.acceptedAt))
  }
}

/// A record on its way to the journal, and the command that it is about where its state is at hand.
struct DurableWrite: Sendable {
  /// What there is to be done about it beside writing.
  enum Kind: Sendable {
    case acceptance
    case death
    case other
  }

  let record: JournalRecord
  let state: DurableState?
  let kind: Kind

  init(_ record: JournalRecord, _ state: DurableState? = nil) {
    self.record = record
    self.state = state
    kind =
      switch record {
      case .accepted, .acceptedAndStarted: .acceptance
      case .dead: .death
      default: .other
      }
  }

  /// It is in the kernel.
  func noteWritten() {
    if kind == .acceptance { state?.reached = .survivesProcessDeath }
  }
}

extension JournalRecord {
  /// The entry that the record is about; nil for a barrier.
  var id: UInt64? {
    switch self {
    case .accepted(let entry), .acceptedAndStarted(let entry): entry.id
    case .started(let id, _), .acknowledged(let id), .interrupted(let id), .failed(let id, _),
      .ended(let id, _), .dead(let id, _), .revived(let id):
      id
    case .barrier: nil
    }
  }
}
