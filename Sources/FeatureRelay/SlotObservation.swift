// SPDX-License-Identifier: MIT

internal import Synchronization

// The direct path while somebody looks: the same call of the handler, with its events before and
// after. Nothing goes through the queue, and only the word of the relay's order is taken for it. On
// the main actor.
//
// Whoever changes a slot under its lock takes `observed` away first, and only then records what he
// does (SlotStorage.locked). A direct delivery takes its numbers only if `observed` is still there
// and nothing has been numbered since it was looked at: so it never starts before a command that
// was accepted earlier, nor behind a gate that was closed earlier.

/// The direct delivery of a slot that somebody looks at, and its events: kept from one to the next,
/// so that nothing has to be counted for them. Made when it is needed; the main actor's.
///
/// The events are filled in and shown where they are. As a part of something that cannot be copied
/// they are lent to who sees them; nobody changes them meanwhile, since the lane is busy while the
/// first two are shown, and ``isShowing`` is set while the last one is.
struct Observation: ~Copyable {
  /// The slot's lane while it runs, which no other run has: none at first.
  var lane: UInt = 0
  /// The registration that ``started`` is about, and its handler's type: another registration may
  /// come to stand in the same place.
  private var entry: UnsafeMutableRawPointer
  private var handlerType: Any.Type
  /// What happens as it starts; ``started`` keeps it.
  private(set) var start: Unmanaged<EventContent.Kind>
  var accepted: RelayEvent
  var started: RelayEvent
  var delivered: RelayEvent
  /// Whether its end is being shown.
  var isShowing = false

  init(_ entry: UnsafeMutableRawPointer, _ origin: EventOrigin) {
    self.entry = entry
    handlerType = entry.header.pointee.type
    accepted = RelayEvent(
      .accepted, EventCommand(index: CommandNode.none, attempt: 0), number: 0, at: 0, from: origin)
    let kind = EventContent.Kind(started: entry.header.pointee.type)
    start = .passUnretained(kind)
    started = Self.started(kind, origin)
    delivered = RelayEvent(
      .delivered, EventCommand(index: CommandNode.none, attempt: 1), number: 0, at: 0,
      from: origin)
  }

  private static func started(_ kind: EventContent.Kind, _ origin: EventOrigin) -> RelayEvent {
    RelayEvent(
      .other(kind), EventCommand(index: CommandNode.none, attempt: 1), number: 0, at: 0,
      from: origin)
  }

  /// A command is about to run on a registration.
  @inline(__always)
  mutating func begin(
    on entry: UnsafeMutableRawPointer, _ origin: @autoclosure () -> EventOrigin,
    _ sequence: UInt64, _ type: Any.Type?, _ priority: CommandPriority, at time: Int64
  ) {
    if entry != self.entry || entry.header.pointee.type != handlerType {
      change(to: entry, origin())
    }
    accepted.happen(to: sequence, type, priority, acceptedAt: time, at: time)
    started.happen(to: sequence, type, priority, acceptedAt: time, at: time)
  }

  @inline(never)
  private mutating func change(to entry: UnsafeMutableRawPointer, _ origin: EventOrigin) {
    self.entry = entry
    handlerType = entry.header.pointee.type
    let kind = EventContent.Kind(started: entry.header.pointee.type)
    start = .passUnretained(kind)
    started = Self.started(kind, origin)
  }

  /// It has ended well.
  @inline(__always)
  mutating func end(at time: Int64) {
    let command = accepted.subject
    delivered.happen(
      to: command.sequence, command.type, command.priority, acceptedAt: command.acceptedAt,
      at: time)
  }
}

/// Lends the events to who sees them.
extension Observation {
  @inline(__always)
  borrowing func showAccepted(to audience: EventAudience) { audience.observe(accepted) }

  @inline(__always)
  borrowing func showStarted(to audience: EventAudience) { audience.observe(started) }

  @inline(__always)
  borrowing func showDelivered(to audience: EventAudience) { audience.observe(delivered) }

  @inline(never)
  borrowing func appendDelivered(to buffer: EventBuffer) { buffer.append(delivered) }
}

extension UnsafeMutablePointer<Slot> {
  /// The direct delivery has its place in the order: it runs.
  @inline(__always)
  func beginsObserved(
    _ observation: UnsafeMutablePointer<Observation>, _ entry: UnsafeMutableRawPointer,
    _ lane: UInt
  ) {
    pointee.lane.store(lane &+ 3, ordering: .relaxed)
    entry.header.pointee.wasUsed.store(true, ordering: .relaxed)
    observation.pointee.lane = lane &+ 3
  }

  /// As ``beginDirect()`` while somebody looks: nil as well when nobody does.
  @usableFromInline @inline(never)
  func beginObserved(_ priority: CommandPriority) -> (UnsafeMutableRawPointer, UInt)? {
    guard pointee.observed.load(ordering: .relaxed) != nil else { return nil }
    return pointee.storage._withUnsafeGuaranteedRef { $0.beginObserved(priority, nil) }
  }

