// SPDX-License-Identifier: MIT

public import Synchronization

// The direct path: what a dispatch costs when a handler is there and nothing is in the way. It is
// inlined into the caller, takes no lock and allocates nothing; a weak handler costs one weak load
// and one release, 1.1 to 1.4 times what a call through a weak delegate costs (Benchmarks). What it
// may rely on stands in Slot.swift.
//
// `body` and `command` are taken when the lane is. The capture list of a closure may run any code:
// it runs as a part of the command, so that what it dispatches to the same feature waits behind,
// and what it cancels is not freed.

extension Relay {
  /// Sends a command to a feature.
  ///
  /// Callable from any thread; it never blocks, and never throws. On the main actor, with a handler
  /// present, the command has run when the call returns; see ``Relay``.
  ///
  /// ```swift
  /// relay.dispatch(ToastFeature.self) { $0.show("Welcome back") }
  /// ```
  ///
  /// - Parameters:
  ///   - feature: the feature, as handlers are registered for it.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - timeToLive: how long it may wait; the feature's or relay's setting by default.
  ///   - unique: what happens when there is one with the same key.
  ///   - isolation: the caller's; leave it out.
  ///   - body: what to do with the handler, on the main actor.
  /// - Returns: what became of it; may be ignored.
  /// - Complexity: constant. About the cost of a call through a weak delegate when it is delivered
  ///   at once.
  @discardableResult
  @inlinable @inline(__always)
  public func dispatch<F, Result>(
    _ feature: F.Type, priority: CommandPriority = .normal, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil,
    isolation: (any Actor)? = #isolation,
    _ body: @autoclosure () -> @MainActor @Sendable (F) throws -> Result
  ) -> Acceptance {
    let table = directory.pointee.table.load(ordering: .acquiring)
    let onMain = isMain(isolation, table)
    guard onMain, unique == nil,
      let slot = table.pointee.find(FeatureKey.of(feature)),
      let (entry, lane) = slot.beginDirect() ?? slot.beginObserved(priority)
    else {
      let work = UnmanagedWork(ClosureWork<F, Result>(body()))
      return enqueue(
        FeatureKey.of(feature), work, ClosureWork<F, Result>.runner, onMain, priority, tags,
        timeToLive, unique)
    }
    let call = body()
    let cell = entry.cell.assumingMemoryBound(to: F.self)
    let handler = cell.move()
    do {
      _ = try callAlreadyOnMain(handler, call)
    } catch {
      cell.initialize(to: consume handler)
      return directFailed(slot, entry, error)
    }
    cell.initialize(to: consume handler)
    slot.endDirect(entry, lane)
    withExtendedLifetime(self) {}
    return Acceptance(outcome: .delivered)
  }

  /// Sends a command of its own type.
  ///
  /// What is left out follows the type's ``RelayCommand/policy``. Otherwise as for a closure.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - timeToLive: how long it may wait.
  ///   - unique: what happens when there is one with the same key.
  ///   - isolation: the caller's; leave it out.
  /// - Returns: what became of it; may be ignored.
  @discardableResult
  @inlinable @inline(__always)
  public func dispatch<Command: RelayCommand>(
    _ command: Command, priority: CommandPriority? = nil, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil,
    isolation: (any Actor)? = #isolation
  ) -> Acceptance {
    let table = directory.pointee.table.load(ordering: .acquiring)
    let onMain = isMain(isolation, table)
    guard case .inMemory = Command.durability, onMain, unique == nil,
      let slot = table.pointee.find(FeatureKey.of(Command.Feature.self)),
      let (entry, lane) = slot.beginDirect() ?? slot.beginObserved(Command.self, priority)
    else {
      return enqueueCommand(command, onMain, priority, tags, timeToLive, unique)
    }
    let cell = entry.cell.assumingMemoryBound(to: Command.Feature.self)
    let handler = cell.move()
    do {
      try executeAlreadyOnMain(handler, command)
    } catch {
      cell.initialize(to: consume handler)
      return directFailed(slot, entry, error, command, priority, tags, timeToLive)
    }
    cell.initialize(to: consume handler)
    slot.endDirect(entry, lane)
    withExtendedLifetime(self) {}
    return Acceptance(outcome: .delivered)
  }

