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

  /// What the direct path reads, and who the slot is.
  let hot: UnsafeMutablePointer<Slot>
  /// What the slot has in common with others of its relay, with its own settings.
  private(set) var shared: SlotShared
  /// Everything that only a slot with commands has (``SlotBacklog``).
  var backlog = SlotBacklog.empty
  var registrations: [RegistrationEntry] = []
  /// No longer registered, perhaps still in the main actor's hands.
  var retired: [RegistrationEntry] = []
  /// The last time that was heard of: what events happened at.
  var time = Int64.min
  /// With so many registrations it is time to look for dead handlers further down.
  var sweepsAt = UInt32(SlotState.smallStack)
  // Flags, and last: what stands behind them in memory fills the gap.
  /// Whether the backlog is the slot's own.
  var ownsBacklog = false
  var isRelayGateClosed = false
  var isClosed = false
  /// What lies in the journal is being read, and comes first.
  var isHeld = false
  /// Somebody sees the relay's events, so that nothing may go past them.
  var isObserved = false
  /// The main actor has been asked to come.
  var isHopPosted = false
  /// It has come and delivers: what comes from elsewhere need not ask it again.
  var isHopHere = false
  /// A task has been made for the next asynchronous command; its first turn is to come.
  var isTaskPosted = false
  /// A child's command waits for this slot's lane.
  var isLaneWanted = false
  /// A child's command holds this slot's lane.
  var isLent = false
  var hasWatchers = false

  init(hot: UnsafeMutablePointer<Slot>, shared: SlotShared) {
    self.hot = hot
    self.shared = shared
  }

  deinit {
    guard ownsBacklog else { return }
    backlog.deinitialize(count: 1)
    backlog.deallocate()
  }

  var settings: SlotSettings {
    get { shared.settings }
    set { shared = shared.with(newValue) }
  }
  var recorder: any EventRecorder { shared.recorder }
  /// Not counted: it is looked at by each command beyond the limit, and what the slot has in common
  /// with others keeps it.
  var transit: Unmanaged<TransitCount> { .passUnretained(shared.transit) }
  var origin: EventOrigin { hot.origin(shared.recorder) }
  var featureName: String { origin.featureName }

  /// Whether every gate of this slot is open. A closed relay's gates still stand in the way of its
  /// children; its being closed does not: they are served from further up.
  @inline(__always)
  var areGatesOpen: Bool {
    gateReasons.isEmpty && (!isRelayGateClosed || settings.ignoresRelayGate)
  }

  /// Whether this slot delivers.
  @inline(__always)
  var isOpen: Bool { !isClosed && !isHeld && areGatesOpen }

  /// Whether an asynchronous command has the lane.
  var isLaneAsync: Bool { asyncLane != nil || lentRun != nil }

  /// Whether a command need not go through the queue (I1). While somebody looks it goes with events
  /// (``Slot/observed``), otherwise without (``Slot/direct``).
  @inline(__always)
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
  /// Makes a place for a feature that events come from.
  func origin(slot: UInt32, feature key: UInt) -> EventOrigin
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
    lookForRoom(&effects)
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
    let indices = queue.commands(tagged: tag)
    // Where nobody is told of each of them, those without details go by the short way.
    let isShort = !isObserved && !hasWatchers && tape == nil
    var ended: [SlotEffects.Ended] = []
    if isShort { ended.reserveCapacity(indices.count) }
    var (short, others) = (0, 0)
    for start in stride(from: 0, to: indices.count, by: 32) {
      let some = indices[start..<min(start + 32, indices.count)]
      queue.look(atNeighboursOf: some)
      // A durable command that came back under its number may stand there twice.
      for index in some where queue.isLive(index) {
        let node = queue.node(index)
        if node.pointee.state == .running {
          guard includingRunning, let run = runs[node.pointee.sequence] else { continue }
          effects.cancel(run)
          others += 1
        } else if isShort, node.pointee.details == nil {
          if node.pointee.isInTransit { effects.leftTransit += 1 }
          ends.append(node.pointee.sequence, .cancelled)
          ended.append(SlotEffects.Ended(work: queue.removePlain(index), reason: .cancelled))
          short += 1
        } else {
          effects.end(&ended)
          drop(index, .cancelled, &effects)
          others += 1
        }
      }
    }
    guard short > 0 else { return others }
    effects.end(&ended)
    counts.addDropped(.cancelled, UInt64(short))
    queue.giveBackMemory()
    lookForRoom(&effects)
    return short + others
  }

  /// There may be room again.
  mutating func lookForRoom(_ effects: inout SlotEffects) {
    if queue.waiting < settings.limit { resumeRoomWaiters(&effects) }
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
    for entry in registrations + retired { entry.pointer.header.pointee.isEmptied = true }
    retired += registrations
    registrations = []
    // There is nothing else to empty, and no reason to make room for it.
    guard ownsBacklog else { return }
    runs = [:]
    asyncLane = nil
    emptiedRun = queue.runningCommands.first.map { queue.node($0).pointee.sequence }
    uniqueKeys = UniqueKeys()
    explainedVersion = .max
    resumeRoomWaiters(&effects)
  }

  /// There is room, or nothing to wait for any more.
  mutating func resumeRoomWaiters(_ effects: inout SlotEffects) {
    guard !roomWaiters.isEmpty else { return }
    effects.resume(roomWaiters)
    roomWaiters = []
  }
}
