// SPDX-License-Identifier: MIT

internal import Synchronization

/// One feature in one relay: takes the lock around ``SlotState``, and does what the state machine
/// says once the lock has been given back.
///
/// Safe to share: the state is behind its lock, the memory behind `hot` is made of atomics, and the
/// properties marked as unsafe are touched on the main actor only (RaceTests under the thread
/// sanitizer would notice).
@usableFromInline
final class SlotStorage: @unchecked Sendable {
  let core: RelayCore
  // Of the core's, which is referenced weakly as well: each look at it costs a slow retain.
  let log: EventLog
  let hot: UnsafeMutablePointer<Slot>
  /// What few slots have of the main actor's.
  nonisolated(unsafe) var mainPart: UnsafeMutablePointer<SlotMainPart>?
  /// Use ``withState(_:)`` or ``update(onMain:postsHop:_:)``: the state may have to be brought up to
  /// date first.
  let lock: BargingLock<SlotState>

  /// What the slots have in common; its settings are the relay's.
  var shared: SlotShared { core.shared }
  var clock: RelayClock { shared.clock }
  var directory: UnsafeMutablePointer<SlotDirectory> { shared.directory }
  var number: UInt32 { hot.pointee.number }
  var key: UInt { hot.pointee.key }
  var origin: EventOrigin { hot.origin(log) }
  var featureName: String { origin.featureName }

  init(core: RelayCore, number: UInt32, key: UInt, isRelayGateClosed: Bool, isClosed: Bool) {
    self.core = core
    log = core.log
    hot = .allocate(capacity: 1)
    var state = SlotState(hot: hot, shared: core.shared)
    state.isRelayGateClosed = isRelayGateClosed
    state.isObserved = core.isObserved
    state.isClosed = isClosed
    lock = BargingLock(state)
    hot.initialize(to: Slot(key: key, number: number, storage: .passUnretained(self)))
    if let tape = core.tape.current { lock.withLock { $0.tape = tape } }
  }

  deinit {
    hot.deinitialize(count: 1)
    hot.deallocate()
    mainPart?.deinitialize(count: 1)
    mainPart?.deallocate()
  }

  /// Whether a command of this slot, or one that borrows its lane, runs. Exact on the main actor
  /// only.
  var isLaneBusy: Bool { hot.isLaneBusy }

  /// On the main actor.
  func takeLane() {
    hot.pointee.lane.store(hot.pointee.lane.load(ordering: .relaxed) | 1, ordering: .relaxed)
  }

  /// On the main actor.
  func freeLane() {
    hot.pointee.lane.store(hot.pointee.lane.load(ordering: .relaxed) & ~3, ordering: .relaxed)
  }

  /// Changes the state under the lock, publishes what may be called directly, and then does the
  /// rest.
  ///
  /// - Parameters:
  ///   - onMain: whether the caller is on the main actor.
  ///   - postsHop: whether the main actor is to be asked to come when there is something to
  ///     deliver.
  ///   - settles: whether the state is brought up to date first (SlotClaim.swift).
  @inline(__always)
  func update<Result>(
    onMain: Bool, postsHop: Bool = true, settles: Bool = true,
    _ body: (inout SlotState, inout SlotEffects) -> Result
  ) -> Result {
    var effects = SlotEffects()
    let result = locked(onMain: onMain, postsHop: postsHop, settles: settles, &effects, body)
    perform(effects, onMain: onMain)
    return result
  }

  @inline(__always)
  func locked<Result>(
    onMain: Bool, postsHop: Bool, settles: Bool = true, _ effects: inout SlotEffects,
    _ body: (inout SlotState, inout SlotEffects) -> Result
  ) -> Result {
    var result: Result?
    // Before the lock: the clock may be somebody's own.
    let isWatched = log.isWatched
    let time = isWatched ? clock.now : .min
    lock.withLock { state in
      if settles { effects.leftTransit += settleClaim(&state) }
      if time > state.time { state.time = time }
      // First: no direct delivery finds its place in the order behind what this transition records.
      if isWatched { hot.pointee.observed.store(nil, ordering: .releasing) }
      result = body(&state, &effects)
      publish(&state, onMain: onMain, postsHop: postsHop, &effects)
    }
    return result!
  }

