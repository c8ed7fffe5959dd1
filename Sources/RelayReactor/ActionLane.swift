// SPDX-License-Identifier: MIT

/// What is going on under one id of a reactor.
struct ActionLane {
  typealias Request = ActionMachine.Request
  typealias Effects = ActionMachine.Effects
  typealias Number = ActionMachine.Number

  /// An action that is held back.
  struct Held {
    var request: Request
    var deadline: Duration
    /// How long the lane is shut for others once it has gone on, if it was throttled.
    var interval: Duration?
  }

  /// Those that were started, have not ended and have not been overtaken.
  private(set) var running: [Number] = []
  /// Serial ones behind them, from ``head`` on; none without one that runs.
  private var waiting: [Request] = []
  private var head = 0
  private var held: Held?
  /// Until when a throttle lets nothing pass.
  private var shutUntil: Duration?
  /// The earliest time for which a wake-up was asked and has not come.
  private var plannedWake: Duration?

  private var isWaiting: Bool { head < waiting.count }

  var isHolding: Bool { held != nil }

  var isEmpty: Bool { running.isEmpty && !isWaiting && held == nil && shutUntil == nil }
}

// MARK: Held back

extension ActionLane {
  mutating func hold(
    _ request: Request, until deadline: Duration, interval: Duration?, _ effects: inout Effects
  ) {
    dropHeld(.overtaken, &effects)
    held = Held(request: request, deadline: deadline, interval: interval)
  }

  mutating func throttle(
    _ request: Request, _ duration: Duration, keepsLatest: Bool, now: Duration,
    _ effects: inout Effects
  ) {
    if let shutUntil, now < shutUntil {
      if keepsLatest {
        hold(request, until: shutUntil, interval: duration, &effects)
      } else {
        effects.dropped.append(.init(number: request.number, outcome: .ignored))
      }
    } else {
      // The wake-up of one that is held may come late: the newer one is the latest now.
      dropHeld(.overtaken, &effects)
      shutUntil = now + duration
      enter(request, &effects)
    }
  }

  mutating func wake(plannedFor time: Duration, now: Duration, _ effects: inout Effects) {
    if plannedWake == time { plannedWake = nil }
    if let shutUntil, shutUntil <= now { self.shutUntil = nil }
    guard let held, held.deadline <= now else { return }
    self.held = nil
    if let interval = held.interval { shutUntil = now + interval }
    enter(held.request, &effects)
  }

  /// When to be woken up, unless that is planned already.
  mutating func planWake() -> Duration? {
    guard let next = earlier(held?.deadline, shutUntil) else { return nil }
    if let plannedWake, plannedWake <= next { return nil }
    plannedWake = next
    return next
  }

  private func earlier(_ first: Duration?, _ second: Duration?) -> Duration? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
  }

  private mutating func dropHeld(_ outcome: ActionOutcome, _ effects: inout Effects) {
    guard let held else { return }
    effects.dropped.append(.init(number: held.request.number, outcome: outcome))
    self.held = nil
  }
}

// MARK: Among those of the same id

extension ActionLane {
  mutating func enter(_ request: Request, _ effects: inout Effects) {
    let isFree = running.isEmpty
    switch request.rule {
    case .concurrent: break
    case .serial:
      if !isFree {
        if waiting.count - head < request.waitingLimit {
          waiting.append(request)
        } else {
          effects.dropped.append(.init(number: request.number, outcome: .refused))
        }
        return
      }
    case .firstWins:
      if !isFree {
        effects.dropped.append(.init(number: request.number, outcome: .ignored))
        return
      }
    case .latestWins:
      dropHeld(.overtaken, &effects)
      dropWaiting(.overtaken, &effects)
      effects.overtaken += running
      running = []
    }
    running.append(request.number)
    effects.start = request.number
  }

  mutating func finish(_ number: Number, _ effects: inout Effects) {
    guard let index = running.firstIndex(of: number) else { return }
    running.remove(at: index)
    guard running.isEmpty, isWaiting else { return }
    let next = waiting[head].number
    head += 1
    if head == waiting.count {
      waiting = []
      head = 0
    } else if head >= 64, head * 2 > waiting.count {
      waiting.removeFirst(head)
      head = 0
    }
    running.append(next)
    effects.start = next
  }

  mutating func cancel(discardingWrites: Bool, _ effects: inout Effects) {
    dropHeld(.cancelled, &effects)
    dropWaiting(.cancelled, &effects)
    if discardingWrites {
      effects.overtaken += running
      running = []
    } else {
      effects.cancelled += running
    }
  }

  mutating func cancel(_ number: Number, _ effects: inout Effects) {
    if held?.request.number == number {
      dropHeld(.cancelled, &effects)
    } else if running.contains(number) {
      effects.cancelled.append(number)
    } else if let index = waiting[head...].firstIndex(where: { $0.number == number }) {
      waiting.remove(at: index)
      effects.dropped.append(.init(number: number, outcome: .cancelled))
    }
  }

  func end(_ effects: inout Effects) {
    if let held { effects.dropped.append(.init(number: held.request.number, outcome: .ended)) }
    effects.dropped += waiting[head...].map { .init(number: $0.number, outcome: .ended) }
    effects.overtaken += running
  }

  private mutating func dropWaiting(_ outcome: ActionOutcome, _ effects: inout Effects) {
    effects.dropped += waiting[head...].map { .init(number: $0.number, outcome: outcome) }
    waiting = []
    head = 0
  }
}
