// SPDX-License-Identifier: MIT

internal import Synchronization

// The short way in: for a command without tags, key, retry and the like that has to wait, where
// nothing else follows from it. It goes to the same place that ``SlotState/accept`` would give it;
// where anything is to be decided, that decides.

extension SlotState {
  /// Takes a command in if it only has to be put at the end of its priority.
  ///
  /// - Parameters:
  ///   - now: the time, which may lag by ``Platform/coarseTolerance``.
  ///   - evicted: receives the work of the command that had to make room.
  /// - Returns: its index; nil when there is more to think about.
  @inline(__always)
  mutating func acceptPlain(
    _ work: UnmanagedWork, _ runner: WorkRunner, _ priority: CommandPriority, timeToLive: Int64?,
    limit: Int?, at now: Int64, _ evicted: inout UnmanagedWork?
  ) -> UInt32? {
    let wake = queue.nextWake
    let deadline = deadline(timeToLive, at: now)
    // Nothing is due, and nothing is so any sooner by this one.
    guard !isClosed, !isObserved, now.saturatingAdd(Platform.coarseTolerance) < wake,
      deadline >= armedWake
    else { return nil }
    if claim.count > 0, priority > claim.priority || deadline < wake { return nil }
    var isInTransit = false
    // There may be fewer, if some of a claim have started: what is in transit then need not be.
    if queue.waiting >= limit ?? settings.limit {
      if isBeingDelivered() {
        guard takeSpareTransit() || transit.enter() else { return nil }
        isInTransit = true
      } else {
        return acceptFull(
          work, runner, priority, at: now, deadline: deadline, isOwnDeadline: timeToLive != nil,
          &evicted)
      }
    }
    counts.accepted += 1
    let index = makeNode(
      work, runner, priority, at: now, deadline: deadline, isOwnDeadline: timeToLive != nil,
      isInTransit: isInTransit)
    queue.insertPlain(index)
    return index
  }

  /// Takes a command in where there is no room, for another one; nil when there is more to think
  /// about.
  @inline(never)
  private mutating func acceptFull(
    _ work: UnmanagedWork, _ runner: WorkRunner, _ priority: CommandPriority, at now: Int64,
    deadline: Int64, isOwnDeadline: Bool, _ evicted: inout UnmanagedWork?
  ) -> UInt32? {
    // Where something is registered here, it is looked at whether that lives, unless nothing could
    // be delivered anyway; what is registered above has been looked at.
    guard registrations.isEmpty || !isOpen || isLaneAsync, claim.count == 0, !hasWatchers,
      roomWaiters.isEmpty, settings.overflow == .dropOldest
    else { return nil }
    guard !isOwnDeadline, deadline >= lastDeadline,
      let index = queue.moveFirstToEnd(of: priority, deadline: deadline)
    else {
      return acceptForVictim(
        work, runner, priority, at: now, deadline: deadline, isOwnDeadline: isOwnDeadline, &evicted)
    }
    // In its place; whether it is in transit stays: the number of those would grow otherwise.
    let backlog = made
    let node = backlog.pointee.queue.node(index)
    evict(node.pointee.sequence)
    evicted = node.pointee.work
    backlog.pointee.counts.accepted += 1
    if deadline != .max { backlog.pointee.lastDeadline = deadline }
    backlog.pointee.lastSequence += 1
    node.pointee.work = work
    node.pointee.runner = runner
    node.pointee.sequence = backlog.pointee.lastSequence
    node.pointee.acceptedAt = now
    node.pointee.deadline = deadline
    node.pointee.attempt = 0
    node.pointee.isAsync = false
    node.pointee.isConcurrent = false
    node.pointee.tags = TagIndex.none
    return index
  }

