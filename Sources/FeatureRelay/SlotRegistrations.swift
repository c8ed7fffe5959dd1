// SPDX-License-Identifier: MIT

internal import Synchronization

extension RegistrationEntry {
  static func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }
}

extension SlotState {
  /// Puts a registration on top; an older one of the same object goes.
  mutating func push(_ entry: RegistrationEntry, _ effects: inout SlotEffects) {
    guard !isClosed else {
      retired.append(entry)
      return
    }
    while let index = registrations.firstIndex(where: { $0.identity == entry.identity }) {
      // A dead object's address may have been used again: that is another object, and this one is
      // gone.
      retired.append(registrations.remove(at: index))
    }
    registrations.append(entry)
    if isObserved { record(.registered(handler: entry.handlerName)) }
  }

  /// Takes a registration away.
  ///
  /// - Returns: whether it was there.
  mutating func remove(_ id: UInt64) -> Bool {
    guard let place = registrations.lastIndex(where: { $0.id == id }) else { return false }
    let entry = registrations.remove(at: place)
    retired.append(entry)
    if isObserved { record(.unregistered(handler: entry.handlerName)) }
    return true
  }

  func record(_ kind: RelayEvent.Kind) {
    recorder.record(EventDraft(kind: kind), from: origin, at: time)
  }
}

extension SlotStorage {
  func register(_ entry: RegistrationEntry) {
    let onMain = MainQueue.isCurrent
    let isHigh = update(onMain: onMain) { state, effects in
      state.push(entry, &effects)
      return state.registrations.count >= Int(state.sweepsAt)
    }
    if isHigh { sweep(onMain: onMain) }
    becameDeliverable(onMain: onMain)
    wakeDescendants(onMain: onMain)
  }

  /// Another handler may serve what waits in children.
  private func wakeDescendants(onMain: Bool) {
    if directory.pointee.hasChildren.load(ordering: .acquiring) {
      core.wakeDescendants(key, onMain: onMain)
    }
  }

  /// Retires the registrations of dead handlers below a live one, or of all that died without a
  /// command. Each time the stack has doubled: a constant cost for each registration.
  private func sweep(onMain: Bool) {
    // The handlers are looked at outside the lock: a reference may turn out to be the last one.
    let dead = withState { $0.registrations }.filter { $0.handler == nil }.map(\.id)
    update(onMain: onMain) { state, _ in
      let buried = state.registrations.filter { dead.contains($0.id) }
      state.registrations.removeAll { dead.contains($0.id) }
      for entry in buried { state.bury(entry) }
      state.sweepsAt = UInt32(max(SlotState.smallStack, 2 * state.registrations.count))
    }
  }

  /// The registrations whose handlers live, the active one last. New references: let go of them
  /// outside locks.
  var liveHandlers: [(entry: RegistrationEntry, handler: AnyObject)] {
    let entries = withState { $0.registrations }
    return entries.compactMap { entry in entry.handler.map { (entry, $0) } }
  }

  func unregister(_ isMeant: (AnyObject) -> Bool) {
    // Dead ones go as well, as what they are: their registrations are of no use to anybody.
    sweep(onMain: MainQueue.isCurrent)
    remove(liveHandlers.filter { isMeant($0.handler) }.map(\.entry.id))
  }

  func remove(_ ids: [UInt64]) {
    let onMain = MainQueue.isCurrent
    let isChanged = update(onMain: onMain) { state, _ in
      ids.reduce(false) { state.remove($1) || $0 }
    }
    if isChanged { removed(onMain: onMain) }
  }

  func remove(_ id: UInt64) {
    let onMain = MainQueue.isCurrent
    if update(onMain: onMain, { state, _ in state.remove(id) }) { removed(onMain: onMain) }
  }

  private func removed(onMain: Bool) {
    directory.registrationsChanged()
    // One below may be live, or an ancestor's handler.
    becameDeliverable(onMain: false)
    wakeDescendants(onMain: onMain)
  }

  var pendingCount: Int {
    let onMain = MainQueue.isCurrent
    let now = clock.now
    return update(onMain: onMain) { state, effects in
      state.expire(at: now, &effects)
      return state.queue.waiting
    }
  }

  func clear() -> Int {
    update(onMain: MainQueue.isCurrent) { state, effects in state.clear(.cleared, &effects) }
  }

  func cancel(tagged tag: CommandTag, includingRunning: Bool) -> Int {
    let count = update(onMain: MainQueue.isCurrent) { state, effects in
      state.cancel(tagged: tag, includingRunning: includingRunning, &effects)
    }
    // What waited behind one that held its place may be for an ancestor's handler.
    if count > 0 { becameDeliverable(onMain: false) }
    return count
  }

  func configure(_ configuration: FeatureConfiguration) {
    update(onMain: MainQueue.isCurrent) { state, effects in
      state.settings = SlotSettings(core.configuration, configuration)
      state.lookForRoom(&effects)
    }
    // The relay's gate may not matter any more, to an ancestor's handler or to descendants either.
    becameDeliverable(onMain: false)
    wakeDescendants(onMain: MainQueue.isCurrent)
  }
}

// MARK: Explaining a wait

extension RelayCore {
  /// Says once why a command waits although a handler for it is there: registered under another
  /// type.
  func explainWait(of slot: SlotStorage) {
    func isHandler<F>(_ object: AnyObject, _ feature: F.Type) -> Bool { object is F }
    let feature = FeatureKey.type(slot.key)
    var core: RelayCore? = self
    while let current = core {
      for other in current.slots where other.key != slot.key {
        for (entry, handler) in other.liveHandlers where isHandler(handler, feature) {
          slot.update(onMain: MainQueue.isCurrent) { state, _ in
            guard !state.hasNamedOtherType else { return }
            state.hasNamedOtherType = true
            state.record(
              .handlerUnderAnotherType(
                handler: entry.handlerName, registeredFor: other.featureName))
          }
          return
        }
      }
      core = current.parent
    }
  }
}
