// SPDX-License-Identifier: MIT

internal import Synchronization

// The transitions of a slot that take commands in.

extension SlotState {
  enum AcceptResult {
    case accepted(CommandID)
    case refused(RefusalReason)
    /// The queue is full and the sender asked to wait.
    case noRoom
    /// The queue is full, and it matters whether an ancestor could deliver.
    case needsAncestors
    /// There is no room, unless some claim has to be settled to see it.
    case needsSettling
  }

  /// Takes a command in, or says why not.
  ///
  /// - Parameter hasInheritedHandler: whether an ancestor could deliver; nil where that is not
  ///   - started: how many commands of a claim have started, where one stands that the command
  ///     leaves as it is.
  ///   - isSettled: whether the claims of all of the relay's slots have been settled.
  mutating func accept(
    _ command: inout IncomingCommand, at now: Int64, hasInheritedHandler: Bool?,
    started: Int? = nil, isSettled: Bool = true, _ effects: inout SlotEffects
  ) -> AcceptResult {
    time = max(time, now)
    guard !isClosed else { return refuse(.closed, command) }
    if queue.nextWake <= now { expire(at: now, &effects) }
    var replaced: UInt32?
    if let uniqueness = command.details?.uniqueness,
      let holder = uniqueKeys.holder(of: uniqueness.key, at: now)
    {
      switch (uniqueness.rule, holder) {
      case (.keepFirst, .command(let id)), (.keepFirst, .delivered(let id, _)):
        return refuse(.duplicate(of: id), command)
      case (.keepLatest, .command(let id)):
        if queue.node(id.index).pointee.state != .running { replaced = id.index }
      case (.keepLatest, .delivered): break
      }
    }
    var isInTransit = false
    if let replaced {
      isInTransit = takeTransit(from: replaced)
    } else {
      let limit = command.limit ?? settings.limit
      if queue.waiting - (started ?? 0) >= limit {
        if command.waitsForRoom { return .noRoom }
        // What is claimed is being delivered.
        guard
          let isDeliverable = started != nil
            ? true : canDeliver(hasInheritedHandler: hasInheritedHandler, &effects)
        else { return .needsAncestors }
        isInTransit = isDeliverable && transit.enter()
        if !isInTransit {
          if started != nil || isDeliverable && !isSettled { return .needsSettling }
          switch command.overflow ?? settings.overflow {
          case .dropNewest: return refuse(.full, command)
          case .dropOldest:
            guard let victim = queue.victim,
              queue.node(victim).pointee.priority <= command.priority
            else { return refuse(.full, command) }
            isInTransit = takeTransit(from: victim)
            drop(victim, .overflow, &effects)
          }
        }
      }
    }
    counts.accepted += 1
    let index = makeNode(&command, at: now, isInTransit: isInTransit)
    place(index, tags: command.tags, insteadOf: replaced, &effects)
    let id = id(index)
    if let uniqueness = command.details?.uniqueness { uniqueKeys.take(uniqueness.key, for: id) }
    if isObserved { record(.accepted, index) }
    tape?.accepted(
      id, queue.node(index), tags: command.tags, feature: featureName, at: time)
    return .accepted(id)
  }

  /// Whether a command that makes room for another one leaves a place in transit to it: the number
  /// of those that have none would grow otherwise.
  private func takeTransit(from index: UInt32) -> Bool {
    defer { queue.node(index).pointee.isInTransit = false }
    return queue.node(index).pointee.isInTransit
  }

  mutating func makeNode(
    _ command: inout IncomingCommand, at now: Int64, isInTransit: Bool
  ) -> UInt32 {
    makeBacklogIfNeeded()
    // Taken out here only.
    let index = makeNode(
      command.work.take()!, WorkRunner(), command.priority, at: now,
      deadline: deadline(command.timeToLive, at: now), isOwnDeadline: command.timeToLive != nil,
      isInTransit: isInTransit)
    let node = queue.node(index)
    node.pointee.isAsync = command.isAsync
    node.pointee.isConcurrent = command.isConcurrent
    node.pointee.details = command.details
    if let details = command.details, let durable = details.durable {
      number(durable, details, of: index)
    }
    return index
  }

  @inline(__always)
  func deadline(_ timeToLive: Int64?, at now: Int64) -> Int64 {
    let timeToLive = timeToLive ?? settings.timeToLive
    return timeToLive == .max ? .max : now.saturatingAdd(timeToLive)
  }

