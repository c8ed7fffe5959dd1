// SPDX-License-Identifier: MIT

@testable import RelayReactor

/// What a reactor should do with its actions, said in the simplest way: one list of all that was
/// ever sent, searched from end to end.
struct ReactorModel {
  enum Phase: Equatable {
    case new
    case held(until: Duration, interval: Duration?)
    case waiting
    case running
    case gone
  }

  struct Entry {
    var number: UInt64
    var id: ActionID
    var rule: ActionPolicy.Rule
    var limit: Int
    var phase: Phase
    var turn = 0
  }

  private(set) var entries: [Entry] = []
  private var shut: [(id: ActionID, until: Duration)] = []
  private var turn = 0
  private var hasEnded = false
  private var effects = ActionMachine.Effects()

  mutating func send(
    _ request: ActionMachine.Request, id: ActionID, timing: ActionPolicy.Timing?, now: Duration
  ) -> ActionMachine.Effects {
    effects = .init()
    entries.append(
      Entry(
        number: request.number, id: id, rule: request.rule, limit: request.waitingLimit,
        phase: .new))
    let new = entries.count - 1
    if hasEnded {
      drop(new, .ended)
      return effects
    }
    switch timing {
    case nil: meet(new)
    case .debounce(let duration):
      dropAll(.overtaken, id) { $0.isHeld }
      entries[new].phase = .held(until: now + duration, interval: nil)
    case .throttle(let duration, let keepsLatest):
      if let until = shut.first(where: { $0.id == id && $0.until > now })?.until {
        if keepsLatest {
          dropAll(.overtaken, id) { $0.isHeld }
          entries[new].phase = .held(until: until, interval: duration)
        } else {
          drop(new, .ignored)
        }
      } else {
        dropAll(.overtaken, id) { $0.isHeld }
        shut.append((id, now + duration))
        meet(new)
      }
    }
    return effects
  }

  /// What is due by now goes on.
  mutating func wake(_ id: ActionID, now: Duration) -> ActionMachine.Effects {
    effects = .init()
    for index in entries.indices where entries[index].id == id {
      if case .held(let until, let interval) = entries[index].phase, until <= now {
        if let interval { shut.append((id, now + interval)) }
        meet(index)
      }
    }
    return effects
  }

  mutating func finish(_ number: UInt64) -> ActionMachine.Effects {
    effects = .init()
    let index = entries.firstIndex { $0.number == number }!
    let wasRunning = entries[index].phase == .running
    entries[index].phase = .gone
    if wasRunning, running(entries[index].id).isEmpty,
      let next = entries.indices.filter({
        entries[$0].id == entries[index].id && entries[$0].phase == .waiting
      }).min(by: { entries[$0].turn < entries[$1].turn })
    {
      start(next)
    }
    return effects
  }

  mutating func cancel(_ id: ActionID, discardingWrites: Bool) -> ActionMachine.Effects {
    effects = .init()
    dropAll(.cancelled, id) { $0.isHeld }
    dropAll(.cancelled, id) { $0 == .waiting }
    if discardingWrites { overtake(id) } else { effects.cancelled = running(id) }
    return effects
  }

  mutating func cancel(_ number: UInt64) -> ActionMachine.Effects {
    effects = .init()
    let index = entries.firstIndex { $0.number == number }!
    switch entries[index].phase {
    case .held, .waiting: drop(index, .cancelled)
    case .running: effects.cancelled = [number]
    case .new, .gone: break
    }
    return effects
  }

  mutating func end() -> ActionMachine.Effects {
    effects = .init()
    hasEnded = true
    for id in Set(entries.map(\.id)) {
      dropAll(.ended, id) { $0.isHeld }
      dropAll(.ended, id) { $0 == .waiting }
      overtake(id)
    }
    return effects
  }

  /// In the order in which they were started.
  func running(_ id: ActionID) -> [UInt64] {
    entries.filter { $0.id == id && $0.phase == .running }.sorted { $0.turn < $1.turn }
      .map(\.number)
  }

  /// Ids of which something should have gone on by now.
  func overdue(now: Duration) -> [ActionID] {
    entries.filter {
      if case .held(let until, _) = $0.phase { until <= now } else { false }
    }.map(\.id)
  }
}

extension ReactorModel {
  private mutating func meet(_ index: Int) {
    let id = entries[index].id
    let others = entries.indices.contains {
      $0 != index && entries[$0].id == id && [.waiting, .running].contains(entries[$0].phase)
    }
    let waiting = entries.indices.count {
      $0 != index && entries[$0].id == id && entries[$0].phase == .waiting
    }
    switch entries[index].rule {
    case .concurrent: start(index)
    case .serial where !others: start(index)
    case .serial where waiting >= entries[index].limit: drop(index, .refused)
    case .serial:
      turn += 1
      entries[index].turn = turn
      entries[index].phase = .waiting
    case .firstWins where others: drop(index, .ignored)
    case .firstWins: start(index)
    case .latestWins:
      entries[index].phase = .gone
      dropAll(.overtaken, id) { $0.isHeld }
      dropAll(.overtaken, id) { $0 == .waiting }
      overtake(id)
      start(index)
    }
  }

  private mutating func start(_ index: Int) {
    turn += 1
    entries[index].turn = turn
    entries[index].phase = .running
    effects.start = entries[index].number
  }

  private mutating func overtake(_ id: ActionID) {
    effects.overtaken += running(id)
    for index in entries.indices where entries[index].id == id && entries[index].phase == .running {
      entries[index].phase = .gone
    }
  }

  private mutating func drop(_ index: Int, _ outcome: ActionOutcome) {
    entries[index].phase = .gone
    effects.dropped.append(.init(number: entries[index].number, outcome: outcome))
  }

  private mutating func dropAll(
    _ outcome: ActionOutcome, _ id: ActionID, where matches: (Phase) -> Bool
  ) {
    let indices = entries.indices.filter {
      entries[$0].id == id && matches(entries[$0].phase)
    }
    for index in indices.sorted(by: { entries[$0].turn < entries[$1].turn }) {
      drop(index, outcome)
    }
  }
}

extension ReactorModel.Phase {
  var isHeld: Bool { if case .held = self { true } else { false } }
}
