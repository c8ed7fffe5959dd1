// SPDX-License-Identifier: MIT

internal import Synchronization

/// One feature in one relay as a state machine: registrations, gate, queue and counts. It takes no
/// lock, runs no foreign code and asks no clock; what is to be done about a transition stands in
/// ``SlotEffects``.
///
/// Three things always hold once a transition has been settled. I1: a registration is published for
/// direct delivery only if nothing waits, the gates are open and nothing is retired.
/// I2: where a command could be delivered, the main actor has been asked to come, is at it, or the
/// lane is busy. I3: each command ends once.
struct SlotState: ~Copyable {
  /// So many registrations may stand there without anybody looking whether their handlers live.
  static let smallStack = 8

  let relayNumber: UInt32
  let slotNumber: UInt32
  let origin: EventOrigin
  var featureName: String { origin.featureName }
  let recorder: any EventRecorder
  let transit: TransitCount

  var registrations: [RegistrationEntry] = []
  /// No longer registered, perhaps still in the main actor's hands.
  var retired: [RegistrationEntry] = []
  /// With so many registrations it is time to look for dead handlers further down.
  var sweepsAt = SlotState.smallStack
  var queue = CommandQueue()
  var counts = RelayCounts()
  var ends = CommandEnds()
  var directFailures = DirectFailures()
  var uniqueKeys = UniqueKeys()
  var settings: SlotSettings
  /// Reasons for which the feature's own gate is closed.
  var gateReasons: [String] = []
  var isRelayGateClosed = false
  var isClosed = false
  /// What lies in the journal is being read, and comes first.
  var isHeld = false
  /// Somebody sees the relay's events, so that nothing may go past them.
  var isObserved = false
  /// Keeps what is dispatched, for the kit for tests; nil in production.
  var tape: CommandTape?
  /// The main actor has been asked to come.
  var isHopPosted = false
  /// It has come and delivers: what comes from elsewhere need not ask it again.
  var isHopHere = false
  /// A task has been made for the next asynchronous command; its first turn is to come.
  var isTaskPosted = false
  /// A child's command waits for this slot's lane.
  var isLaneWanted = false
  /// Asynchronous commands that run, by their sequence number.
  var runs: [UInt64: AsyncRun] = [:]
  /// The one of them that holds the lane.
  var asyncLane: UInt64?
  /// A synchronous command that ran when the slot was emptied: it may finish, and does not come
  /// again.
  var emptiedRun: UInt64?
  /// A child's command holds this slot's lane.
  var isLent = false
  /// The attempt of that command, where it is an asynchronous one.
  var lentRun: ObjectIdentifier?
  /// The next time at which the clock will call.
  var armedWake = Int64.max
  /// All times at which it will, the next one last: another one is only asked for when it is
  /// earlier than all of them.
  var plannedWakes: [Int64] = []
  var claim = Claim()
  /// Places in transit that no command has yet, for the short way in: whoever looks gives them back
  /// first (``SlotStorage/withState(_:)``).
  var spareTransit = 0
  var stamps = StampClock()
  var lastSequence: UInt64 = 0
  var lastDeadline = Int64.min
  var roomWaiters: [SlotEffects.RoomWaiter] = []
  var hasWatchers = false
  /// The state of all registrations when a wait was last looked into.
  var explainedVersion = UInt64.max
  /// Whether a handler under another type was named; once is enough.
  var hasNamedOtherType = false
  var jitter: SplitMix
  /// The last time that was heard of: what events happened at.
  var time = Int64.min

  init(
    relayNumber: UInt32, slotNumber: UInt32, origin: EventOrigin, settings: SlotSettings,
    recorder: any EventRecorder, transit: TransitCount
  ) {
    self.relayNumber = relayNumber
    self.slotNumber = slotNumber
    self.origin = origin
    self.settings = settings
    self.recorder = recorder
    self.transit = transit
    jitter = SplitMix(seed: settings.seed &+ UInt64(slotNumber))
  }

  /// Whether every gate of this slot is open. A closed relay's gates still stand in the way of its
  /// children; its being closed does not: they are served from further up.
  var areGatesOpen: Bool {
    gateReasons.isEmpty && (!isRelayGateClosed || settings.ignoresRelayGate)
  }

  /// Whether this slot delivers.
  var isOpen: Bool { !isClosed && !isHeld && areGatesOpen }

  /// Whether an asynchronous command has the lane.
  var isLaneAsync: Bool { asyncLane != nil || lentRun != nil }

  /// Whether a command need not go through the queue (I1). While somebody looks it goes with events
  /// (``Slot/observed``), otherwise without (``Slot/direct``).
  var isClear: Bool {
    isOpen && queue.hasNothingReady && retired.isEmpty && !isLaneWanted && settings.dropsFailures
      && tape == nil
  }

  func id(_ index: UInt32) -> CommandID {
    CommandID(
      relay: relayNumber, slot: slotNumber, index: index,
      sequence: queue.node(index).pointee.sequence)
  }
}

