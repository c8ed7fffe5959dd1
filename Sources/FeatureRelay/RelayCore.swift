// SPDX-License-Identifier: MIT

internal import Synchronization

/// What a relay is made of, apart from its public face: settings, slots, the way to the main actor,
/// events.
///
/// Slots keep it alive, and it keeps the slots: the relay's deinit takes that apart. An ancestor is
/// kept by the relay, a descendant is only known weakly.
///
/// Safe to share: everything mutable is behind a lock or atomic, but for what is marked as the main
/// actor's.
final class RelayCore: @unchecked Sendable {
  private struct Structure {
    var slots: [SlotStorage] = []
    var outgrown: [UnsafeMutablePointer<SlotTable>] = []
    var gateReasons: [String] = []
    var isClosed = false
    var children: [WeakCore] = []
    var store: DurableStore?
  }

  private struct WeakCore {
    weak var core: RelayCore?
  }

  private struct Hop {
    var isPosted = false
    var dirty: [SlotStorage] = []
  }

  private static let lastNumber = Atomic<UInt32>(0)

  let configuration: RelayConfiguration
  let parent: RelayCore?
  /// What the slots have in common.
  let shared: SlotShared
  let tape = CommandTapePlace()
  /// Where the relay's own events come from: made for the first of them.
  private let originPlace = EventOriginPlace()
  private let structure = Lock(Structure())
  private let hop = Lock(Hop())
  /// Kept for the turn that delivers what is in transit. Safe: set once, before the relay is
  /// shared.
  nonisolated(unsafe) weak var relay: Relay?
  /// Safe: only the main actor touches it.
  nonisolated(unsafe) private var idleWaiters: [IdleWaiter] = []

  init(
    scope: String, configuration: RelayConfiguration, parent: RelayCore?,
    store: DurableStore? = nil
  ) {
    WeakPeek.prepare()
    self.configuration = configuration
    self.parent = parent
    let directory = UnsafeMutablePointer<SlotDirectory>.allocate(capacity: 1)
    directory.initialize(
      to: SlotDirectory(table: SlotTable.make(capacity: 8), parent: parent?.directory))
    shared = SlotShared(
      clock: configuration.clock,
      log: EventLog(
        relay: Self.lastNumber.add(1, ordering: .relaxed).newValue, scope: scope),
      directory: directory, transit: TransitCount(limit: configuration.transitLimit),
      settings: SlotSettings(configuration, nil))
    if let store {
      structure.withLock { $0.store = store }
      store.core = self
    }
    parent?.structure.withLock { structure in
      structure.children.removeAll { $0.core == nil }
      structure.children.append(WeakCore(core: self))
      // Under the lock: whoever has made a slot there after this sees it.
      parent?.directory.pointee.hasChildren.store(true, ordering: .releasing)
    }
  }

  deinit {
    SlotTable.free(directory.pointee.table.load(ordering: .acquiring))
    structure.withLock { for table in $0.outgrown { SlotTable.free(table) } }
    directory.deinitialize(count: 1)
    directory.deallocate()
  }

  var number: UInt32 { log.relay }
  var scope: String { log.scope }
  var clock: RelayClock { shared.clock }
  var log: EventLog { shared.log }
  var transit: TransitCount { shared.transit }
  /// Where the direct path finds the table.
  var directory: UnsafeMutablePointer<SlotDirectory> { shared.directory }
}

// MARK: Slots

extension RelayCore {
  /// The slot of a feature, if it was ever used here. For callers who hold the relay: its end frees
  /// the slots.
  func existingSlot(_ key: UInt) -> SlotStorage? {
    directory.find(key)?.pointee.storage.takeUnretainedValue()
  }

  /// The slot of a feature for callers who do not hold the relay: it may be going at this moment,
  /// so that the way to the slot has to be kept until there is a reference to it.
  func slotIfAlive(_ key: UInt) -> SlotStorage? {
    structure.withLock { _ in existingSlot(key) }
  }

  /// The slot of a feature. Traps when the type cannot be one.
  func slot(_ key: UInt) -> SlotStorage {
    if let slot = existingSlot(key) { return slot }
    func check<F>(_ feature: F.Type) { FeatureShape.check(feature) }
    check(FeatureKey.type(key))
    return structure.withLock { structure in
      if let slot = existingSlot(key) { return slot }
      let slot = SlotStorage(
        core: self, number: UInt32(structure.slots.count), key: key,
        isRelayGateClosed: !structure.gateReasons.isEmpty, isClosed: structure.isClosed)
      var table = directory.pointee.table.load(ordering: .relaxed)
      if (structure.slots.count + 1) * 4 > Int(table.pointee.mask + 1) * 3 {
        structure.outgrown.append(table)
        table = SlotTable.make(capacity: Int(table.pointee.mask + 1) * 2)
        for slot in structure.slots { table.pointee.add(slot.hot) }
        directory.pointee.table.store(table, ordering: .releasing)
      }
      structure.slots.append(slot)
      table.pointee.add(slot.hot)
      return slot
    }
  }