  /// Sends a command on behalf of an owner, which it does not keep alive; it is dropped if the
  /// owner is gone by then.
  ///
  /// ```swift
  /// relay.dispatch(ToastFeature.self, owner: self) { toast, model in toast.show(model.title) }
  /// ```
  ///
  /// - Parameters:
  ///   - feature: the feature, as handlers are registered for it.
  ///   - owner: the object that the command is about.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - timeToLive: how long it may wait.
  ///   - unique: what happens when there is one with the same key.
  ///   - isolation: the caller's; leave it out.
  ///   - body: what to do with the handler and the owner, on the main actor.
  /// - Returns: what became of it; may be ignored.
  @discardableResult
  @inlinable @inline(__always)
  public func dispatch<F, Owner: AnyObject & Sendable, Result>(
    _ feature: F.Type, owner: Owner, priority: CommandPriority = .normal, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil,
    isolation: (any Actor)? = #isolation,
    _ body: @autoclosure () -> @MainActor @Sendable (F, Owner) throws -> Result
  ) -> Acceptance {
    let table = directory.pointee.table.load(ordering: .acquiring)
    let onMain = isMain(isolation, table)
    guard onMain, unique == nil,
      let slot = table.pointee.find(FeatureKey.of(feature)),
      let (entry, lane) = slot.beginDirect() ?? slot.beginObserved(priority)
    else {
      return enqueue(
        FeatureKey.of(feature), UnmanagedWork(OwnedClosureWork<F, Owner, Result>(owner, body())),
        WorkRunner(), onMain, priority, tags, timeToLive, unique)
    }
    let call = body()
    let cell = entry.cell.assumingMemoryBound(to: F.self)
    let handler = cell.move()
    do {
      _ = try callAlreadyOnMain(handler) { @MainActor handler in try call(handler, owner) }
    } catch {
      cell.initialize(to: consume handler)
      return directFailed(slot, entry, error)
    }
    cell.initialize(to: consume handler)
    slot.endDirect(entry, lane)
    withExtendedLifetime(self) {}
    return Acceptance(outcome: .delivered)
  }

  /// Whether the caller is on the main actor. Compares bits: nothing is retained.
  @inlinable @inline(__always)
  func isMain(_ isolation: (any Actor)?, _ table: UnsafeMutablePointer<SlotTable>) -> Bool {
    // Safe: an optional actor is its reference and a witness table; the reference is only compared.
    let caller = unsafeBitCast(isolation, to: (UInt, UInt).self).0
    return caller == table.pointee.main || (caller == 0 && MainQueue.isCurrent)
  }
}

extension UnsafeMutablePointer<Slot> {
  /// Takes the lane for the published registration's handler; nil when the way is not clear.
  @inlinable @inline(__always)
  func beginDirect() -> (UnsafeMutableRawPointer, UInt)? {
    let lane = pointee.lane.load(ordering: .relaxed)
    guard lane & 1 == 0, let entry = pointee.direct.load(ordering: .acquiring), entry.begin()
    else { return nil }
    pointee.lane.store(lane &+ 3, ordering: .relaxed)
    entry.header.pointee.wasUsed.store(true, ordering: .relaxed)
    return (entry, lane)
  }

  /// Counts the delivery, frees the lane and delivers what came meanwhile.
  @inlinable @inline(__always)
  func endDirect(_ entry: UnsafeMutableRawPointer, _ lane: UInt) {
    // The handler may die of this, while the lane is busy: what its deinit dispatches here waits.
    entry.end()
    pointee.lane.store(lane &+ 4, ordering: .relaxed)
    if pointee.direct.load(ordering: .acquiring) != entry { afterDirect(entry, lane) }
  }

  /// Something else is to be done than to return: to tell of a delivery that somebody looks at, or
  /// to deliver what came meanwhile.
  @usableFromInline @inline(never)
  func afterDirect(_ entry: UnsafeMutableRawPointer, _ lane: UInt) {
    pointee.storage._withUnsafeGuaranteedRef { $0.afterDirect(entry, lane) }
  }
}

// MARK: The other path

extension Relay {
  @usableFromInline @inline(never)
  func enqueue(
    _ key: UInt, _ work: UnmanagedWork, _ runner: WorkRunner, _ onMain: Bool,
    _ priority: CommandPriority, _ tags: [CommandTag], _ timeToLive: TimeToLive?,
    _ unique: Uniqueness?
  ) -> Acceptance {
    var work = work
    if onMain, unique == nil, directory.pointee.parent != nil,
      let acceptance = directory.deliverInherited(key, &work, runner)
    {
      return acceptance
    }
    if tags.isEmpty, unique == nil,
      let acceptance = directory.acceptPlain(
        key, work, runner, priority, timeToLive: timeToLive?.nanoseconds, limit: nil,
        onMain: onMain)
    {
      return acceptance
    }
    return acceptAny(key, work, onMain, priority, tags, timeToLive, unique)
  }

  /// The long way in. By itself: the short one is only inlined where its caller stays small.
  @inline(never)
  private func acceptAny(
    _ key: UInt, _ work: UnmanagedWork, _ onMain: Bool, _ priority: CommandPriority,
    _ tags: [CommandTag], _ timeToLive: TimeToLive?, _ unique: Uniqueness?
  ) -> Acceptance {
    var command = IncomingCommand(
      work, isAsync: false, priority: priority, tags: tags, timeToLive: timeToLive?.nanoseconds,
      uniqueness: unique)
    return accept(&command, for: key, onMain: onMain)
  }

