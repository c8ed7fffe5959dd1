// SPDX-License-Identifier: MIT

internal import Foundation
internal import RelayJournal

extension SlotStorage {
  /// Holds the slot's deliveries while the journal is read, or lets them go.
  func setHeld(_ isHeld: Bool) {
    update(onMain: false) { state, _ in state.isHeld = isHeld }
    if !isHeld { becameDeliverable(onMain: false) }
  }

  /// Puts restored commands in front of what waits.
  ///
  /// - Returns: how many of them wait now.
  func restore(_ commands: ArraySlice<RestoredCommand>, store: DurableStore) -> Int {
    let now = clock.now
    // Made outside the lock: a type's own code may run.
    let incoming = commands.map { command in
      (
        command, UnmanagedWork(restored: command), DurableState(command, store: store),
        store.policy(of: command.declaration)
      )
    }
    return update(onMain: false) { state, effects in
      var count = 0
      for (command, work, durable, policy) in incoming.reversed()
      where state.restore(command, work, durable, policy, at: now, &effects) {
        count += 1
      }
      return count
    }
  }

  /// Gives a dead letter another chance, at the end of its priority.
  func revive(_ command: RestoredCommand, store: DurableStore) {
    let now = clock.now
    let work = UnmanagedWork(restored: command)
    let durable = DurableState(command, store: store)
    let policy = store.policy(of: command.declaration)
    update(onMain: MainQueue.isCurrent) { state, effects in
      state.revive(command, work, durable, policy, at: now, &effects)
    }
    becameDeliverable(onMain: false)
  }
}

extension UnmanagedWork {
  fileprivate init(restored command: RestoredCommand) {
    let entry = command.entry.entry
    self = command.declaration.read(Data(entry.payload), Int(entry.payloadVersion))
  }
}

extension DurableState {
  fileprivate convenience init(_ command: RestoredCommand, store: DurableStore) {
    self.init(
      command.declaration, store: store.hasJournal ? store : nil,
      level: max(command.declaration.durability, store.location.durability),
      entry: command.entry.entry)
    // A slice would keep all of what was read.
    entry.payload = JournalBytes(Array(entry.payload))
    isRedelivery = command.entry.unfinishedAttempts > 0
    reached = .survivesProcessDeath
  }
}

extension SlotState {
  /// Takes a command back in, by its place in the order of acceptance.
  ///
  /// - Returns: whether it waits.
  fileprivate mutating func restore(
    _ command: RestoredCommand, _ work: UnmanagedWork, _ durable: DurableState,
    _ policy: CommandPolicy, at now: Int64, _ effects: inout SlotEffects
  ) -> Bool {
    guard !isClosed else {
      effects.end(work, .closed)
      return false
    }
    counts.restored += 1
    time = max(time, now)
    // Restored commands have orders below zero, by their numbers: in front of this process's.
    let place = durable.entry.place
    let order = Int64(bitPattern: RecordNumber(place).value | CommandID.durableBit)
    let index = insert(command, work, durable, policy, order: order, at: now)
    switch command.end {
    case .expired:
      drop(index, .expired, &effects)
      return false
    case .neverEnded:
      durable.death = .neverEnded
      record(.died(.neverEnded), index)
      drop(index, .dead, &effects)
      return false
    case nil: return takeKey(of: index, &effects)
    }
  }

  fileprivate mutating func revive(
    _ command: RestoredCommand, _ work: UnmanagedWork, _ durable: DurableState,
    _ policy: CommandPolicy, at now: Int64, _ effects: inout SlotEffects
  ) {
    makeBacklogIfNeeded()
    counts.revived += 1
    time = max(time, now)
    lastSequence += 1
    let index = insert(
      command, work, durable, policy, order: Int64(bitPattern: lastSequence), at: now)
    queue.node(index).pointee.attempt = 0
    effects.write(.revived(durable.entry.id), durable)
    _ = takeKey(of: index, &effects)
  }

  private mutating func insert(
    _ command: RestoredCommand, _ work: UnmanagedWork, _ durable: DurableState,
    _ policy: CommandPolicy, order: Int64, at now: Int64
  ) -> UInt32 {
    let entry = durable.entry
    let details = CommandDetails(
      uniqueness: entry.key?.uniqueness, retry: policy.retry,
      executionLimit: policy.executionLimit?.nanoseconds)
    details.durable = durable
    details.order = order
    makeBacklogIfNeeded()
    let index = queue.allocate()
    let node = queue.node(index)
    node.pointee.work = work
    node.pointee.runner = WorkRunner()
    node.pointee.sequence = durable.sequence
    let age = command.age.multipliedReportingOverflow(by: 1_000_000)
    node.pointee.acceptedAt = now - (age.overflow ? Int64.max / 2 : age.partialValue)
    node.pointee.attempt = UInt16(clamping: command.entry.attempts)
    node.pointee.priority = CommandPriority(rawValue: entry.priority) ?? .normal
    node.pointee.isAsync = command.declaration.isAsync
    node.pointee.isConcurrent = command.declaration.isAsync && policy.lane == .concurrent
    node.pointee.isInTransit = false
    let timeToLive = entry.timeToLive.map {
      Int64(clamping: $0).multipliedReportingOverflow(by: 1_000_000)
    }
    if let timeToLive, !timeToLive.overflow {
      node.pointee.deadline = node.pointee.acceptedAt.saturatingAdd(timeToLive.partialValue)
    } else {
      node.pointee.deadline = .max
    }
    node.pointee.expiresInOrder = false
    node.pointee.details = details
    node.pointee.tags = TagIndex.none
    let tags = entry.labels.map { CommandTag($0) }
    queue.insertInOrder(index, tags: tags)
    tape?.restored(id(index), node, tags: tags, feature: featureName, at: time)
    return index
  }

  /// A waiting command's key is its own again, unless a newer command has it.
  ///
  /// - Returns: whether the command goes on waiting.
  private mutating func takeKey(of index: UInt32, _ effects: inout SlotEffects) -> Bool {
    guard let uniqueness = queue.node(index).pointee.details?.uniqueness else { return true }
    let id = id(index)
    guard case .command(let other)? = uniqueKeys.holder(of: uniqueness.key, at: .min),
      other != id, queue.isLive(other.index, sequence: other.sequence)
    else {
      uniqueKeys.take(uniqueness.key, for: id)
      return true
    }
    // The first one counts, if the second has not begun; else the latest does.
    if case .keepFirst = uniqueness.rule, queue.node(other.index).pointee.state != .running {
      uniqueKeys.release(uniqueness.key, by: other)
      uniqueKeys.take(uniqueness.key, for: id)
      drop(other.index, .coalesced, &effects)
      return true
    }
    drop(index, .coalesced, &effects)
    return false
  }
}