  @inline(__always)
  mutating func makeNode(
    _ work: UnmanagedWork, _ runner: WorkRunner, _ priority: CommandPriority, at now: Int64,
    deadline: Int64, isOwnDeadline: Bool, isInTransit: Bool
  ) -> UInt32 {
    // Read once: whatever is written could be what says where the backlog is.
    let backlog = made
    backlog.pointee.lastSequence += 1
    let index = backlog.pointee.queue.allocate()
    let node = backlog.pointee.queue.node(index)
    node.pointee.work = work
    node.pointee.runner = runner
    node.pointee.sequence = backlog.pointee.lastSequence
    node.pointee.acceptedAt = now
    node.pointee.deadline = deadline
    node.pointee.attempt = 0
    node.pointee.priority = priority
    node.pointee.isAsync = false
    node.pointee.isConcurrent = false
    node.pointee.isInTransit = isInTransit
    node.pointee.tags = TagIndex.none
    // The default only changes with the settings: then deadlines may go back once, and the heap
    // takes them.
    node.pointee.expiresInOrder = !isOwnDeadline && deadline >= backlog.pointee.lastDeadline
    if node.pointee.expiresInOrder, deadline != .max { backlog.pointee.lastDeadline = deadline }
    return index
  }

  /// Puts a new command at its priority's end, or where the one stands that it replaces.
  private mutating func place(
    _ index: UInt32, tags: [CommandTag], insteadOf replaced: UInt32?,
    _ effects: inout SlotEffects
  ) {
    guard let replaced else {
      queue.insert(index, tags: tags)
      return
    }
    let old = queue.node(replaced)
    if old.pointee.state == .ready, old.pointee.priority == queue.node(index).pointee.priority {
      queue.node(index).pointee.details?.order = old.pointee.order
      takePlace(of: replaced, for: index)
      queue.insert(index, before: replaced, tags: tags)
    } else {
      queue.insert(index, tags: tags)
    }
    drop(replaced, .coalesced, &effects)
  }

  private mutating func refuse(_ reason: RefusalReason, _ command: borrowing IncomingCommand)
    -> AcceptResult
  {
    counts.addRefused(reason)
    if isObserved {
      recorder.record(
        EventDraft(
          kind: .refused(reason),
          command: EventCommand(type: command.type.commandType, priority: command.priority)),
        from: origin, at: time)
    }
    tape?.refused(
      reason, command.work, command.priority, tags: command.tags, feature: featureName, at: time)
    return .refused(reason)
  }

  /// Whether a command could be delivered but for the main actor being elsewhere or a synchronous
  /// command running; nil when that depends on ancestors.
  mutating func canDeliver(hasInheritedHandler: Bool?, _ effects: inout SlotEffects) -> Bool? {
    guard isOpen, !isLaneAsync else { return false }
    return hasLiveHandler(&effects) ? true : hasInheritedHandler
  }

  /// Whether the newest registration that lives is one of this slot's. Dead ones are retired.
  mutating func hasLiveHandler(_ effects: inout SlotEffects) -> Bool {
    while let entry = registrations.last {
      if entry.isOwned { return true }
      if let handler = entry.handler {
        effects.release(handler)
        return true
      }
      retireDead(&effects)
    }
    return false
  }

  mutating func retireDead(_ effects: inout SlotEffects) {
    bury(registrations.removeLast())
  }

  /// Retires the registration of a handler that has died.
  mutating func bury(_ entry: RegistrationEntry) {
    retired.append(entry)
    let unused = !entry.wasUsed
    if isObserved || unused {
      recorder.record(
        EventDraft(.died(entry.handlerType, unused: unused)),
        from: origin, at: time)
    }
  }

  @inline(never)
  func record(
    _ kind: RelayEvent.Kind, _ index: UInt32, command: Any.Type? = nil
  ) {
    record(content: EventContent(kind), index, command: command)
  }

  @inline(never)
  func record(content: EventContent, _ index: UInt32, command: Any.Type? = nil) {
    let node = queue.node(index)
    recorder.record(
      EventDraft(
        content,
        command: EventCommand(
          sequence: node.pointee.sequence, acceptedAt: node.pointee.acceptedAt,
          type: command ?? node.pointee.work?.type.commandType, index: index,
          attempt: node.pointee.attempt, priority: node.pointee.priority)),
      from: origin, at: time)
  }
}
