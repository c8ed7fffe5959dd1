// SPDX-License-Identifier: MIT

/// What only a slot has that has ever had something to keep: its queue, its counts, and what is
/// remembered of commands. Most slots of a relay call their handlers directly and never do.
///
/// A slot reads it by one pointer, which leads to one that is ``empty`` at first, so that a read
/// asks nothing; the first change makes the slot's own, which it keeps until its end.
struct SlotBacklog: ~Copyable {
  let relayNumber: UInt32
  let slotNumber: UInt32
  var queue = CommandQueue()
  var counts = RelayCounts()
  /// How many a full queue has evicted on the short way, which ``counts`` does not have.
  var evictions: UInt64 = 0
  var ends = CommandEnds()
  var directFailures = DirectFailures()
  var uniqueKeys = UniqueKeys()
  var gateReasons: [String] = []
  var tape: CommandTape?
  var runs: [UInt64: AsyncRun] = [:]
  var asyncLane: UInt64?
  var emptiedRun: UInt64?
  var lentRun: ObjectIdentifier?
  var armedWake = Int64.max
  var plannedWakes: [Int64] = []
  var claim = SlotState.Claim()
  var spareTransit = 0
  var stamps = StampClock()
  var lastSequence: UInt64 = 0
  var lastDeadline = Int64.min
  var roomWaiters: [SlotEffects.RoomWaiter] = []
  var explainedVersion = UInt64.max
  var hasNamedOtherType = false
  var jitter: SplitMix

  init(relay: UInt32, slot: UInt32, seed: UInt64) {
    relayNumber = relay
    slotNumber = slot
    jitter = SplitMix(seed: seed)
  }

  /// That of every slot that has none of its own.
  ///
  /// Safe: nobody writes to it, since ``SlotState`` makes a slot's own first, and it refers to
  /// nothing. The thread sanitizer would report two slots that do.
  nonisolated(unsafe) static let empty: UnsafeMutablePointer<SlotBacklog> = {
    let empty = UnsafeMutablePointer<SlotBacklog>.allocate(capacity: 1)
    empty.initialize(to: SlotBacklog(relay: 0, slot: 0, seed: 0))
    return empty
  }()
}

extension SlotState {
  /// Makes the slot's own backlog unless there is one: before a command is taken in.
  @inline(__always)
  mutating func makeBacklogIfNeeded() {
    if !ownsBacklog { makeBacklog() }
  }

  /// The slot's own backlog, which is made unless there is one.
  @inline(__always)
  private var own: UnsafeMutablePointer<SlotBacklog> {
    mutating get {
      makeBacklogIfNeeded()
      return backlog
    }
  }

  /// The slot's own backlog for what only changes once a command has been taken in: asking whether
  /// it is there each time would cost.
  @inline(__always)
  var made: UnsafeMutablePointer<SlotBacklog> {
    assert(ownsBacklog, "a slot without a backlog has no commands")
    return backlog
  }

  @inline(never)
  private mutating func makeBacklog() {
    let number = hot.pointee.number
    backlog = .allocate(capacity: 1)
    backlog.initialize(
      to: SlotBacklog(
        relay: shared.log.relay, slot: number, seed: shared.settings.seed &+ UInt64(number)))
    ownsBacklog = true
  }
}

// MARK: What stands in it

// By address: a coroutine is not always inlined, and takes memory of its own then. Safe: a backlog
// does not move, and whoever has the state has the backlog.

@inline(__always)
private func address<Value: ~Copyable>(_ value: UnsafePointer<Value>) -> UnsafePointer<Value> {
  value
}

@inline(__always)
private func mutableAddress<Value: ~Copyable>(
  _ value: UnsafeMutablePointer<Value>
) -> UnsafeMutablePointer<Value> {
  value
}

extension SlotState {
  var relayNumber: UInt32 { backlog.pointee.relayNumber }
  var slotNumber: UInt32 { backlog.pointee.slotNumber }

