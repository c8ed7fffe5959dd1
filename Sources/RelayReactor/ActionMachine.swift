// SPDX-License-Identifier: MIT

/// Decides which actions of a reactor start, wait, replace each other or are dropped: pure, without
/// tasks, clocks or threads.
///
/// An action passes two stages: it may be held back (debounce, throttle), and then meets those of
/// its id (``ActionPolicy/Rule``). Only ids under which something is going on have a lane.
struct ActionMachine {
  typealias Number = UInt64

  /// An action that asks to be started.
  struct Request: Equatable {
    var number: Number
    var rule: ActionPolicy.Rule
    var waitingLimit = ActionPolicy.standardWaitingLimit
  }

  /// What is to be done, in this order.
  struct Effects: Equatable {
    /// Cancelled, and from now on without effect on the state.
    var overtaken: [Number] = []
    /// Cancelled, but still allowed to write, so that they can tidy up.
    var cancelled: [Number] = []
    /// Ended without having started.
    var dropped: [Drop] = []
    /// Starts now.
    var start: Number?
    /// When ``ActionMachine/wake(_:now:)`` is due.
    var wake: Wake?
  }

  struct Drop: Equatable {
    var number: Number
    var outcome: ActionOutcome
  }

  struct Wake: Equatable {
    var id: ActionID
    var time: Duration
  }

  private(set) var lanes: [ActionID: ActionLane] = [:]
  private(set) var hasEnded = false

  /// An action has been sent.
  mutating func send(
    _ request: Request, id: ActionID, timing: ActionPolicy.Timing? = nil, now: Duration = .zero
  ) -> Effects {
    var effects = Effects()
    guard !hasEnded else {
      effects.dropped = [Drop(number: request.number, outcome: .ended)]
      return effects
    }
    change(id) { lane in
      switch timing {
      case nil: lane.enter(request, &effects)
      case .debounce(let duration):
        lane.hold(request, until: now + duration, interval: nil, &effects)
      case .throttle(let duration, let keepsLatest):
        lane.throttle(request, duration, keepsLatest: keepsLatest, now: now, &effects)
      }
      effects.wake = lane.planWake().map { Wake(id: id, time: $0) }
    }
    return effects
  }

  /// A planned wake-up has come. One that comes too early is planned again.
  mutating func wake(_ wake: Wake, now: Duration) -> Effects {
    var effects = Effects()
    change(wake.id) { lane in
      lane.wake(plannedFor: wake.time, now: now, &effects)
      effects.wake = lane.planWake().map { Wake(id: wake.id, time: $0) }
    }
    return effects
  }

  /// An action that was started has ended.
  mutating func finish(_ number: Number, id: ActionID) -> Effects {
    var effects = Effects()
    change(id) { $0.finish(number, &effects) }
    return effects
  }

  /// Everything of an id is cancelled.
  ///
  /// - Parameter discardingWrites: whether what runs loses its effect on the state as well, and its
  ///   place in the lane.
  mutating func cancel(_ id: ActionID, discardingWrites: Bool) -> Effects {
    var effects = Effects()
    change(id) { $0.cancel(discardingWrites: discardingWrites, &effects) }
    return effects
  }

  /// One action is cancelled.
  mutating func cancel(_ number: Number, id: ActionID) -> Effects {
    var effects = Effects()
    change(id) { $0.cancel(number, &effects) }
    return effects
  }

  /// The life of the reactor ends: nothing starts any more.
  mutating func end() -> Effects {
    var effects = Effects()
    hasEnded = true
    for lane in lanes.values { lane.end(&effects) }
    lanes = [:]
    return effects
  }

  func isRunning(_ id: ActionID) -> Bool {
    lanes[id].map { !$0.running.isEmpty } ?? false
  }

  /// How many actions are held back.
  var heldCount: Int { lanes.values.count { $0.isHolding } }

  private mutating func change(_ id: ActionID, _ body: (inout ActionLane) -> Void) {
    // Under a default value the lane is changed in its place.
    body(&lanes[id, default: ActionLane()])
    if lanes[id]?.isEmpty == true { lanes[id] = nil }
  }
}
