// SPDX-License-Identifier: MIT

internal import Synchronization

extension Relay {
  /// Sends an asynchronous command to a feature: it starts in a later turn of the main actor and
  /// holds the feature's lane until it ends.
  ///
  /// - Parameters:
  ///   - feature: the feature, as handlers are registered for it.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - timeToLive: how long it may wait for its start.
  ///   - unique: what happens when there is one with the same key.
  ///   - executionLimit: how long it may run; then its task is cancelled and its lane is free.
  ///   - isolation: the caller's; leave it out.
  ///   - body: what to do with the handler, on the main actor.
  /// - Returns: what became of it; may be ignored.
  @discardableResult
  @inlinable
  public func dispatch<F, Result>(
    _ feature: F.Type, priority: CommandPriority = .normal, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil, executionLimit: Duration? = nil,
    isolation: (any Actor)? = #isolation,
    _ body: @escaping @MainActor @Sendable (F) async throws -> Result
  ) -> Acceptance {
    enqueueAsync(
      FeatureKey.of(feature), UnmanagedWork(AsyncClosureWork<F, Result>(body)), isolation,
      priority, tags, timeToLive, unique, executionLimit)
  }

  /// Sends an asynchronous command on behalf of an owner, which it does not keep alive while it
  /// waits; it is dropped if the owner is gone by then.
  ///
  /// - Parameters:
  ///   - feature: the feature, as handlers are registered for it.
  ///   - owner: the object that the command is about; kept alive while the command runs.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - timeToLive: how long it may wait for its start.
  ///   - unique: what happens when there is one with the same key.
  ///   - executionLimit: how long it may run; then its task is cancelled and its lane is free.
  ///   - isolation: the caller's; leave it out.
  ///   - body: what to do with the handler and the owner, on the main actor.
  /// - Returns: what became of it; may be ignored.
  @discardableResult
  @inlinable
  public func dispatch<F, Owner: AnyObject & Sendable, Result>(
    _ feature: F.Type, owner: Owner, priority: CommandPriority = .normal, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil, executionLimit: Duration? = nil,
    isolation: (any Actor)? = #isolation,
    _ body: @escaping @MainActor @Sendable (F, Owner) async throws -> Result
  ) -> Acceptance {
    enqueueAsync(
      FeatureKey.of(feature), UnmanagedWork(AsyncOwnedClosureWork<F, Owner, Result>(owner, body)),
      isolation, priority, tags, timeToLive, unique, executionLimit)
  }

  /// Sends an asynchronous command of its own type.
  ///
  /// What is left out follows the type's ``AsyncRelayCommand/policy``.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - timeToLive: how long it may wait for its start.
  ///   - unique: what happens when there is one with the same key.
  ///   - executionLimit: how long it may run; then its task is cancelled and its lane is free.
  ///   - isolation: the caller's; leave it out.
  /// - Returns: what became of it; may be ignored.
  @discardableResult
  @inlinable
  public func dispatch<Command: AsyncRelayCommand>(
    _ command: Command, priority: CommandPriority? = nil, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil, executionLimit: Duration? = nil,
    isolation: (any Actor)? = #isolation
  ) -> Acceptance {
    guard case .inMemory = Command.durability else {
      return enqueueAsyncDurable(
        command, isolation, priority, tags, timeToLive, unique, executionLimit)
    }
    return enqueueAsync(
      FeatureKey.of(Command.Feature.self), UnmanagedWork(AsyncCommandWork(command)), isolation,
      priority, tags, timeToLive, unique, executionLimit, policy: Command.policy)
  }

  @usableFromInline @inline(never)
  func enqueueAsyncDurable<Command: AsyncRelayCommand>(
    _ command: Command, _ isolation: (any Actor)?, _ priority: CommandPriority?,
    _ tags: [CommandTag], _ timeToLive: TimeToLive?, _ unique: Uniqueness?,
    _ executionLimit: Duration?
  ) -> Acceptance {
    enqueueDurable(
      command, work: UnmanagedWork(AsyncCommandWork(command)),
      onMain: isMain(isolation, directory.pointee.table.load(ordering: .acquiring)),
      priority: priority, tags: tags, timeToLive: timeToLive, unique: unique,
      executionLimit: executionLimit)
  }

  @usableFromInline @inline(never)
  func enqueueAsync(
    _ key: UInt, _ work: UnmanagedWork, _ isolation: (any Actor)?, _ priority: CommandPriority?,
    _ tags: [CommandTag], _ timeToLive: TimeToLive?, _ unique: Uniqueness?,
    _ executionLimit: Duration?, policy: CommandPolicy? = nil
  ) -> Acceptance {
    let onMain = isMain(isolation, directory.pointee.table.load(ordering: .acquiring))
    if let policy {
      var command = IncomingCommand(
        work, isAsync: true, policy: policy, priority: priority, tags: tags,
        timeToLive: timeToLive, unique: unique, executionLimit: executionLimit)
      return accept(&command, for: key, onMain: onMain)
    }
    var command = IncomingCommand(
      work, isAsync: true, priority: priority ?? .normal, tags: tags,
      timeToLive: timeToLive?.nanoseconds, uniqueness: unique,
      executionLimit: executionLimit?.nanoseconds)
    return accept(&command, for: key, onMain: onMain)
  }
}