  /// The same for a typed command. One that may come again after a failure goes by way of the
  /// queue, where it keeps its id.
  @usableFromInline @inline(never)
  func beginObserved<Command: RelayCommand>(
    _ command: Command.Type, _ priority: CommandPriority?
  ) -> (UnsafeMutableRawPointer, UInt)? {
    guard pointee.observed.load(ordering: .relaxed) != nil else { return nil }
    let policy = command.policy
    guard policy.retry?.backoff == nil else { return nil }
    return pointee.storage._withUnsafeGuaranteedRef {
      $0.beginObserved(priority ?? policy.priority, command)
    }
  }
}

extension SlotStorage {
  fileprivate func beginObserved(
    _ priority: CommandPriority, _ type: Any.Type?
  ) -> (UnsafeMutableRawPointer, UInt)? {
    // Before anything is looked at: the clock may be somebody's own.
    let now = clock.now
    let lane = hot.pointee.lane.load(ordering: .relaxed)
    guard lane & 1 == 0, let entry = hot.pointee.observed.load(ordering: .acquiring), entry.begin()
    else { return nil }
    let observation = observation ?? makeObservation(on: entry)
    if observation.pointee.isShowing {
      entry.end()
      return nil
    }
    observation.pointee.begin(
      on: entry, origin, CommandID.directSequence(UInt64(lane >> 2) &+ 1), type, priority, at: now)
    if log.recordStart(observation, of: hot, entry, lane) { return (entry, lane) }
    entry.end()
    return nil
  }

  @inline(never)
  private func makeObservation(
    on entry: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<Observation> {
    let new = UnsafeMutablePointer<Observation>.allocate(capacity: 1)
    new.initialize(to: Observation(entry, origin))
    observation = new
    return new
  }

  /// A direct delivery has ended well, and is counted; but somebody looked, or something came
  /// meanwhile.
  func afterDirect(_ entry: UnsafeMutableRawPointer, _ lane: UInt) {
    if let observation, observation.pointee.lane == lane &+ 3 { delivered(observation) }
    // Still there: nothing waits.
    if hot.pointee.observed.load(ordering: .acquiring) != entry { drainInline() }
  }

  @inline(__always)
  private func delivered(_ observation: UnsafeMutablePointer<Observation>) {
    // Before the clock is asked, which may be somebody's own.
    observation.pointee.isShowing = true
    observation.pointee.end(at: clock.now)
    log.recordEnd(observation)
    if hot.pointee.isFollowed.load(ordering: .acquiring) { tellFollowers(observation) }
    observation.pointee.isShowing = false
  }

  @inline(never)
  private func tellFollowers(_ observation: UnsafeMutablePointer<Observation>) {
    let sequence = observation.pointee.accepted.subject.sequence
    update(onMain: true, postsHop: false) { _, _ in tellFollowers(.delivered, sequence) }
  }

  /// The direct delivery that has the lane has failed. Under the lock.
  ///
  /// - Returns: false when nobody looked as it began.
  func observedFailed(_ error: any Error, _ state: inout SlotState, at now: Int64) -> Bool {
    let lane = hot.pointee.lane.load(ordering: .relaxed)
    guard let observation, observation.pointee.lane == lane else { return false }
    let subject = observation.pointee.started.subject
    // Counted, so that its number is not another one's.
    hot.pointee.lane.store((lane & ~3) &+ 4, ordering: .relaxed)
    state.time = max(state.time, now)
    state.directFailures.append(UInt64(lane >> 2) + 1)
    state.counts.addDropped(.failed)
    for kind in [RelayEvent.Kind.failed(error), .dropped(.failed)] {
      log.record(
        EventDraft(kind: kind, command: subject), from: origin, at: state.time)
    }
    tellFollowers(.dropped(.failed), subject.sequence)
    return true
  }
}

// MARK: Status

extension SlotStorage {
  /// Where a command is in its life. Under the lock.
  func status(of id: CommandID, _ state: borrowing SlotState) -> CommandStatus? {
    guard let number = id.directNumber else { return state.status(id) }
    guard id.relay == log.relay, id.slot == self.number else { return nil }
    let lane = hot.pointee.lane.load(ordering: .acquiring)
    let ended = UInt64(lane >> 2)
    if number > ended { return number == ended + 1 && lane & 2 == 2 ? .running : nil }
    if number + UInt64(CommandEnds.remembered) <= ended { return nil }
    return state.directFailures.contains(number) ? .dropped(.failed) : .delivered
  }

  /// Somebody is going to follow the direct delivery that runs: its end, on the main actor, looks
  /// whether somebody does once it has recorded its event. Under the lock.
  func followDirect() {
    hot.pointee.isFollowed.store(true, ordering: .releasing)
    // Either that end sees the flag, or its lane is seen to be free.
    log.fence()
  }

  /// Under the lock.
  private func tellFollowers(_ status: CommandStatus, _ sequence: UInt64) {
    hot.pointee.isFollowed.store(false, ordering: .relaxed)
    log.record(status, of: sequence, slot: number)
  }
}

/// Which direct deliveries have failed while somebody looked: the others were delivered.
struct DirectFailures {
  var count: UInt64 = 0
  private var latest: [UInt64] = []

  mutating func append(_ number: UInt64) {
    count += 1
    latest.removeAll { $0 + UInt64(CommandEnds.remembered) <= number }
    latest.append(number)
  }

  /// Whether it has, if it is one of the latest.
  func contains(_ number: UInt64) -> Bool { latest.contains(number) }
}
