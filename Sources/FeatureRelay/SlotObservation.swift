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
struct Observation: ~Copyable {
  /// The slot's lane while it runs, which no other run has: none at first.
  var lane: UInt = 0
  /// The registration that ``started`` is about.
  var entry: UnsafeMutableRawPointer
  /// What is said of it when it was accepted, and when it has ended.
  let event = UnsafeMutablePointer<RelayEvent>.allocate(capacity: 1)
  /// What is said when it starts.
  let started = UnsafeMutablePointer<RelayEvent>.allocate(capacity: 1)
  /// Whether the event is being shown, and is not here.
  var isShowing = false

  init(_ entry: UnsafeMutableRawPointer, _ origin: EventOrigin) {
    self.entry = entry
    event.initialize(
      to: RelayEvent(.accepted, EventCommand(), number: 0, at: 0, from: origin))
    started.initialize(to: Self.start(on: entry, origin))
  }

  deinit {
    for event in [event, started] {
      event.deinitialize(count: 1)
      event.deallocate()
    }
  }

  /// Takes the events for a run on a registration.
  @inline(__always)
  mutating func take(
    _ entry: UnsafeMutableRawPointer, _ origin: @autoclosure () -> EventOrigin
  ) -> (RelayEvent, RelayEvent) {
    if entry != self.entry {
      self.entry = entry
      started.pointee = Self.start(on: entry, origin())
    }
    isShowing = true
    return (event.move(), started.move())
  }

  private static func start(
    on entry: UnsafeMutableRawPointer, _ origin: EventOrigin
  ) -> RelayEvent {
    RelayEvent(
      .started(entry.header.pointee.type), EventCommand(), number: 0, at: 0, from: origin)
  }
}

extension UnsafeMutablePointer<Slot> {
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
    var command = EventCommand(
      sequence: CommandID.directSequence(UInt64(lane >> 2) + 1), acceptedAt: now, type: type,
      index: CommandNode.none, attempt: 0, priority: priority)
    let observation = observation(on: entry)
    if observation.pointee.isShowing {
      entry.end()
      return nil
    }
    var (accepted, started) = observation.pointee.take(entry, origin)
    accepted.accept(command, at: now)
    command.attempt = 1
    started.happen(to: command, at: now)
    let isBegun = log.recordStart(
      &accepted, &started,
      if: { hot.pointee.observed.load(ordering: .acquiring) == entry },
      begin: {
        hot.pointee.lane.store(lane &+ 3, ordering: .relaxed)
        entry.header.pointee.wasUsed.store(true, ordering: .relaxed)
        observation.pointee.lane = lane &+ 3
      })
    observation.pointee.event.initialize(to: consume accepted)
    observation.pointee.started.initialize(to: consume started)
    observation.pointee.isShowing = false
    if isBegun { return (entry, lane) }
    entry.end()
    return nil
  }

  private func observation(
    on entry: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<Observation> {
    if let observation { return observation }
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
    let now = clock.now
    observation.pointee.isShowing = true
    var event = observation.pointee.event.move()
    event.deliver(at: now)
    log.recordEnd(&event)
    if hot.pointee.isFollowed.load(ordering: .acquiring) {
      update(onMain: true, postsHop: false) { state, _ in tellFollowers(.delivered, event) }
    }
    observation.pointee.event.initialize(to: consume event)
    observation.pointee.isShowing = false
  }

  /// The direct delivery that has the lane has failed. Under the lock.
  ///
  /// - Returns: false when nobody looked as it began.
  func observedFailed(_ error: any Error, _ state: inout SlotState, at now: Int64) -> Bool {
    let lane = hot.pointee.lane.load(ordering: .relaxed)
    guard let observation, observation.pointee.lane == lane else { return false }
    let event = observation.pointee.event.pointee
    // Counted, so that its number is not another one's.
    hot.pointee.lane.store((lane & ~3) &+ 4, ordering: .relaxed)
    state.time = max(state.time, now)
    state.directFailures.append(UInt64(lane >> 2) + 1)
    state.counts.addDropped(.failed)
    for kind in [RelayEvent.Kind.failed(error), .dropped(.failed)] {
      log.record(
        EventDraft(kind: kind, command: event.subject.started), from: origin, at: state.time)
    }
    tellFollowers(.dropped(.failed), event)
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
  private func tellFollowers(_ status: CommandStatus, _ event: RelayEvent) {
    hot.pointee.isFollowed.store(false, ordering: .relaxed)
    log.record(status, of: event.subject.sequence, slot: number)
  }
}

/// Which direct deliveries have failed while somebody looked: the others were delivered.
struct DirectFailures {
  private(set) var count: UInt64 = 0
  private var latest: [UInt64] = []

  mutating func append(_ number: UInt64) {
    count += 1
    latest.removeAll { $0 + UInt64(CommandEnds.remembered) <= number }
    latest.append(number)
  }

  /// Whether it has, if it is one of the latest.
  func contains(_ number: UInt64) -> Bool { latest.contains(number) }
}
