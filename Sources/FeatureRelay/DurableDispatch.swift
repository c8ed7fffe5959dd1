// SPDX-License-Identifier: MIT

internal import Foundation
internal import RelayJournal
internal import Synchronization

// How a durable command gets in: encoded and, where there is a journal, written before anything
// else happens to it.

extension Relay {
  /// Takes in a command whose type says that it is durable.
  @usableFromInline @inline(never)
  func enqueueDurable<Command: Sendable>(
    _ command: Command, work: UnmanagedWork, onMain: Bool, priority: CommandPriority?,
    tags: [CommandTag], timeToLive: TimeToLive?, unique: Uniqueness?,
    executionLimit: Duration? = nil
  ) -> Acceptance {
    let store = core.durableStore
    let declaration = store.declaration(of: Command.self)
    let slot = core.slot(declaration.key)
    let payload: Data
    do {
      payload = try declaration.encode(command)
    } catch {
      work.destroy()
      return slot.refuseUnencodable(declaration, Command.self, priority, onMain: onMain)
    }
    var incoming = IncomingCommand(
      work, isAsync: declaration.isAsync, policy: store.policy(of: declaration),
      priority: priority, tags: tags, timeToLive: timeToLive, unique: unique,
      executionLimit: executionLimit)
    let entry = JournalEntry(
      id: 0, place: JournalPlace(run: 0, sequence: 0), name: declaration.name,
      group: slot.featureName, priority: incoming.priority.rawValue,
      labels: tags.isEmpty ? [] : tags.compactMap(\.lastingName),
      key: unique.map { JournalKey($0) },
      acceptedAt: store.clock.wallMilliseconds,
      timeToLive: incoming.timeToLive.flatMap {
        $0 == .max ? nil : UInt64(max($0 / 1_000_000, 1))
      },
      payloadVersion: UInt32(declaration.version),
      payload: payload.withUnsafeBytes { JournalBytes($0) })
    let durable = DurableState(
      declaration, store: store.hasJournal ? store : nil,
      level: max(declaration.durability, store.location.durability), entry: entry)
    // Retries of durable commands have a policy: there are details.
    incoming.details?.durable = durable
    return slot.acceptDurable(&incoming, durable, onMain: onMain)
  }
}

extension DurableStore {
  /// A type's policy, with what it leaves open from the feature's settings of durable commands and
  /// then from the relay's.
  func policy(of declaration: DurableDeclaration) -> CommandPolicy {
    let feature =
      hasFeatureSettings.load(ordering: .acquiring)
      ? state.withLock { $0.featureSettings[declaration.key] } ?? .standard : .standard
    var policy = declaration.policy
    policy.timeToLive = policy.timeToLive ?? feature.timeToLive ?? settings.timeToLive
    policy.limit = policy.limit ?? feature.limit ?? settings.limit
    policy.overflow = policy.overflow ?? feature.overflow ?? settings.overflow
    policy.retry = policy.retry ?? feature.retry ?? settings.retry
    return policy
  }

  /// Takes the settings of one feature's durable commands.
  func configure(_ key: UInt, _ settings: FeatureConfiguration.Durable) {
    state.withLock { state in
      state.featureSettings[key] = settings == .standard ? nil : settings
      hasFeatureSettings.store(!state.featureSettings.isEmpty, ordering: .releasing)
    }
  }
}

extension JournalKey {
  /// A unique key with its rule: for how many nanoseconds after a delivery it holds, or nothing.
  init(_ uniqueness: Uniqueness) {
    var rule: [UInt8] = []
    if case .keepFirst(let window) = uniqueness.rule {
      rule = withUnsafeBytes(of: window.nanoseconds.littleEndian) { Array($0) }
    }
    self.init(bytes: Array(uniqueness.key.utf8), rule: rule)
  }

  var uniqueness: Uniqueness {
    let key = String(decoding: bytes, as: UTF8.self)
    guard rule.count == 8 else { return .keepLatest(key) }
    let window = rule.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return .keepFirst(key, within: .nanoseconds(Int64(bitPattern: window)))
  }
}

extension SlotStorage {
  fileprivate func refuseUnencodable(
    _ declaration: DurableDeclaration, _ type: Any.Type, _ priority: CommandPriority?,
    onMain: Bool
  ) -> Acceptance {
    let now = clock.now
    return update(onMain: onMain) { state, _ in
      state.time = max(state.time, now)
      let reason = state.isClosed ? RefusalReason.closed : .encoding
      state.counts.addRefused(reason)
      state.recorder.record(
        EventDraft(
          kind: .refused(reason),
          command: EventCommand(
            type: type, priority: priority ?? declaration.policy.priority)),
        from: origin, at: state.time)
      state.tape?.refused(
        reason, nil, priority ?? declaration.policy.priority, tags: [], feature: featureName,
        at: state.time)
      return Acceptance(outcome: .refused(reason))
    }
  }

  private enum DurableOutcome {
    case drainFirst
    case askAncestors
    case settle
    case refused(RefusalReason)
    /// It is in the queue; what is to be written stands in the effects, unless its first attempt
    /// starts at once and is written with it.
    case accepted(CommandID, startsNow: Bool, mayDeliver: Bool, asksAncestors: Bool, explains: Bool)
  }

