// SPDX-License-Identifier: MIT

// How sends become runs: through the inbox, past the machine, into tasks.

extension ReactorStorage {
  /// How many actions may be on their way to a main actor that is busy.
  static let inboxLimit = 65_536

  /// Takes something in, in the order of the calls, and lets the main actor look at it: at once if
  /// the caller is there, otherwise in a later turn.
  func submit(_ item: Item, isolation: (any Actor)?) {
    let isOnMain = isolation === MainActor.shared
    let (refusal, needsHop): (ActionOutcome?, Bool) = lock.withLock { state in
      if state.machine.hasEnded { return (.ended, false) }
      if case .run = item, state.inbox.count - state.head >= Self.inboxLimit {
        return (.refused, false)
      }
      state.inbox.append(item)
      guard !isOnMain, !state.isHopPlanned else { return (nil, false) }
      state.isHopPlanned = true
      return (nil, true)
    }
    if let refusal {
      if case .run(let run) = item { run.complete(refusal) }
      return
    }
    if isOnMain {
      MainActor.assumeIsolated { drain() }
    } else if needsHop {
      // One for all that come until it has arrived.
      Task { @MainActor in
        lock.withLock { $0.isHopPlanned = false }
        drain()
      }
    }
  }

  /// Looks at all that was sent, one after the other. What is synchronous may send and get here
  /// again: it goes on where this call stands.
  @MainActor func drain() {
    while let item = takeNext() {
      switch item {
      case .run(let run): admit(run)
      case .call(let action): action()
      case .wake(let wake):
        let now = clock.now()
        perform(lock.withLock { $0.machine.wake(wake, now: now) })
      }
      lock.withLock { $0.inHand -= 1 }
    }
    settle()
  }

  private func takeNext() -> Item? {
    let item: Guarded<Item?> = lock.withLock { state in
      guard state.head < state.inbox.count else { return Guarded(state: nil) }
      // Its place lets go of it, so that nothing goes for good under the lock later.
      let item = state.inbox[state.head].take()
      state.head += 1
      state.inHand += 1
      if state.head == state.inbox.count {
        state.inbox.removeAll(keepingCapacity: state.inbox.capacity <= 64)
        state.head = 0
      } else if state.head >= 64, state.head * 2 > state.inbox.count {
        state.inbox.removeFirst(state.head)
        state.head = 0
      }
      return Guarded(state: item)
    }
    return item.state
  }

  @MainActor private func admit(_ run: ActionRun) {
    if let stop = run.stop { return run.complete(stop) }
    guard let policy = run.policy() else { return run.complete(.ended) }
    guard !policy.isPlain || policy.id != nil else { return admitUnnamed(run) }
    let id = policy.id ?? run.name
    run.set(id)
    let request = ActionMachine.Request(
      number: run.number, rule: policy.rule, waitingLimit: policy.waitingLimit)
    // The clock may be foreign: not under the lock.
    let now = policy.timing == nil ? .zero : clock.now()
    let effects = lock.withLock { state in
      state.named[run.number] = run
      if !run.isBackground { state.foregroundCount += 1 }
      return state.machine.send(request, id: id, timing: policy.timing, now: now)
    }
    perform(effects)
  }

  @MainActor private func admitUnnamed(_ run: ActionRun) {
    let isAdmitted = lock.withLock { state in
      guard !state.machine.hasEnded else { return false }
      state.unnamed[run.number] = run
      if !run.isBackground { state.foregroundCount += 1 }
      return true
    }
    if isAdmitted { launch(run) } else { run.complete(.ended) }
  }

  private func plan(_ wake: ActionMachine.Wake) {
    clock.schedule(wake.time) { [weak self] in self?.submit(.wake(wake), isolation: nil) }
  }
}

// MARK: Effects

extension ReactorStorage {
  @MainActor func perform(_ effects: ActionMachine.Effects) {
    stop(effects)
    for number in effects.overtaken {
      if let run = run(number) { runningChanged(run) }
    }
    for drop in effects.dropped { discard(drop)?.release() }
    if let start = effects.start, let run = run(start) { launch(run) }
    if let wake = effects.wake { plan(wake) }
  }

  /// What may be done from any thread.
  func stop(_ effects: ActionMachine.Effects) {
    for number in effects.overtaken { run(number)?.stop(.overtaken, silencing: true) }
    for number in effects.cancelled { run(number)?.stop(.cancelled, silencing: false) }
  }

  @discardableResult
  func discard(_ drop: ActionMachine.Drop) -> ActionRun? {
    let run = lock.withLock { $0.remove(drop.number) }
    run?.complete(drop.outcome)
    return run
  }

  private func run(_ number: ActionMachine.Number) -> ActionRun? {
    lock.withLock { $0.named[number] }
  }

  /// Starts it in a later turn. Tasks of the main actor begin in the order in which they were made.
  @MainActor private func launch(_ run: ActionRun) {
    runningChanged(run)
    // It inherits the task-local values of who sends, or of the action before it.
    run.attach(Task { await execute(run) })
  }

  @MainActor private func execute(_ run: ActionRun) async {
    var outcome = ActionOutcome.ended
    if run.stop == nil {
      outcome = await ActionRun.$current.withValue(run) { await run.body() }
    }
    run.release()
    let id = run.id
    let effects = lock.withLock { state in
      _ = state.remove(run.number)
      return id.map { state.machine.finish(run.number, id: $0) }
    }
    runningChanged(run)
    if let effects { perform(effects) }
    run.complete(run.stop ?? outcome)
    settle()
  }
}

// MARK: Cancelling

extension ReactorStorage {
  @MainActor func cancel(_ id: ActionID, discardingWrites: Bool) {
    let (effects, unnamed) = lock.withLock { state in
      (
        state.machine.cancel(id, discardingWrites: discardingWrites), Array(state.unnamed.values)
      )
    }
    perform(effects)
    for run in unnamed where run.name == id {
      run.stop(discardingWrites ? .overtaken : .cancelled, silencing: discardingWrites)
      runningChanged(run)
    }
    settle()
  }

  func cancel(_ run: ActionRun) {
    guard run.outcome == nil else { return }
    run.stop(.cancelled, silencing: false)
    guard let id = run.id else { return }
    let effects = lock.withLock { $0.machine.cancel(run.number, id: id) }
    for drop in effects.dropped { discard(drop) }
    settle()
  }
}