  var queue: CommandQueue {
    @inline(__always) unsafeAddress { address(&backlog.pointee.queue) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.queue) }
  }
  var counts: RelayCounts {
    @inline(__always) unsafeAddress { address(&backlog.pointee.counts) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.counts) }
  }
  var ends: CommandEnds {
    @inline(__always) unsafeAddress { address(&backlog.pointee.ends) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.ends) }
  }
  var directFailures: DirectFailures {
    @inline(__always) unsafeAddress { address(&backlog.pointee.directFailures) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.directFailures) }
  }
  var uniqueKeys: UniqueKeys {
    @inline(__always) unsafeAddress { address(&backlog.pointee.uniqueKeys) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.uniqueKeys) }
  }
  /// Reasons for which the feature's own gate is closed.
  var gateReasons: [String] {
    @inline(__always) unsafeAddress { address(&backlog.pointee.gateReasons) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.gateReasons) }
  }
  /// Asynchronous commands that run, by their sequence number.
  var runs: [UInt64: AsyncRun] {
    @inline(__always) unsafeAddress { address(&backlog.pointee.runs) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.runs) }
  }
  /// The one of them that holds the lane.
  var asyncLane: UInt64? {
    @inline(__always) unsafeAddress { address(&backlog.pointee.asyncLane) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.asyncLane) }
  }
  /// A synchronous command that ran when the slot was emptied: it may finish, and does not come
  /// again.
  var emptiedRun: UInt64? {
    @inline(__always) unsafeAddress { address(&backlog.pointee.emptiedRun) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.emptiedRun) }
  }
  /// The next time at which the clock will call.
  var armedWake: Int64 {
    @inline(__always) unsafeAddress { address(&backlog.pointee.armedWake) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.armedWake) }
  }
  /// All times at which it will, the next one last: another one is only asked for when it is
  /// earlier than all of them.
  var plannedWakes: [Int64] {
    @inline(__always) unsafeAddress { address(&backlog.pointee.plannedWakes) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.plannedWakes) }
  }
  var claim: Claim {
    @inline(__always) unsafeAddress { address(&backlog.pointee.claim) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.claim) }
  }
  /// Places in transit that no command has yet, for the short way in: whoever looks gives them back
  /// first (``SlotStorage/withState(_:)``).
  var spareTransit: Int {
    @inline(__always) unsafeAddress { address(&backlog.pointee.spareTransit) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.spareTransit) }
  }
  var stamps: StampClock {
    @inline(__always) unsafeAddress { address(&backlog.pointee.stamps) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.stamps) }
  }
  var lastSequence: UInt64 {
    @inline(__always) unsafeAddress { address(&backlog.pointee.lastSequence) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.lastSequence) }
  }
  var lastDeadline: Int64 {
    @inline(__always) unsafeAddress { address(&backlog.pointee.lastDeadline) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&made.pointee.lastDeadline) }
  }
  var roomWaiters: [SlotEffects.RoomWaiter] {
    @inline(__always) unsafeAddress { address(&backlog.pointee.roomWaiters) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.roomWaiters) }
  }
  /// The state of all registrations when a wait was last looked into.
  var explainedVersion: UInt64 {
    @inline(__always) unsafeAddress { address(&backlog.pointee.explainedVersion) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.explainedVersion) }
  }
  /// Whether a handler under another type was named; once is enough.
  var hasNamedOtherType: Bool {
    @inline(__always) unsafeAddress { address(&backlog.pointee.hasNamedOtherType) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.hasNamedOtherType) }
  }
  var jitter: SplitMix {
    @inline(__always) unsafeAddress { address(&backlog.pointee.jitter) }
    @inline(__always) unsafeMutableAddress { mutableAddress(&own.pointee.jitter) }
  }
  /// Keeps what is dispatched, for the kit for tests; nil in production.
  var tape: CommandTape? {
    @inline(__always) unsafeAddress { address(&backlog.pointee.tape) }
    set { if ownsBacklog || newValue != nil { own.pointee.tape = newValue } }
  }
  /// The attempt of the command that has this slot's lane, where it is an asynchronous one.
  var lentRun: ObjectIdentifier? {
    @inline(__always) unsafeAddress { address(&backlog.pointee.lentRun) }
    set { if ownsBacklog || newValue != nil { own.pointee.lentRun = newValue } }
  }
}
