// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import RelayReactor

/// The machine against the model, on random sequences of everything that can happen.
struct ActionMachineModelTests {
  private static let ids: [ActionID] = ["a", "b", "c"]
  private static let rules: [ActionPolicy.Rule] = [.concurrent, .serial, .latestWins, .firstWins]

  @Test func theMachineDoesWhatTheModelSays() throws {
    let seed = SeededGenerator.freshSeed()
    print("RELAY_TEST_SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    for sequence in 0..<1_000 {
      try play(&random, "seed \(seed), sequence \(sequence)")
    }
  }

  private func play(_ random: inout SeededGenerator, _ place: String) throws {
    var machine = ActionMachine()
    var model = ReactorModel()
    var now = Duration.zero
    var wakes: [ActionMachine.Wake] = []
    var live: [(number: UInt64, id: ActionID)] = []
    var lastNumber: UInt64 = 0

    func check(_ effects: ActionMachine.Effects, _ expected: ActionMachine.Effects, _ what: String)
      throws
    {
      var effects = effects
      if let wake = effects.wake { wakes.append(wake) }
      effects.wake = nil
      try #require(effects == expected, "\(what), \(place)")
      for id in Self.ids {
        try #require(machine.isRunning(id) == !model.running(id).isEmpty, "\(what), \(place)")
        try #require((machine.lanes[id]?.running ?? []) == model.running(id), "\(what), \(place)")
      }
      try #require(
        machine.heldCount == model.entries.count { $0.phase.isHeld }, "\(what), \(place)")
    }

    func wake(upTo end: Duration) throws {
      // Some clocks are early now and then.
      if !wakes.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
        let wake = wakes.remove(at: Int.random(in: wakes.indices, using: &random))
        if wake.time > now {
          try check(
            machine.wake(wake, now: now), model.wake(wake.id, now: now), "early \(wake)")
        } else {
          wakes.append(wake)
        }
      }
      while let index = wakes.indices.filter({ wakes[$0].time <= end })
        .min(by: { wakes[$0].time < wakes[$1].time })
      {
        let wake = wakes.remove(at: index)
        now = max(now, wake.time)
        try check(
          machine.wake(wake, now: now), model.wake(wake.id, now: now), "wake \(wake)")
      }
      now = end
      try #require(model.overdue(now: now).isEmpty, "nobody woke up, \(place)")
    }

    for _ in 0..<Int.random(in: 5...60, using: &random) {
      let id = Self.ids.randomElement(using: &random)!
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        lastNumber += 1
        let request = ActionMachine.Request(
          number: lastNumber, rule: Self.rules.randomElement(using: &random)!,
          waitingLimit: .random(in: 0...4, using: &random))
        let duration = Duration.milliseconds(Int.random(in: 0...5, using: &random))
        let timing: ActionPolicy.Timing? =
          switch Int.random(in: 0..<6, using: &random) {
          case 0, 1: .debounce(duration)
          case 2: .throttle(duration, keepsLatest: true)
          case 3: .throttle(duration, keepsLatest: false)
          default: nil
          }
        live.append((lastNumber, id))
        try check(
          machine.send(request, id: id, timing: timing, now: now),
          model.send(request, id: id, timing: timing, now: now),
          "send \(request), \(String(describing: timing))")
        // A time of zero is due at once.
        try wake(upTo: now)
      case 50..<75:
        guard let index = live.indices.randomElement(using: &random) else { continue }
        let run = live[index]
        guard let phase = model.entries.first(where: { $0.number == run.number })?.phase,
          phase == .running || phase == .gone
        else { continue }
        live.remove(at: index)
        try check(
          machine.finish(run.number, id: run.id), model.finish(run.number), "finish \(run)")
      case 75..<90:
        try wake(upTo: now + .milliseconds(Int.random(in: 0...4, using: &random)))
      case 90..<94:
        let discards = Bool.random(using: &random)
        try check(
          machine.cancel(id, discardingWrites: discards),
          model.cancel(id, discardingWrites: discards), "cancel \(id)")
      case 94..<99:
        guard let run = live.randomElement(using: &random) else { continue }
        try check(
          machine.cancel(run.number, id: run.id), model.cancel(run.number), "cancel \(run)")
      default:
        var (effects, expected) = (machine.end(), model.end())
        effects.sort()
        expected.sort()
        try check(effects, expected, "end")
      }
    }
    // In the end nothing is kept of what has ended.
    for entry in model.entries where entry.phase == .running || entry.phase == .waiting {
      _ = machine.cancel(entry.id, discardingWrites: true)
    }
    for id in Self.ids { _ = machine.cancel(id, discardingWrites: true) }
    now += .seconds(1)
    for id in Self.ids { _ = machine.wake(.init(id: id, time: now), now: now) }
    try #require(machine.lanes.isEmpty, "\(place)")
  }
}

extension ActionMachine.Effects {
  /// Between ids there is no order.
  fileprivate mutating func sort() {
    overtaken.sort()
    dropped.sort { $0.number < $1.number }
  }
}