  var children: [RelayCore] {
    structure.withLock { $0.children.compactMap(\.core) }
  }

  var slots: [SlotStorage] { structure.withLock { $0.slots } }

  func slot(numbered number: UInt32) -> SlotStorage? {
    structure.withLock { structure in
      Int(number) < structure.slots.count ? structure.slots[Int(number)] : nil
    }
  }

  /// Takes apart what keeps itself alive. Only the relay's deinit may: whoever can call still does
  /// so by way of ``slotIfAlive(_:)`` or ``slots``.
  func dismantle() {
    // The table still leads to slots that are about to go: leave an empty one.
    let slots = structure.withLock { structure -> [SlotStorage] in
      structure.outgrown.append(directory.pointee.table.load(ordering: .relaxed))
      directory.pointee.table.store(SlotTable.make(capacity: 8), ordering: .releasing)
      defer { structure.slots = [] }
      return structure.slots
    }
    withExtendedLifetime(slots) {}
  }
}

// MARK: Durable commands

extension RelayCore {
  /// What the relay has for durable commands, if there is anything.
  var existingStore: DurableStore? { structure.withLock { $0.store } }

  /// What the relay has for durable commands: made on first use where there is no journal.
  var durableStore: DurableStore {
    structure.withLock { structure in
      if let store = structure.store { return store }
      let store = DurableStore(.none, configuration)
      store.core = self
      structure.store = store
      return store
    }
  }
}

// MARK: The way to the main actor

extension RelayCore {
  /// Asks the main actor to come to a slot: one hop for all of the relay's slots.
  func postHop(_ slot: SlotStorage) {
    let posts = hop.withLock { hop in
      hop.dirty.append(slot)
      defer { hop.isPosted = true }
      return !hop.isPosted
    }
    if posts { postTurn() }
  }

  private func postTurn() {
    let relay = relay
    MainQueue.async { [self] in
      hopArrived()
      withExtendedLifetime(relay) {}
    }
  }

  /// Asks for a later turn for slots that this one had no time for. They come first then: a flood
  /// in one feature does not starve the others.
  private func postpone(_ slots: ArraySlice<SlotStorage>) {
    let posts = hop.withLock { hop in
      hop.dirty.insert(contentsOf: slots, at: 0)
      defer { hop.isPosted = true }
      return !hop.isPosted
    }
    if posts { postTurn() }
  }

  private func hopArrived() {
    // First: what comes from now on posts again, a wake-up is never lost.
    let dirty = hop.withLock { hop in
      hop.isPosted = false
      let dirty = hop.dirty
      hop.dirty = []
      return dirty
    }
    var budget = DrainBudget.turn(clock)
    for (place, slot) in dirty.enumerated() {
      if budget.isSpent { return postpone(dirty[place...]) }
      slot.hopArrived(&budget)
    }
    resumeIdleWaiters()
  }

  var isHopPosted: Bool { hop.withLock { $0.isPosted } }
}

// MARK: Quiescence

extension RelayCore {
  struct IdleWaiter {
    let excluded: [RunContext]
    let continuation: CheckedContinuation<Void, Never>
  }

  /// Waits until nothing runs and nothing can be delivered; what the calling command itself does is
  /// not counted.
  @MainActor
  func waitUntilIdle() async {
    let excluded = RunContext.current?.chain ?? []
    await withCheckedContinuation { continuation in
      // Asked here: before it a task with an executor of its own may let other things happen.
      if isIdle(excluding: excluded) { return continuation.resume() }
      idleWaiters.append(IdleWaiter(excluded: excluded, continuation: continuation))
      directory.pointee.hasIdleWaiters = true
    }
  }

  /// On the main actor.
  func resumeIdleWaiters() {
    guard !idleWaiters.isEmpty else { return }
    // Asked once for each: other threads change the answer meanwhile.
    let ready = idleWaiters.partition { isIdle(excluding: $0.excluded) }
    let resumed = idleWaiters[ready...]
    idleWaiters.removeSubrange(ready...)
    directory.pointee.hasIdleWaiters = !idleWaiters.isEmpty
    for waiter in resumed { waiter.continuation.resume() }
  }

  private func isIdle(excluding excluded: [RunContext]) -> Bool {
    !isHopPosted && existingStore?.isCommitting != true
      && slots.allSatisfy { $0.isIdle(excluding: excluded) }
  }
}

