// SPDX-License-Identifier: MIT

internal import Synchronization

// The transitions of a slot that start and end commands. They happen on the main actor, but for the
// passing of time.

extension SlotState {
  /// What the main actor needs to run a command, and to say later how it ended.
  struct Ticket {
    let id: CommandID
    let attempt: UInt16
    let type: any QueuedWork.Type
    /// Its end depends on the time.
    let needsTimeAtEnd: Bool
  }

  /// What goes from the state machine to the main actor beside ``Next``, which stays plain bits.
  struct Handover {
    /// The registration that has begun.
    var held: UnsafeMutableRawPointer?
    /// What a synchronous command does.
    var work: UnmanagedWork?
    var runner = WorkRunner()
    /// An asynchronous command, and whose handler it is for: kept until that is bound.
    var run: AsyncRun?
    var entry: RegistrationEntry?
    /// What a durable command's handler can know of it.
    var context: DurableContext?
  }

  /// What the main actor is to do next.
  enum Next {
    /// Nothing can be delivered now.
    case stop
    /// The exact time has to be known first.
    case needsTime
    /// An asynchronous command is next, and starts in a turn of its own.
    case needsTask
    /// What is left has to wait for a later turn.
    case needsTurn
    /// Nobody is registered here: an ancestor's handler may do it.
    case inherit
    /// There is something to be released first, which may run foreign code.
    case again
    /// Run this command on the registration that has begun.
    case run(Ticket)
    /// Start the asynchronous command that was handed over.
    case start
  }

  /// Takes the next command that a handler of this slot's own can have.
  ///
  /// - Parameters:
  ///   - latest: a time that has not passed yet, or just has.
  ///   - exact: the time, where it is known.
  ///   - startsAsync: whether this is the turn of a task, in which an asynchronous command may start.
  ///   - handover: the registration that has begun, where one is held: one that is no longer the
  ///     active one has to be let go of first. Receives what is to be run.
  mutating func next(
    latest: Int64, exact: Int64?, startsAsync: Bool, _ handover: inout Handover,
    _ effects: inout SlotEffects
  ) -> Next {
    guard let head = deliverableHead(latest: latest, exact: exact, &effects) else { return .stop }
    guard let index = head.index else { return .needsTime }
    if !startsAsync, queue.node(index).pointee.isAsync { return .needsTask }
    guard effects.isQuiet else { return .again }
    while let entry = registrations.last {
      if let held = handover.held, held != entry.pointer { return .again }
      if handover.held != nil || entry.pointer.begin() {
        handover.held = entry.pointer
        return start(index, on: entry, lender: nil, at: exact, &handover, &effects)
      }
      retireDead(&effects)
    }
    return handover.held == nil ? .inherit : .again
  }

  /// Takes the next command for a handler that an ancestor has lent.
  mutating func nextInherited(
    on entry: RegistrationEntry, lender: SlotStorage, latest: Int64, exact: Int64?,
    startsAsync: Bool,
    _ handover: inout Handover, _ effects: inout SlotEffects
  ) -> Next {
    guard registrations.isEmpty,
      let head = deliverableHead(latest: latest, exact: exact, &effects)
    else { return .stop }
    guard let index = head.index else { return .needsTime }
    if !startsAsync, queue.node(index).pointee.isAsync { return .needsTask }
    guard effects.isQuiet else { return .again }
    return start(index, on: entry, lender: lender, at: exact, &handover, &effects)
  }

  /// The command whose turn it is: nil when there is none, without an index when the time has to be
  /// known.
  private mutating func deliverableHead(
    latest: Int64, exact: Int64?, _ effects: inout SlotEffects
  ) -> (index: UInt32?, Void)? {
    guard isOpen else { return nil }
    if queue.nextWake <= latest {
      guard let exact else { return (nil, ()) }
      expire(at: exact, &effects)
    }
    guard let head = queue.head, isDue(head) else { return nil }
    if exact == nil, queue.node(head).pointee.details != nil,
      queue.node(head).pointee.details?.executionLimit != nil
    {
      return (nil, ())
    }
    return (head, ())
  }

  @inline(__always)
  private func isDue(_ index: UInt32) -> Bool {
    queue.node(index).pointee.details == nil
      || queue.node(index).pointee.details?.notBefore == 0
  }

