// SPDX-License-Identifier: MIT

internal import Synchronization

// Asynchronous commands: each is a task of the main actor that holds its lanes until it ends.

/// An asynchronous command that has started: its handler is bound, its lanes are taken.
struct StartedRun {
  let run: AsyncRun
  let work: WorkBox

  init(_ run: AsyncRun, on entry: UnsafeMutableRawPointer) {
    self.run = run
    work = WorkBox(run.work.start(on: entry.cell))
  }
}

/// Work that is let go of as soon as it has ended.
final class WorkBox: Sendable {
  private let work: Lock<AsyncWork?>

  init(_ work: @escaping AsyncWork) {
    self.work = Lock(work)
  }

  @MainActor
  func perform() async throws -> AsyncAnswer? {
    guard let work = work.withLock({ $0.take() }) else { return nil }
    return try await work()
  }
}

extension SlotStorage {
  /// Makes a task for the asynchronous command that is next. Which one that is, and whose handler
  /// runs it, is looked up in the task's first turn, not now.
  func postTask() {
    let isPosted = withState { state in
      defer { state.isTaskPosted = true }
      return state.isTaskPosted
    }
    guard !isPosted else { return }
    postedRelay = core.relay
    // Detached: whose task happens to be current here has nothing to do with the command. A
    // main-actor closure, so that the task begins there and does not come by way of the pool.
    let action: @MainActor @Sendable () async -> Void = { [self] in await turnOfTask() }
    postedTask = Task.detached(priority: .userInitiated, operation: action)
  }

  @MainActor
  private func turnOfTask() async {
    guard let started = takeNext() else { return core.resumeIdleWaiters() }
    let run = started.run
    if run.isConcurrent { began(run) }
    let context = RunContext(
      command: run.id, lane: run.isConcurrent ? nil : self,
      lentLane: run.isConcurrent ? nil : run.lender, caller: run.work.caller)
    var failure: RunFailure?
    var answer: AsyncAnswer?
    do {
      answer = try await RunContext.$current.withValue(context) {
        try await run.perform(started.work)
      }
    } catch {
      failure = RunFailure(run.work, error, wasCancelled: run.isCancelled, at: clock.now)
    }
    context.end()
    ended(run, failure, answer)
  }

  /// The task's first turn has come: delivers what is next, and starts the first asynchronous
  /// command among it.
  private func takeNext() -> StartedRun? {
    let task = postedTask
    let relay = postedRelay
    postedTask = nil
    postedRelay = nil
    withState { $0.isTaskPosted = false }
    var budget = DrainBudget.turn(clock)
    budget.startsAsync = true
    let started = drain(&budget)
    // The task was made in an earlier turn, together with what says so.
    started?.run.set(task!)
    withExtendedLifetime(relay) {}
    return started
  }

  /// A concurrent command has started: the next one may.
  private func began(_ run: AsyncRun) {
    update(onMain: true, postsHop: false) { state, _ in
      if state.asyncLane == run.id.sequence { state.asyncLane = nil }
    }
    freeLanes(of: run)
  }

  private func ended(_ run: AsyncRun, _ failure: RunFailure?, _ answer: AsyncAnswer?) {
    let heldLanes = run.holdsLanes
    run.holdsLanes = false
    let time = run.ticket.needsTimeAtEnd ? clock.now : nil
    let (counts, isLast) = update(onMain: true, postsHop: false) { state, effects in
      let counts = state.asyncEnded(run)
      if heldLanes { freeLane() }
      return (counts, counts && state.complete(run.ticket, failure, at: time, &effects))
    }
    // After a reset, or a time-out, the work is somebody else's.
    if counts {
      answer?()
      if let failure { failure.finish(isLast: isLast) } else { run.work.destroy() }
    }
    if heldLanes { goOn(after: run) }
    core.resumeIdleWaiters()
  }

  /// Whether nothing waits for the lane: something is published for direct delivery.
  private var isClear: Bool {
    hot.pointee.direct.load(ordering: .relaxed) != nil
      || hot.pointee.observed.load(ordering: .relaxed) != nil
  }

  /// Gives back the lanes that an asynchronous command holds. What waits for them is delivered in a
  /// later turn: this may be inside any call.
  func freeLanes(of run: AsyncRun) {
    guard run.holdsLanes else { return }
    run.holdsLanes = false
    freeLane()
    if let lender = run.lender {
      lender.lendLane(false)
      lender.requestHop()
    }
    requestHop()
  }

  private func goOn(after run: AsyncRun) {
    if run.lender == nil, isClear { return }
    var budget = DrainBudget.turn(clock)
    if let lender = run.lender {
      lender.lendLane(false)
      lender.drain(&budget)
    }
    drain(&budget)
  }
}