  /// Settles a transition and says what may be called directly from now on. Under the lock.
  @inline(__always)
  func publish(
    _ state: inout SlotState, onMain: Bool, postsHop: Bool, _ effects: inout SlotEffects
  ) {
    // An asynchronous command has its handler itself: only a synchronous run looks into the memory.
    if onMain, !state.retired.isEmpty, !isLaneBusy || state.isLaneAsync {
      effects.release(&state.retired)
    }
    let isClear = state.settle(postsHop: postsHop, &effects)
    let entry = isClear ? state.registrations.last?.pointer : nil
    if state.isObserved || hot.pointee.isFollowed.load(ordering: .relaxed) {
      hot.pointee.observed.store(state.isObserved ? entry : nil, ordering: .releasing)
      hot.pointee.direct.store(nil, ordering: .releasing)
      hot.pointee.inherits.store(false, ordering: .releasing)
    } else {
      hot.pointee.observed.store(nil, ordering: .relaxed)
      hot.pointee.direct.store(entry, ordering: .releasing)
      hot.pointee.inherits.store(isClear && state.registrations.isEmpty, ordering: .releasing)
    }
  }

  /// Does what the state machine left to do. Outside any lock: all of it may run foreign code.
  @inline(__always)
  func perform(_ effects: consuming SlotEffects, onMain: Bool) {
    if effects.needsHop { core.postHop(self) }
    if effects.wakeAt != .max { scheduleWake(at: effects.wakeAt) }
    if effects.leftTransit > 0 { shared.transit.leave(effects.leftTransit) }
    if effects.hasMore { performForeign(effects, onMain: onMain) }
    log.handOut()
  }

  @inline(never)
  private func performForeign(_ effects: consuming SlotEffects, onMain: Bool) {
    let writes = effects.writes
    if let store = writes.first?.state?.store { store.write(writes) }
    effects.handler?.release()
    for run in effects.abandoned {
      if onMain {
        freeLanes(of: run)
      } else {
        // Who is asked meanwhile what waits for an asynchronous command must not be told so.
        run.lender?.update(onMain: false) { state, _ in
          if state.lentRun == ObjectIdentifier(run) { state.lentRun = nil }
        }
        MainQueue.async { [self] in freeLanes(of: run) }
      }
    }
    for run in effects.cancelled { run.cancel() }
    if var ended = effects.firstEnded { ended.work.end(ended.reason, feature: key) }
    for var ended in effects.moreEnded { ended.work.end(ended.reason, feature: key) }
    for waiter in effects.resumed { waiter.continuation.resume() }
  }

  private func scheduleWake(at time: Int64) {
    clock.schedule(at: time) { [weak core, weak self] in
      guard core != nil, let self else { return }
      update(onMain: false) { state, effects in
        // Time is looked at on the main actor, where what has become due can be delivered as well;
        // until then the wake-up stays armed, or it would be planned again at once.
        if !state.isHopPosted, !state.isClosed {
          state.isHopPosted = true
          effects.needsHop = true
        }
      }
    }
  }
}

// MARK: Accepting