  private mutating func start(
    _ index: UInt32, on entry: RegistrationEntry, lender: SlotStorage?, at exact: Int64?,
    _ handover: inout Handover, _ effects: inout SlotEffects
  ) -> Next {
    let node = queue.node(index)
    // A waiting command has its work: only `start` takes it, and what comes back to the queue
    // brings it along.
    let taken = node.pointee.work.take()!
    queue.start(index)
    node.pointee.attempt &+= 1
    if node.pointee.isInTransit {
      node.pointee.isInTransit = false
      effects.leftTransit += 1
    }
    var needsTimeAtEnd = false
    if node.pointee.details != nil, let details = node.pointee.details {
      needsTimeAtEnd = details.uniqueness != nil
      if node.pointee.isAsync, let limit = details.executionLimit, let exact {
        details.runsUntil = exact.saturatingAdd(limit)
        queue.updateWake(index)
      }
    }
    entry.pointer.header.pointee.wasUsed.store(true, ordering: .relaxed)
    if !roomWaiters.isEmpty, queue.waiting < settings.limit {
      effects.resume(roomWaiters)
      roomWaiters = []
    }
    let ticket = Ticket(
      id: id(index), attempt: node.pointee.attempt, type: taken.type,
      needsTimeAtEnd: needsTimeAtEnd)
    recordStart(ticket, on: entry)
    var context: DurableContext?
    if node.pointee.details != nil, let durable = node.pointee.details?.durable {
      writeStart(durable, attempt: ticket.attempt, &effects)
      context = DurableContext(durable.context(ticket.id, attempt: ticket.attempt))
    }
    handover.context = context
    guard node.pointee.isAsync else {
      handover.work = taken
      handover.runner = node.pointee.runner
      return .run(ticket)
    }
    let run = AsyncRun(
      ticket: ticket, work: taken, isConcurrent: node.pointee.isConcurrent, lender: lender,
      context: context)
    runs[ticket.id.sequence] = run
    asyncLane = ticket.id.sequence
    handover.run = run
    handover.entry = entry
    return .start
  }

  private func recordStart(_ ticket: Ticket, on entry: RegistrationEntry) {
    if isObserved {
      record(
        content: .started(entry.handlerType), ticket.id.index,
        command: ticket.type.commandType)
    }
    tape?.started(ticket.id, attempt: Int(ticket.attempt))
    if hasWatchers { recorder.record(.running, of: ticket.id.sequence, slot: slotNumber) }
  }

  /// Whether the attempt is still the one that runs; a late end changes nothing.
  func isRunning(_ ticket: Ticket) -> Bool {
    guard queue.isLive(ticket.id.index, sequence: ticket.id.sequence) else { return false }
    let node = queue.node(ticket.id.index)
    return node.pointee.state == .running && node.pointee.attempt == ticket.attempt
  }

  /// An asynchronous command has ended, however it did: it holds no lane any more.
  ///
  /// - Returns: whether its end counts; it does not after a reset, or when it ran for too long.
  mutating func asyncEnded(_ run: AsyncRun) -> Bool {
    let sequence = run.id.sequence
    guard runs[sequence] === run else { return false }
    runs[sequence] = nil
    if asyncLane == sequence { asyncLane = nil }
    return true
  }

  /// A handler has ended without error.
  mutating func delivered(_ ticket: Ticket, at exact: Int64?, _ effects: inout SlotEffects) {
    guard isRunning(ticket) else { return }
    let index = ticket.id.index
    if isObserved { record(.delivered, index, command: ticket.type.commandType) }
    if queue.node(index).pointee.details != nil,
      let uniqueness = queue.node(index).pointee.details?.uniqueness
    {
      if case .keepFirst(let window) = uniqueness.rule, let exact {
        uniqueKeys.remember(
          uniqueness.key, deliveredAs: ticket.id, until: exact.saturatingAdd(window.nanoseconds))
      } else {
        uniqueKeys.release(uniqueness.key, by: ticket.id)
      }
    }
    finish(index, nil, work: nil, &effects)
  }

  /// A command found its owner gone.
  mutating func ownerGone(_ ticket: Ticket, _ effects: inout SlotEffects) {
    guard isRunning(ticket) else { return }
    drop(ticket.id.index, .ownerGone, &effects)
  }

  /// A handler has thrown.
  ///
  /// - Parameters:
  ///   - work: what the command does, for a further attempt.
  ///   - isFinal: whether the error says that there is no point in trying again.
  ///   - wasCancelled: whether the command had been asked to stop.
  /// - Returns: whether it was the last attempt.
  mutating func failed(
    _ ticket: Ticket, _ work: UnmanagedWork, _ error: any Error, isFinal: Bool,
    wasCancelled: Bool, at now: Int64, _ effects: inout SlotEffects
  ) -> Bool {
    time = max(time, now)
    guard isRunning(ticket) else { return false }
    // It has ended, whatever its limit was. What was due before comes back before this one does.
    queue.node(ticket.id.index).pointee.details?.runsUntil = .max
    queue.updateWake(ticket.id.index)
    if queue.nextWake <= now { expire(at: now, &effects) }
    let index = ticket.id.index
    record(.failed(error), index, command: ticket.type.commandType)
    tape?.failed(ticket.id, error)
    if !isFinal, !wasCancelled, emptiedRun != ticket.id.sequence,
      retry(index, work, at: now, &effects)
    {
      return false
    }
    let reason =
      wasCancelled
      ? .cancelled
      : finalReason(index, .failed, as: error is UnreadablePayload ? .unreadable : .failed)
    if isObserved { record(.dropped(reason), index, command: ticket.type.commandType) }
    finish(index, reason, work: nil, &effects)
    return true
  }