  /// Compiled where the command is dispatched, once for each type: what is generic here would be
  /// looked up each time.
  @inlinable @inline(never)
  func enqueueCommand<Command: RelayCommand>(
    _ command: Command, _ onMain: Bool, _ priority: CommandPriority?, _ tags: [CommandTag],
    _ timeToLive: TimeToLive?, _ unique: Uniqueness?
  ) -> Acceptance {
    let work = UnmanagedWork(CommandWork(command))
    guard case .inMemory = Command.durability else {
      return enqueueDurable(
        command, work: work, onMain: onMain, priority: priority, tags: tags,
        timeToLive: timeToLive, unique: unique)
    }
    return enqueue(
      FeatureKey.of(Command.Feature.self), work, CommandWork<Command>.runner, onMain,
      Command.policy, priority, tags, timeToLive, unique)
  }

  @usableFromInline @inline(never)
  func enqueue(
    _ key: UInt, _ work: UnmanagedWork, _ runner: WorkRunner, _ onMain: Bool,
    _ policy: CommandPolicy, _ priority: CommandPriority?, _ tags: [CommandTag],
    _ timeToLive: TimeToLive?, _ unique: Uniqueness?
  ) -> Acceptance {
    var work = work
    if onMain, unique == nil, directory.pointee.parent != nil, policy.retry?.backoff == nil,
      let acceptance = directory.deliverInherited(key, &work, runner)
    {
      return acceptance
    }
    if tags.isEmpty, unique == nil, policy.retry == nil, policy.executionLimit == nil,
      policy.overflow == nil,
      let acceptance = directory.acceptPlain(
        key, work, runner, priority ?? policy.priority,
        timeToLive: (timeToLive ?? policy.timeToLive)?.nanoseconds, limit: policy.limit,
        onMain: onMain)
    {
      return acceptance
    }
    return acceptAny(key, work, onMain, policy, priority, tags, timeToLive, unique)
  }

  @inline(never)
  private func acceptAny(
    _ key: UInt, _ work: UnmanagedWork, _ onMain: Bool, _ policy: CommandPolicy,
    _ priority: CommandPriority?, _ tags: [CommandTag], _ timeToLive: TimeToLive?,
    _ unique: Uniqueness?
  ) -> Acceptance {
    var command = IncomingCommand(
      work, isAsync: false, policy: policy, priority: priority, tags: tags,
      timeToLive: timeToLive, unique: unique)
    return accept(&command, for: key, onMain: onMain)
  }

  @usableFromInline @inline(never)
  func directFailed(
    _ slot: UnsafeMutablePointer<Slot>, _ entry: UnsafeMutableRawPointer, _ error: any Error
  ) -> Acceptance {
    entry.end()
    return slot.pointee.storage._withUnsafeGuaranteedRef { $0.directFailed(error) }
  }

  @usableFromInline @inline(never)
  func directFailed<Command: RelayCommand>(
    _ slot: UnsafeMutablePointer<Slot>, _ entry: UnsafeMutableRawPointer, _ error: any Error,
    _ command: Command, _ priority: CommandPriority?, _ tags: [CommandTag],
    _ timeToLive: TimeToLive?
  ) -> Acceptance {
    entry.end()
    var command = IncomingCommand(
      UnmanagedWork(CommandWork(command)), isAsync: false, policy: Command.policy,
      priority: priority, tags: tags, timeToLive: timeToLive, unique: nil)
    return slot.pointee.storage._withUnsafeGuaranteedRef {
      $0.directFailed(error, &command, on: entry)
    }
  }
}

extension UnsafeMutablePointer<SlotDirectory> {
  /// Takes a command in the short way, if there is one.
  @inline(__always)
  func acceptPlain(
    _ key: UInt, _ work: UnmanagedWork, _ runner: WorkRunner, _ priority: CommandPriority,
    timeToLive: Int64?, limit: Int?, onMain: Bool
  ) -> Acceptance? {
    guard let slot = find(key) else { return nil }
    return slot.pointee.storage._withUnsafeGuaranteedRef {
      $0.acceptPlain(
        work, runner, priority, timeToLive: timeToLive, limit: limit, onMain: onMain)
    }
  }
}

extension Relay {
  /// Takes a command in.
  func accept(_ command: inout IncomingCommand, for key: UInt, onMain: Bool) -> Acceptance {
    if let slot = directory.find(key) {
      return slot.pointee.storage._withUnsafeGuaranteedRef { $0.accept(&command, onMain: onMain) }
    }
    return core.slot(key).accept(&command, onMain: onMain)
  }
}
