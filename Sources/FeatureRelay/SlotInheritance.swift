// SPDX-License-Identifier: MIT

// A command that its own relay has no handler for: it takes its slot's lane, then the lane of the
// ancestor's slot whose handler runs it. On the main actor.

extension SlotStorage {
  /// What a look at the ancestors' handlers came to.
  enum InheritedDrain {
    case more
    case done
    case started(StartedRun)
  }

  /// Delivers the next command to the nearest ancestor's handler.
  ///
  func drainInherited(_ budget: inout DrainBudget) -> InheritedDrain {
    guard let (lender, entry) = core.parent?.lend(key) else { return .done }
    guard !lender.isLaneBusy else {
      entry.pointer.end()
      waitForLane(of: lender)
      return .done
    }
    var exact: Int64?
    var handover = SlotState.Handover()
    while true {
      let latest = exact ?? budget.latest
      var effects = SlotEffects()
      let next = step(&effects) { state, effects in
        state.nextInherited(
          on: entry, lender: lender, latest: latest, exact: exact, startsAsync: budget.startsAsync,
          &handover, &effects)
      }
      perform(effects, onMain: true)
      switch next {
      case .needsTime:
        exact = budget.exactTime()
        continue
      case .again:
        entry.pointer.end()
        return .more
      case .needsTask:
        entry.pointer.end()
        postTask()
        return .done
      case .needsTurn:
        entry.pointer.end()
        requestTurn()
        return .done
      case .stop, .inherit:
        entry.pointer.end()
        return .done
      case .start:
        // Handed over with the answer.
        let run = handover.run.take()!
        lender.lendLane(true, to: run)
        let started = StartedRun(run, on: entry.pointer)
        entry.pointer.end()
        return .started(started)
      case .run(let ticket):
        lender.lendLane(true)
        let failure = run(
          &handover.work!, handover.runner, on: entry.pointer, handover.context, &budget)
        handover.work = nil
        let time = ticket.needsTimeAtEnd ? budget.exactTime() : nil
        entry.pointer.end()
        let isLast = update(onMain: true, postsHop: false) { state, effects in
          freeLane()
          return state.complete(ticket, failure, at: time, &effects)
        }
        failure?.finish(isLast: isLast)
        lender.lendLane(false)
        lender.drain(&budget)
        return .more
      }
    }
  }

  /// Lets a child's command have this slot's lane, or takes it back.
  func lendLane(_ isLent: Bool, to run: AsyncRun? = nil) {
    update(onMain: true, postsHop: false) { state, _ in
      state.isLent = isLent
      state.lentRun = run.map { ObjectIdentifier($0) }
      if isLent { takeLane() } else { freeLane() }
    }
  }

  private func waitForLane(of lender: SlotStorage) {
    guard awaitedLender !== lender else { return }
    // A nearer handler, or another one than last time: the former lane says nothing about it.
    awaitedLender?.laneWaiters.removeAll { $0 === self }
    awaitedLender = lender
    lender.laneWaiters.append(self)
    lender.update(onMain: true, postsHop: false) { state, _ in state.isLaneWanted = true }
  }

  /// Lets children's commands have the lane, one child after the other: a loop, however they call
  /// each other.
  func wakeLaneWaiters() {
    guard !isWakingLaneWaiters else { return }
    isWakingLaneWaiters = true
    while !isLaneBusy, !laneWaiters.isEmpty {
      let child = laneWaiters.removeFirst()
      child.awaitedLender = nil
      child.drainInline()
      if child.isStillDeliverable { child.requestHop() }
    }
    isWakingLaneWaiters = false
    let isWanted = !laneWaiters.isEmpty
    update(onMain: true, postsHop: true) { state, _ in state.isLaneWanted = isWanted }
  }

  private var isStillDeliverable: Bool {
    !isLaneBusy && !isWaitingForLane && withState { $0.isOpen && !$0.queue.hasNothingReady }
      && core.parent?.canLend(key) == true
  }
}