  /// Puts a command that failed back for a further attempt, if its policy has one.
  mutating func retry(
    _ index: UInt32, _ work: UnmanagedWork, at now: Int64, _ effects: inout SlotEffects
  ) -> Bool {
    let node = queue.node(index)
    let policy = node.pointee.details?.retry ?? settings.retry
    let random = Double(jitter.next() >> 11) / Double(1 << 53)
    guard let backoff = policy.backoff,
      let delay = backoff.delay(afterAttempt: Int(node.pointee.attempt), random: random)
    else { return false }
    if node.pointee.details == nil {
      node.pointee.details = CommandDetails(uniqueness: nil, retry: nil, executionLimit: nil)
    }
    node.pointee.work = work
    counts.retried += 1
    if let durable = node.pointee.details?.durable {
      if case .later = policy {
        writeFailure(durable, givesWay: true, &effects)
      } else {
        writeFailure(durable, givesWay: false, &effects)
      }
    }
    switch (policy, delay) {
    case (.later, 0):
      queue.delay(index, until: now)
      queue.wake(index, after: lastSequence)
    case (.later, _): queue.delay(index, until: now.saturatingAdd(delay))
    case (_, 0): queue.putBack(index, notBefore: 0)
    default: queue.putBack(index, notBefore: now.saturatingAdd(delay))
    }
    if isObserved { record(.willRetry(after: .nanoseconds(delay)), index) }
    tape?.willRetry(id(index), after: .nanoseconds(delay))
    if hasWatchers {
      recorder.record(.waiting, of: node.pointee.sequence, slot: slotNumber)
    }
    return true
  }

  /// An asynchronous command has run for too long: its task is cancelled, its lane is free, its
  /// late end is nothing.
  mutating func timeOut(_ index: UInt32, at now: Int64, _ effects: inout SlotEffects) {
    let sequence = queue.node(index).pointee.sequence
    guard let run = runs.removeValue(forKey: sequence) else {
      preconditionFailure("FeatureRelay: a command that is not asynchronous ran out of time.")
    }
    if asyncLane == sequence { asyncLane = nil }
    effects.abandon(run)
    // What was asked to stop has no further attempt, as when it throws.
    if !run.isCancelled, retry(index, run.work, at: now, &effects) { return }
    let reason = finalReason(index, .timedOut, as: .timedOut)
    if isObserved { record(.dropped(reason), index, command: run.ticket.type.commandType) }
    finish(index, reason, work: run.work, &effects)
  }

  /// A closure that was delivered directly has thrown. The direct path is only taken where the
  /// feature's own rule is to drop, and closures have no other.
  mutating func directFailed(_ error: any Error, at now: Int64, command: Any.Type? = nil) {
    time = max(time, now)
    counts.accepted += 1
    counts.addDropped(.failed)
    recorder.record(
      EventDraft(kind: .failed(error), command: EventCommand(type: command, attempt: 1)),
      from: origin,
      at: time)
  }

  /// A command that was delivered directly has thrown: it comes again if its type says so.
  ///
  /// - Returns: its id, if it does.
  mutating func directFailed(
    _ error: any Error, _ command: inout IncomingCommand, isFinal: Bool, at now: Int64,
    _ effects: inout SlotEffects
  ) -> CommandID? {
    guard !isFinal, !isClosed, command.details?.retry?.backoff != nil else {
      directFailed(error, at: now, command: command.type.commandType)
      return nil
    }
    time = max(time, now)
    counts.accepted += 1
    let index = makeNode(&command, at: now, isInTransit: false)
    queue.insert(index, tags: command.tags)
    // It has just been put there.
    let work = queue.node(index).pointee.work.take()!
    queue.start(index)
    queue.node(index).pointee.attempt = 1
    // What came while it ran has a number already and stands behind it all the same.
    queue.moveToFront(index)
    let id = id(index)
    record(.failed(error), index, command: work.type.commandType)
    if retry(index, work, at: now, &effects) { return id }
    finish(index, .failed, work: work, &effects)
    return nil
  }
}

// MARK: Publishing

extension SlotState {
  /// Whether the main actor would find something to do here by itself.
  @inline(__always)
  private var hasSomethingToDeliver: Bool {
    // Changes nothing; the compiler would copy the state for one who only looks.
    @inline(never) mutating get {
      guard isOpen, asyncLane == nil, !isLent, !isTaskPosted, !registrations.isEmpty,
        let head = queue.head
      else {
        return false
      }
      return isDue(head)
    }
  }

  /// Asks for the main actor if it is needed and does not know yet.
  ///
  /// - Returns: whether it has to be told.
  @inline(__always)
  mutating func askForHop() -> Bool {
    guard !isHopPosted, !isHopHere, !retired.isEmpty || hasSomethingToDeliver else { return false }
    isHopPosted = true
    return true
  }

  /// Says what is left to do after a transition, and whether commands may go past the queue from
  /// now on.
  ///
  /// - Parameter postsHop: whether the main actor is to be asked to come; false where it is here
  ///   already.
  mutating func settle(postsHop: Bool, _ effects: inout SlotEffects) -> Bool {
    if postsHop, askForHop() { effects.needsHop = true }
    let wake = queue.nextWake
    if wake < armedWake {
      plannedWakes.append(wake)
      armedWake = wake
      effects.wakeAt = wake
    }
    return isClear
  }
}