extension SlotStorage {
  /// Takes a command in. On the main actor it delivers what can be delivered before it returns.
  func accept(_ command: inout IncomingCommand, onMain: Bool) -> Acceptance {
    var hasInherited = directory.pointee.parent == nil ? false : nil
    var mayDrainFirst = onMain && !isLaneBusy
    var isSettled = false
    while true {
      let now = clock.now
      let outcome = update(onMain: onMain, postsHop: !onMain, settles: false) {
        state, effects -> AcceptOutcome in
        var started: Int?
        if state.claim.count > 0 {
          if !isSettled, state.leavesClaim(command, at: now) {
            started = state.claim.started
          } else {
            effects.leftTransit += settleClaim(&state)
          }
        }
        if state.queue.waiting >= command.limit ?? state.settings.limit, !state.isClosed {
          if mayDrainFirst, state.mayBeDelivered(hasParent: directory.pointee.parent != nil) {
            return .drainFirst
          }
        }
        switch state.accept(
          &command, at: now, hasInheritedHandler: hasInherited, started: started,
          isSettled: isSettled, &effects)
        {
        case .refused(let reason): return .refused(reason)
        case .noRoom: return .refused(.full)
        case .needsAncestors: return .askAncestors
        case .needsSettling: return .settle
        case .accepted(let id):
          let ownsNone = state.registrations.isEmpty
          return .accepted(
            id, mayDeliver: state.mayBeDelivered(hasParent: directory.pointee.parent != nil),
            needsTask: command.isAsync && state.queue.head == id.index,
            asksAncestors: ownsNone && directory.pointee.parent != nil && !state.isHopPosted
              && state.isOpen,
            explains: ownsNone && !state.hasNamedOtherType
              && state.needsExplanation(directory.registrationVersion))
        }
      }
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
      case .accepted(let id, let mayDeliver, let needsTask, let asksAncestors, let explains):
        if onMain {
          if mayDeliver, !isLaneBusy, needsTask {
            // It is next: what delivering would come to.
            postTask()
          } else if mayDeliver, !isLaneBusy {
            drainInline()
            let acceptance = Acceptance(outcome: outcomeNow(of: id), id: id)
            if explains, acceptance.outcome == .waiting { core.explainWait(of: self) }
            return acceptance
          }
        } else if asksAncestors, core.parent?.canLend(key) == true {
          requestHop()
        }
        if explains { core.explainWait(of: self) }
        return Acceptance(outcome: .waiting, id: id)
      }
    }
  }

  private enum AcceptOutcome {
    case drainFirst
    case askAncestors
    case settle
    case refused(RefusalReason)
    case accepted(
      CommandID, mayDeliver: Bool, needsTask: Bool, asksAncestors: Bool, explains: Bool)
  }

  /// Asks the main actor to come, unless it has been asked.
  func requestHop() {
    update(onMain: false) { state, effects in
      guard !state.isHopPosted else { return }
      state.isHopPosted = true
      effects.needsHop = true
    }
  }

  func outcomeNow(of id: CommandID) -> Acceptance.Outcome {
    Acceptance.Outcome(withState { $0.status(id) })
  }

  /// A command that was called directly has thrown. On the main actor, in place of the direct
  /// path's own end.
  func directFailed(_ error: any Error) -> Acceptance {
    let now = clock.now
    update(onMain: true, postsHop: false) { state, _ in
      if observedFailed(error, &state, at: now) { return }
      freeLane()
      state.directFailed(error, at: now)
    }
    drainInline()
    return Acceptance(outcome: .failed)
  }

  /// The same for a command whose type may want a further attempt.
  func directFailed(
    _ error: any Error, _ command: inout IncomingCommand, on entry: UnsafeMutableRawPointer
  ) -> Acceptance {
    let isFinal = (error as? any RetryAdvising)?.isTransient == false
    let now = clock.now
    let id = update(onMain: true, postsHop: false) { state, effects -> CommandID? in
      if observedFailed(error, &state, at: now) { return nil }
      freeLane()
      // Safe: what is retired is freed after this, now that the lane is idle.
      return state.directFailed(
        error, &command, isFinal: isFinal || entry.header.pointee.isEmptied, at: now, &effects)
    }
    drainInline()
    guard let id else { return Acceptance(outcome: .failed) }
    return Acceptance(outcome: outcomeNow(of: id), id: id)
  }
}

extension SlotState {
  /// Whether it is worth a look whether something can be delivered.
  func mayBeDelivered(hasParent: Bool) -> Bool {
    isOpen && (hasParent || !registrations.isEmpty)
  }

  /// Whether a wait has to be looked into: there are other registrations than the last time.
  mutating func needsExplanation(_ version: UInt64) -> Bool {
    guard explainedVersion != version else { return false }
    explainedVersion = version
    return true
  }
}
