// SPDX-License-Identifier: MIT

internal import Synchronization

// Delivery. Everything here happens on the main actor; it is not marked so, since the callers have
// proven it already and asking again costs 55 to 65 ns (DirectCall.swift).

/// How a command's run ended, other than well: most do, and nothing is kept of them.
final class RunFailure: Sendable {
  let work: UnmanagedWork
  /// What the handler threw; nil when the command's owner was gone.
  let error: (any Error)?
  let isFinal: Bool
  let wasCancelled: Bool
  let time: Int64

  init(_ work: UnmanagedWork, _ error: any Error, wasCancelled: Bool, at time: Int64) {
    self.work = work
    self.error = error is OwnerGone ? nil : error
    // Foreign code, asked before the lock is taken.
    isFinal = (error as? any RetryAdvising)?.isTransient == false || error is UnreadablePayload
    self.wasCancelled = wasCancelled
    self.time = time
  }

  /// Lets go of the work, unless it waits for a further attempt.
  func finish(isLast: Bool) {
    guard let error else { return work.destroy() }
    if isLast { work.fail(error) }
  }
}

extension SlotStorage {
  /// Delivers what can be delivered before the caller's call returns.
  func drainInline() {
    guard !isLaneBusy else { return }
    var budget = DrainBudget.inline(clock)
    drain(&budget)
  }

  /// The main actor has come, as it was asked to.
  func hopArrived(_ budget: inout DrainBudget) {
    // Time goes on behind a closed gate and a busy lane as well.
    let now = budget.exactTime()
    update(onMain: true, postsHop: false) { state, effects in
      state.hopArrived(at: now, &effects)
      state.isHopHere = true
    }
    drain(&budget)
    // Whoever has the lane delivers when it ends.
    update(onMain: true, postsHop: !isLaneBusy) { state, _ in state.isHopHere = false }
  }

  /// Delivers one command after the other until there is none that can be.
  ///
  /// One look-up of the handler serves several commands, as long as somebody else keeps the handler
  /// alive and it is still the active one: both are looked at between two commands, so that nobody
  /// can tell.
  ///
  /// - Returns: an asynchronous command that has started, where the budget allows one: the caller
  ///   has to perform it.
  @discardableResult
  func drain(_ budget: inout DrainBudget) -> StartedRun? {
    guard !isLaneBusy else { return nil }
    var exact: Int64?
    var handover = SlotState.Handover()
    var ended: SlotState.Ticket?
    var endTime: Int64?
    var failure: RunFailure?
    var list = RunList()
    var hasBudget: Bool?
    while true {
      let mayStart = hasBudget ?? budget.takeOne()
      hasBudget = nil
      let latest = exact ?? budget.latest
      var effects = SlotEffects()
      var isLast = false
      let next = step(&effects) { state, effects -> SlotState.Next in
        if let ticket = ended {
          freeLane()
          let ended = list.started == 0 ? ticket : state.ticketOfClaim(ticket.type)
          isLast = state.complete(ended, failure, at: endTime, &effects)
        }
        guard effects.isQuiet else { return .again }
        guard mayStart else { return .needsTurn }
        let next = state.next(
          latest: latest, exact: exact, startsAsync: budget.startsAsync, &handover, &effects)
        if case .run(let ticket) = next {
          list.removeAll()
          state.claim(behind: ticket, &list)
        }
        return next
      }
      if !effects.isQuiet { letGo(&handover.held) }
      perform(effects, onMain: true)
      failure?.finish(isLast: isLast)
      failure = nil
      endTime = nil
      ended = nil
      exact = nil
      switch next {
      case .run(let ticket):
        // The drain has just been given both.
        failure = run(
          &handover.work!, handover.runner, on: handover.held!, handover.context, &budget)
        handover.work = nil
        ended = ticket
        if ticket.needsTimeAtEnd { endTime = budget.exactTime() }
        if failure == nil {
          (failure, hasBudget) = run(&list, on: handover.held!, &budget)
        }
        if Platform.isUniquelyReferenced(handover.held!) { letGo(&handover.held) }
      case .again:
        letGo(&handover.held)
      case .needsTime:
        exact = budget.exactTime()
      case .start:
        // Both are handed over with the answer.
        let started = StartedRun(handover.run.take()!, on: handover.held!)
        letGo(&handover.held)
        // What is retired can go now.
        update(onMain: true, postsHop: false) { _, _ in }
        return started
      case .inherit:
        letGo(&handover.held)
        switch drainInherited(&budget) {
        case .more: continue
        case .done: return finishDrain()
        case .started(let started): return started
        }
      case .stop:
        letGo(&handover.held)
        return finishDrain()
      case .needsTask:
        letGo(&handover.held)
        postTask()
        return finishDrain()
      case .needsTurn:
        letGo(&handover.held)
        requestTurn()
        return finishDrain()
      }
    }
  }

