// SPDX-License-Identifier: MIT

internal import RelayJournal

/// What is left to do after a slot's lock has been given back: the slot's state machine says it,
/// its storage does it.
struct SlotEffects: ~Copyable {
  /// A command that ended undelivered: its captures are released, and whoever waits for it is told.
  struct Ended {
    var work: UnmanagedWork
    var reason: DropReason
  }

  /// Whoever forwards a stream and waits for room.
  struct RoomWaiter {
    let id: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  /// What few operations leave to do.
  private final class Rare {
    var moreEnded: [Ended] = []
    var garbage: [RegistrationEntry] = []
    var cancelled: [AsyncRun] = []
    var abandoned: [AsyncRun] = []
    var resumed: [RoomWaiter] = []
    var writes: [DurableWrite] = []
  }

  /// The main actor has something to do.
  var needsHop = false
  /// The slot wants to be woken up at this time.
  var wakeAt = Int64.max
  /// Commands that were in transit to the main actor and are no longer.
  var leftTransit = 0
  /// Whether nothing foreign can run when this is carried out.
  private(set) var isQuiet = true
  /// A handler that was looked at: the reference, which may be the last one, has to be released.
  private(set) var handler: Unmanaged<AnyObject>?
  /// A registration that is to be released.
  private(set) var firstGarbage: RegistrationEntry?
  /// Most operations end at most one command.
  private(set) var firstEnded: Ended?
  private var rare: Rare?

  /// Whether there is more to do than to come, to wake up and to count.
  var hasMore: Bool {
    firstEnded != nil || rare != nil || handler != nil || firstGarbage != nil
  }

  /// Further commands that ended.
  var moreEnded: [Ended] { rare?.moreEnded ?? [] }
  /// Asynchronous commands whose task is to be cancelled.
  var cancelled: [AsyncRun] { rare?.cancelled ?? [] }
  /// Asynchronous commands whose lanes are to be freed on the main actor.
  var abandoned: [AsyncRun] { rare?.abandoned ?? [] }
  /// Whoever waited for room.
  var resumed: [RoomWaiter] { rare?.resumed ?? [] }

  /// What is to be written to the journal before anything else is done.
  var writes: [DurableWrite] { rare?.writes ?? [] }

  /// Whether there is anything to be written.
  var hasWrites: Bool { rare?.writes.isEmpty == false }

  mutating func write(_ record: JournalRecord, _ durable: DurableState) {
    makeRare().writes.append(DurableWrite(record, durable))
  }

  /// The command whose place a new one takes: the new one's record ends it, so that there are never
  /// both nor none.
  mutating func takeCoalesced() -> UInt64? {
    guard let rare else { return nil }
    let place = rare.writes.firstIndex { write in
      if case .ended(_, DropReason.coalesced.rawValue) = write.record { true } else { false }
    }
    return place.flatMap { rare.writes.remove(at: $0).record.id }
  }

  mutating func end(_ work: UnmanagedWork?, _ reason: DropReason) {
    guard let work else { return }
    isQuiet = false
    if firstEnded == nil {
      firstEnded = Ended(work: work, reason: reason)
    } else {
      makeRare().moreEnded.append(Ended(work: work, reason: reason))
    }
  }

  /// Lets go of a handler that was looked at: the reference may be the last one.
  mutating func release(_ handler: AnyObject) {
    isQuiet = false
    self.handler = .passRetained(handler)
  }

  /// Takes over what is retired. The array keeps its memory: most hold one registration at a time.
  mutating func release(_ retired: inout [RegistrationEntry]) {
    isQuiet = false
    if firstGarbage == nil { firstGarbage = retired.popLast() }
    guard !retired.isEmpty else { return }
    makeRare().garbage += retired
    retired = []
  }

  mutating func cancel(_ run: AsyncRun) {
    isQuiet = false
    makeRare().cancelled.append(run)
  }

  /// Cancels a command and takes its lanes away.
  mutating func abandon(_ run: AsyncRun) {
    cancel(run)
    makeRare().abandoned.append(run)
  }

  /// Resumes who waits for room: no foreign code runs here.
  mutating func resume(_ waiters: [RoomWaiter]) {
    guard !waiters.isEmpty else { return }
    makeRare().resumed += waiters
  }

  private mutating func makeRare() -> Rare {
    if let rare { return rare }
    let rare = Rare()
    self.rare = rare
    return rare
  }
}