  /// Takes a durable command in: it waits behind its own write, and what comes after it does too.
  fileprivate func acceptDurable(
    _ command: inout IncomingCommand, _ durable: DurableState, onMain: Bool
  ) -> Acceptance {
    let hasParent = directory.pointee.parent != nil
    var hasInherited = hasParent ? nil : false
    if hasParent, onMain { hasInherited = core.parent?.lending(key) == .ready }
    var mayDrainFirst = onMain && !isLaneBusy
    var isSettled = false
    while true {
      let now = clock.now
      var effects = SlotEffects()
      // Its own record, where it is all that there is to be written.
      var record: JournalRecord?
      let outcome = locked(onMain: onMain, postsHop: !onMain, &effects) {
        state, effects -> DurableOutcome in
        if state.queue.waiting >= command.limit ?? state.settings.limit, !state.isClosed,
          mayDrainFirst, state.mayBeDelivered(hasParent: hasParent)
        {
          return .drainFirst
        }
        switch state.accept(
          &command, at: now, hasInheritedHandler: hasInherited, isSettled: isSettled, &effects)
        {
        case .refused(let reason): return .refused(reason)
        case .noRoom: return .refused(.full)
        case .needsAncestors: return .askAncestors
        case .needsSettling: return .settle
        case .accepted(let id):
          let ownsNone = state.registrations.isEmpty
          let mayDeliver = state.mayBeDelivered(hasParent: hasParent)
          var startsNow = false
          if durable.store != nil {
            startsNow =
              onMain && !isLaneBusy && durable.level < .survivesPowerLoss && mayDeliver
              && (!ownsNone || hasInherited == true) && state.startsNext(id)
            durable.entry.replaces = effects.takeCoalesced()
            durable.isUnwritten = startsNow
            if !startsNow {
              // What is dispatched on the main actor cannot be delivered before this returns.
              if !onMain || durable.level == .survivesPowerLoss { state.hold(id.index) }
              if effects.hasWrites {
                effects.write(.accepted(durable.entry), durable)
              } else {
                record = .accepted(durable.entry)
              }
            }
          }
          return .accepted(
            id, startsNow: startsNow, mayDeliver: mayDeliver,
            asksAncestors: ownsNone && hasParent && !state.isHopPosted && state.isOpen,
            explains: ownsNone && !state.hasNamedOtherType
              && state.needsExplanation(directory.registrationVersion))
        }
      }
      if let record { durable.store?.write(DurableWrite(record, durable)) }
      perform(effects, onMain: onMain)
      switch outcome {
      case .drainFirst:
        mayDrainFirst = false
        drainInline()
      case .settle:
        isSettled = true
        core.settleClaims()
      case .askAncestors:
        hasInherited = core.parent?.lending(key) == .ready
      case .refused(let reason):
        return Acceptance(outcome: .refused(reason))
      case .accepted(let id, let startsNow, let mayDeliver, let asksAncestors, let explains):
        let isHeld = durable.store != nil && (!onMain || durable.level == .survivesPowerLoss)
        if isHeld || durable.isHandedOver { letGo(id, durable, onMain: onMain) }
        if onMain, mayDeliver, !isLaneBusy { drainInline() }
        let outcome = onMain ? settled(id, durable, startsNow: startsNow) : .waiting
        if !onMain, asksAncestors, core.parent?.canLend(key) == true { requestHop() }
        if explains, outcome == .waiting { core.explainWait(of: self) }
        return Acceptance(outcome: outcome, id: id, durability: durable.reached)
      }
    }
  }

  /// The record is where it can be: the command may be delivered, now or after the next group
  /// commit.
  private func letGo(_ id: CommandID, _ durable: DurableState, onMain: Bool) {
    guard let store = durable.store else { return }
    if durable.isHandedOver {
      return withState { state in
        if state.queue.isLive(id.index, sequence: id.sequence) { state.hold(id.index) }
      }
    }
    guard durable.level == .survivesPowerLoss, durable.reached != .inMemory else {
      return release(id, durable, onMain: onMain)
    }
    store.commit(durable) { [self] in
      release(id, durable, onMain: false)
      if store.uncommitted.subtract(1, ordering: .relaxed).newValue == 0 {
        MainQueue.async { [core] in core.resumeIdleWaiters() }
      }
    }
  }

  private func release(_ id: CommandID, _ durable: DurableState, onMain: Bool) {
    let isLive = update(onMain: onMain, postsHop: !onMain) { state, _ in state.release(id) }
    if !isLive { writeEndAgain(id, durable) }
    if !onMain, core.parent != nil { becameDeliverable(onMain: false) }
  }

  /// What has become of a command that was dispatched on the main actor.
  private func settled(
    _ id: CommandID, _ durable: DurableState, startsNow: Bool
  ) -> Acceptance.Outcome {
    let (status, isUnwritten) = withState { state in
      defer { durable.isUnwritten = false }
      return (state.status(id), durable.isUnwritten)
    }
    if startsNow, isUnwritten {
      // Nothing has started it after all: its record is written by itself.
      durable.store?.write(DurableWrite(.accepted(durable.entry), durable))
      let isLive = withState { $0.queue.isLive(id.index, sequence: id.sequence) }
      if !isLive { writeEndAgain(id, durable) }
      return isLive ? .waiting : Acceptance.Outcome(withState { $0.status(id) })
    }
    // Another thread may have ended it before it was written.
    if !startsNow, case .dropped(let reason)? = status, reason != .dead {
      writeEndAgain(id, durable)
    }
    return Acceptance.Outcome(status)
  }

  /// A command's end may have been written before its beginning, by another thread: it is written
  /// again, unless the command is to stay.
  private func writeEndAgain(_ id: CommandID, _ durable: DurableState) {
    let status = withState { $0.status(id) }
    if case .dropped(.closed)? = status { return }
    durable.store?.write(
      DurableWrite(.ended(durable.entry.id, reason: DropReason.cancelled.rawValue), durable))
  }
}

extension SlotState {
  /// Whether the command would be the next one to start, if its handler lives.
  fileprivate func startsNext(_ id: CommandID) -> Bool {
    queue.head == id.index && !isLaneAsync && !isTaskPosted
      && !queue.node(id.index).pointee.isAsync
  }
}