extension SlotStorage {
  /// Whether nothing of this slot runs and nothing could be delivered, but for the commands given.
  /// On the main actor.
  fileprivate func isIdle(excluding excluded: [RunContext]) -> Bool {
    let holdsExcludedLane = excluded.contains { $0.holdsLane(of: self) }
    if isLaneBusy, !holdsExcludedLane { return false }
    if isWaitingForLane, excluded.isEmpty { return false }
    return withState { state in
      let own = state.queue.runningCommands.filter { index in
        !excluded.contains { $0.command == state.id(index) }
      }
      return own.isEmpty && !state.isHopPosted && !state.isHopHere && !state.isTaskPosted
    }
  }
}

// MARK: Gates

extension RelayCore {
  var isGateClosed: Bool { directory.pointee.gateIsClosed.load(ordering: .acquiring) }

  var gateReasons: [String] { structure.withLock { $0.gateReasons } }

  func closeGate(for reason: String) {
    let slots = structure.withLock { structure -> [SlotStorage]? in
      guard !structure.gateReasons.contains(reason) else { return nil }
      structure.gateReasons.append(reason)
      directory.pointee.gateIsClosed.store(true, ordering: .releasing)
      return structure.slots
    }
    guard let slots else { return }
    followGate(slots, onMain: MainQueue.isCurrent)
    record(.gateClosed(reason: reason))
    log.handOut()
  }

  func openGate(for reason: String) {
    let slots = structure.withLock { structure -> [SlotStorage]? in
      guard let index = structure.gateReasons.firstIndex(of: reason) else { return nil }
      structure.gateReasons.remove(at: index)
      if structure.gateReasons.isEmpty {
        directory.pointee.gateIsClosed.store(false, ordering: .releasing)
      }
      return structure.slots
    }
    guard let slots else { return }
    record(.gateOpened(reason: reason))
    followGate(slots, onMain: MainQueue.isCurrent)
    log.handOut()
  }

  /// Lets the slots follow the gate. Each asks it under its own lock: what another thread had read
  /// before must not open a slot again that has been closed since.
  private func followGate(_ slots: [SlotStorage], onMain: Bool) {
    for slot in slots {
      slot.update(onMain: onMain) { state, _ in state.isRelayGateClosed = isGateClosed }
    }
    guard !isGateClosed else { return }
    // Once it is open for all of them: what one delivers may dispatch to another.
    for slot in slots { slot.becameDeliverable(onMain: onMain) }
    wakeDescendants(onMain: onMain)
  }
}

extension SlotStorage {
  /// A handler has come, or a gate has opened: what waits is delivered in a later turn, or now
  /// where that is wanted.
  func becameDeliverable(onMain: Bool) {
    if core.configuration.replay == .immediate, onMain {
      drainInline()
    } else if core.parent != nil,
      withState({ $0.registrations.isEmpty && $0.isOpen && !$0.queue.hasNothingReady }),
      core.parent?.canLend(key) == true
    {
      requestHop()
    }
  }
}

// MARK: Emptying

extension RelayCore {
  var isClosed: Bool { structure.withLock { $0.isClosed } }

  /// Ends everything that waits or runs, and all registrations.
  func empty(_ reason: DropReason) {
    let slots = structure.withLock { structure in
      if reason == .closed { structure.isClosed = true }
      return structure.slots
    }
    let onMain = MainQueue.isCurrent
    let store = existingStore
    if reason == .reset { store?.beginReset() }
    for slot in slots {
      slot.update(onMain: onMain) { state, effects in
        if reason == .closed { state.isClosed = true }
        state.reset(reason, &effects)
      }
    }
    if reason == .reset { store?.endReset() } else { store?.close() }
    directory.registrationsChanged()
    record(reason == .closed ? .closed : .reset)
    log.handOut()
    MainQueue.async { [self] in resumeIdleWaiters() }
  }
}

// MARK: Events

extension RelayCore {
  /// Whether nothing may go past the slots' queues, since somebody looks.
  var isObserved: Bool { log.isWatched || tape.current != nil }

  private var origin: EventOrigin {
    originPlace.origin { log.origin(relay: number, scope: scope) }
  }

  func record(_ kind: RelayEvent.Kind) {
    log.record(
      EventDraft(kind: kind), from: origin, at: clock.now)
  }

  /// Somebody looks, or nobody does any more: what may be called directly depends on it.
  func audienceChanged() {
    let onMain = MainQueue.isCurrent
    for slot in slots {
      slot.update(onMain: onMain) { [self] state, _ in
        state.isObserved = isObserved
        state.tape = tape.current
      }
    }
  }
}