  /// The same where the one that goes is not where the new one comes.
  @inline(never)
  private mutating func acceptForVictim(
    _ work: UnmanagedWork, _ runner: WorkRunner, _ priority: CommandPriority, at now: Int64,
    deadline: Int64, isOwnDeadline: Bool, _ evicted: inout UnmanagedWork?
  ) -> UInt32? {
    guard let victim = queue.victim else { return nil }
    let node = queue.node(victim)
    guard node.pointee.details == nil, node.pointee.priority <= priority else { return nil }
    let isInTransit = node.pointee.isInTransit
    evict(node.pointee.sequence)
    evicted = queue.remove(victim)
    counts.accepted += 1
    let index = makeNode(
      work, runner, priority, at: now, deadline: deadline, isOwnDeadline: isOwnDeadline,
      isInTransit: isInTransit)
    queue.insertPlain(index)
    return index
  }

  @inline(__always)
  private mutating func evict(_ sequence: UInt64) {
    // By itself first: as a part of the expression the thread sanitizer takes what the state begins
    // with, the slot's address, for what is written to.
    let backlog = made
    backlog.pointee.ends.append(sequence, .overflow)
    backlog.pointee.evictions &+= 1
  }

  /// Takes a place in transit that no command has yet, of some that are taken at once; false when
  /// there are not so many left.
  @inline(__always)
  private mutating func takeSpareTransit() -> Bool {
    if spareTransit == 0 { takeTransitAhead() }
    guard spareTransit > 0 else { return false }
    spareTransit &-= 1
    return true
  }

  @inline(never)
  private mutating func takeTransitAhead() { spareTransit = transit.enterMany() }

  /// Whether commands are being delivered, or certainly can be as soon as the main actor comes.
  @inline(__always)
  private mutating func isBeingDelivered() -> Bool {
    // What is claimed has a handler.
    if claim.count > 0 { return true }
    // Its memory only: to look at the registration itself would count it, twice for each command.
    guard isOpen, !isLaneAsync, let entry = registrations.last?.pointer else { return false }
    return entry.header.pointee.isOwned || WeakPeek.isAlive(entry)
  }
}

extension SlotStorage {
  /// Takes a command in the short way; nil when that cannot be.
  @inline(__always)
  func acceptPlain(
    _ work: UnmanagedWork, _ runner: WorkRunner, _ priority: CommandPriority, timeToLive: Int64?,
    limit: Int?, onMain: Bool
  ) -> Acceptance? {
    let isStamped = clock.isSystem && timeToLive == nil && Platform.isCoarseClockCheap
    // What the time follows from, or the time.
    let reading = isStamped ? Platform.coarseNanoseconds : clock.now
    let directory = directory
    let hasParent = directory.pointee.parent != nil
    let mayRun = onMain && !isLaneBusy
    var id: CommandID?
    var evicted: UnmanagedWork?
    let needsHop = lock.withLock { state in
      if state.registrations.isEmpty {
        // Ancestors may have to be asked, or it may have to be said why it waits.
        guard !hasParent, state.hasNamedOtherType || !state.isUnexplained(directory) else {
          return false
        }
      } else if mayRun, state.isOpen {
        return false
      }
      state.makeBacklogIfNeeded()
      var now = reading
      if isStamped {
        guard state.settings.timeToLive >= StampClock.leastTimeToLive else { return false }
        // It may lag behind a time that was read exactly.
        now = max(state.stamps.time(reading), state.time)
      }
      guard
        let index = state.acceptPlain(
          work, runner, priority, timeToLive: timeToLive, limit: limit, at: now, &evicted)
      else { return false }
      state.time = max(state.time, now)
      id = state.id(index)
      hot.withdraw()
      return !onMain && state.askForHop()
    }
    guard let id else { return nil }
    evicted?.end(.overflow, feature: key)
    if needsHop { core.postHop(self) }
    return Acceptance(outcome: .waiting, id: id)
  }
}

extension SlotState {
  /// Whether a wait has not been looked into since there are other registrations.
  @inline(__always)
  fileprivate func isUnexplained(_ directory: UnsafeMutablePointer<SlotDirectory>) -> Bool {
    explainedVersion != directory.registrationVersion
  }
}