  /// Lets go of the handler that a look-up took; it may die of it.
  private func letGo(_ held: inout UnsafeMutableRawPointer?) {
    held?.end()
    held = nil
  }

  /// A transition of a drain: publishes only what the drain leaves behind when it does not go on.
  @inline(__always)
  func step(
    _ effects: inout SlotEffects,
    _ body: (inout SlotState, inout SlotEffects) -> SlotState.Next
  ) -> SlotState.Next {
    let isWatched = log.isWatched
    let time = isWatched ? clock.now : .min
    var next = SlotState.Next.stop
    lock.withLock { state in
      effects.leftTransit += settleClaim(&state)
      if time > state.time { state.time = time }
      if isWatched { hot.pointee.observed.store(nil, ordering: .releasing) }
      next = body(&state, &effects)
      switch next {
      case .run: takeLane()
      case .start:
        takeLane()
        // Not as on the main actor: nothing is freed before the handler is bound.
        publish(&state, onMain: false, postsHop: false, &effects)
      default: publish(&state, onMain: true, postsHop: false, &effects)
      }
    }
    return next
  }

  /// Asks for a later turn for what is left, if something is.
  func requestTurn() {
    let isNeeded = withState { state in
      guard !state.isHopPosted, !state.queue.hasNothingReady else { return false }
      state.isHopPosted = true
      return true
    }
    if isNeeded { core.postHop(self) }
  }

  private func finishDrain() -> StartedRun? {
    if !laneWaiters.isEmpty { wakeLaneWaiters() }
    if directory.pointee.hasIdleWaiters { core.resumeIdleWaiters() }
    return nil
  }

  /// Runs a command. The captures go while the lane is busy: what their deinits dispatch here
  /// waits.
  @inline(__always)
  func run(
    _ work: inout UnmanagedWork, _ runner: WorkRunner, on entry: UnsafeMutableRawPointer,
    _ context: DurableContext?, _ budget: inout DrainBudget
  ) -> RunFailure? {
    do {
      if let context {
        try context.run(&work, on: entry.cell)
      } else {
        try work.run(on: entry.cell, runner)
      }
      return nil
    } catch {
      return RunFailure(work, error, wasCancelled: false, at: budget.exactTime())
    }
  }

  /// Runs what was claimed, as long as nothing has happened that the state has to know of or that
  /// it may say otherwise.
  ///
  /// - Returns: how the last one failed, if it did, and whether the budget has been asked for one
  ///   more, and what it said.
  @inline(__always)
  private func run(
    _ list: inout RunList, on entry: UnsafeMutableRawPointer, _ budget: inout DrainBudget
  ) -> (RunFailure?, Bool?) {
    let limit = budget.coarseLimit(before: list.wake)
    while list.started < list.count, !Platform.isUniquelyReferenced(entry) {
      guard budget.takeOne() else { return (nil, false) }
      // Of a clock without a tolerance the budget has just read the exact time.
      let isEarly = budget.isExact ? list.wake > budget.latest : budget.coarse < limit
      guard isEarly, let work = list.startNext() else { return (nil, true) }
      let runner = work.pointee.runner
      if let failure = run(&work.pointee.work, runner, on: entry, nil, &budget) {
        return (failure, nil)
      }
    }
    return (nil, nil)
  }
}

extension SlotState {
  /// A command's run has ended.
  ///
  /// - Returns: whether it has failed for the last time.
  mutating func complete(
    _ ticket: Ticket, _ failure: RunFailure?, at time: Int64?, _ effects: inout SlotEffects
  ) -> Bool {
    guard let failure else {
      delivered(ticket, at: time, &effects)
      return false
    }
    guard let error = failure.error else {
      ownerGone(ticket, &effects)
      return false
    }
    return failed(
      ticket, failure.work, error, isFinal: failure.isFinal, wasCancelled: failure.wasCancelled,
      at: failure.time, &effects)
  }
}