/// Takes down what happens, in order. Called under a slot's lock: it keeps things and calls nobody.
protocol EventRecorder: AnyObject, Sendable {
  /// Takes an event down if somebody looks, or if it is a problem.
  func record(_ event: EventDraft, from origin: EventOrigin, at time: Int64)
  /// Takes down that a watched command has another status.
  func record(_ status: CommandStatus, of sequence: UInt64, slot: UInt32)
}

// MARK: Ending

extension SlotState {
  /// Ends a command that waits, or an asynchronous one that runs.
  mutating func drop(_ index: UInt32, _ reason: DropReason, _ effects: inout SlotEffects) {
    let sequence = queue.node(index).pointee.sequence
    if isObserved {
      record(.dropped(reason), index, command: runs[sequence]?.ticket.type.commandType)
    }
    finish(index, reason, work: runs[sequence]?.work, &effects)
  }

  /// Ends a command: counts it, frees its place and its key, and hands its work out for release.
  mutating func finish(
    _ index: UInt32, _ reason: DropReason?, work: UnmanagedWork?, _ effects: inout SlotEffects
  ) {
    let id = id(index)
    let node = queue.node(index)
    if node.pointee.isInTransit { effects.leftTransit += 1 }
    if node.pointee.details != nil, reason != nil,
      let uniqueness = node.pointee.details?.uniqueness
    {
      uniqueKeys.release(uniqueness.key, by: id)
    }
    if node.pointee.details != nil { writeEnd(index, reason, &effects) }
    if let reason { counts.addDropped(reason) } else { counts.delivered += 1 }
    ends.append(id.sequence, reason)
    tape?.ended(id, reason)
    let kept = queue.remove(index)
    if let reason { effects.end(kept ?? work, reason) }
    if hasWatchers {
      recorder.record(
        reason.map { .dropped($0) } ?? .delivered, of: id.sequence, slot: slotNumber)
    }
    if !roomWaiters.isEmpty, queue.waiting < settings.limit {
      effects.resume(roomWaiters)
      roomWaiters = []
    }
  }

  /// The main actor has looked at the time: the calls of the clock up to now have done their duty.
  mutating func woke(at now: Int64) {
    while let wake = plannedWakes.last, wake <= now { plannedWakes.removeLast() }
    armedWake = plannedWakes.last ?? .max
  }

  /// The main actor has come. What comes from now on asks again: first, or a wake-up would be lost.
  mutating func hopArrived(at now: Int64, _ effects: inout SlotEffects) {
    isHopPosted = false
    expire(at: now, &effects)
    if armedWake <= now { woke(at: now) }
  }

  /// Handles everything whose time has come, commands that ran for too long included.
  mutating func expire(at now: Int64, _ effects: inout SlotEffects) {
    while let index = queue.due(at: now) {
      let node = queue.node(index)
      switch node.pointee.state {
      case .free: preconditionFailure("FeatureRelay: a command that has ended was due.")
      case .running: timeOut(index, at: now, &effects)
      case .ready, .delayed:
        if node.pointee.deadline <= now {
          drop(index, .expired, &effects)
        } else {
          queue.wake(index, after: lastSequence)
        }
      }
    }
  }

  /// Takes what waits out of the queue.
  ///
  /// - Returns: how many commands.
  mutating func clear(_ reason: DropReason, _ effects: inout SlotEffects) -> Int {
    var indices: [UInt32] = []
    indices.reserveCapacity(queue.waiting)
    queue.forEachWaiting { indices.append($0) }
    for index in indices { drop(index, reason, &effects) }
    return indices.count
  }

  /// Ends what waits under a tag, and asks what runs under it to stop.
  ///
  /// - Returns: how many commands.
  mutating func cancel(
    tagged tag: CommandTag, includingRunning: Bool, _ effects: inout SlotEffects
  ) -> Int {
    var count = 0
    for index in queue.commands(tagged: tag) {
      if queue.node(index).pointee.state != .running {
        drop(index, .cancelled, &effects)
        count += 1
      } else if includingRunning, let run = runs[queue.node(index).pointee.sequence] {
        effects.cancel(run)
        count += 1
      }
    }
    return count
  }

  /// Where a command is in its life; nil when it is not remembered.
  func status(_ id: CommandID) -> CommandStatus? {
    guard id.relay == relayNumber, id.slot == slotNumber else { return nil }
    guard queue.isLive(id.index, sequence: id.sequence) else { return ends.status(id.sequence) }
    return queue.node(id.index).pointee.state == .running ? .running : .waiting
  }

  /// Empties the slot: what waits, asynchronous commands that run, registrations, keys.
  mutating func reset(_ reason: DropReason, _ effects: inout SlotEffects) {
    _ = clear(reason, &effects)
    for run in runs.values.sorted(by: { $0.id.sequence < $1.id.sequence }) {
      drop(run.id.index, reason, &effects)
      effects.abandon(run)
    }
    runs = [:]
    asyncLane = nil
    emptiedRun = queue.runningCommands.first.map { queue.node($0).pointee.sequence }
    for entry in registrations + retired { entry.pointer.header.pointee.isEmptied = true }
    uniqueKeys = UniqueKeys()
    retired += registrations
    registrations = []
    explainedVersion = .max
    effects.resume(roomWaiters)
    roomWaiters = []
  }
}
