// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Testing

/// Random sequences of everything that can be done to relays, against a model of the laws.
///
/// The seed is always the same unless `RELAY_TEST_SEED` names another one, or is `random`: a second
/// run that looks further. A sequence goes the same way each time it is played; what is found is
/// shrunk to the steps that it takes. `RELAY_MODEL_SEQUENCE` plays one sequence of a run alone and
/// prints its history; `RELAY_MODEL_SEQUENCES` sets their number, fewer where a sanitizer slows
/// everything down.
@MainActor
@Suite
final class RelayModelTests {
  private static let defaultSequences = 10_000
  private static let defaultSeed: UInt64 = 2
  private static let steps = 50

  private var seen: [String: Int] = [:]

  @Test
  func `random sequences follow the laws`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed =
      switch environment["RELAY_TEST_SEED"] {
      case nil: Self.defaultSeed
      case "random": UInt64.random(in: 0...UInt64.max)
      case let seed?: UInt64(seed) ?? Self.defaultSeed
      }
    func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) } }
    if let index = number("RELAY_MODEL_SEQUENCE") { return try await playAlone(index, seed) }
    let count = number("RELAY_MODEL_SEQUENCES") ?? Self.defaultSequences
    print("RELAY_TEST_SEED=\(seed), \(count) sequences of \(Self.steps) steps")
    for index in 0..<count {
      let (steps, sequenceSeed) = sequence(index, seed)
      if let problem = try await play(steps, seed: sequenceSeed).problem {
        let (shortest, lastProblem) = try await shrink(steps, sequenceSeed, problem)
        Issue.record(
          """
          Sequence \(index) of RELAY_TEST_SEED=\(seed): \(problem)
          Shrunk to \(shortest.count) steps: \(lastProblem)
          \(try describe(shortest, sequenceSeed))
          """)
        return
      }
    }
    checkThatEverythingWasSeen(count)
  }

  private func sequence(_ index: Int, _ seed: UInt64) -> ([ModelOperation], seed: UInt64) {
    let seed = seed &+ UInt64(index) &* 0x2545_F491_4F6C_DD1D
    var generator = ModelGenerator(seed: seed)
    return (generator.sequence(Self.steps), seed)
  }

  private func playAlone(_ index: Int, _ seed: UInt64) async throws {
    let (steps, sequenceSeed) = sequence(index, seed)
    print(try describe(steps, sequenceSeed))
    let outcome = try await play(steps, seed: sequenceSeed, keepsHistory: true)
    print(outcome.history.joined(separator: "\n"))
    if let problem = outcome.problem { Issue.record("\(problem)") }
  }

  private func checkThatEverythingWasSeen(_ count: Int) {
    let expected =
      ModelOperation.kinds + ModelReason.allCases.map { "dropped \($0)" }
      + ["refused full", "refused closed", "refused duplicate", "delivered", "delivered later"]
      + ["outcome delivered", "outcome failed", "outcome waiting", "outcome dropped"]
      + ["outcome refused", "inherited", "in transit", "later", "in place", "timed out, again"]
      + ["late end", "registered again", "next found", "asked to stop", "answered"]
      + ["waits for itself"]
    for what in expected where seen[what] == nil {
      Issue.record("In \(count) sequences there was no \"\(what)\".")
    }
    print(seen.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
  }

  /// Plays a sequence; the problem is nil when all went well.
  private func play(
    _ steps: [ModelOperation], seed: UInt64, keepsHistory: Bool = false
  ) async throws -> (problem: String?, count: Int, history: [String]) {
    var generator = ModelGenerator(seed: seed)
    let harness = try ModelHarness(
      relays: generator.relays, features: generator.features, random: &generator.random)
    harness.model.keepsHistory = keepsHistory
    var count = 0
    for (index, step) in steps.enumerated() where harness.problem == nil {
      count += 1
      switch step {
      case .settle(let idle):
        harness.model.see(step.kind)
        await harness.settle(idle: idle)
      case .request(let plan): await harness.request(plan)
      default: harness.apply(step, isNested: false)
      }
      harness.compare()
      if index % 10 == 9 { harness.verifyAll() }
    }
    await finish(harness)
    for (what, count) in harness.model.seen { seen[what, default: 0] += count }
    return (harness.problem, count, harness.model.history)
  }

  private func finish(_ harness: ModelHarness) async {
    for round in 0..<20 {
      let bodies = harness.held.map(\.body)
      for body in bodies { body.finish(.success) }
      await harness.settle(idle: round == 0)
      if harness.held.isEmpty, harness.problem == nil || bodies.isEmpty { break }
      if harness.problem != nil {
        _ = harness.executor.runAll()
        await modelTurn()
      }
    }
    for relay in harness.relays.indices {
      harness.empty(relay, .closed, false)
      harness.observe()
    }
    await harness.settle(idle: false)
    harness.compare()
    harness.verifyAll()
    for command in harness.model.commands where !command.isOver {
      harness.model.complain("\(harness.model.name(command)) never ended")
    }
    harness.handlers = []
    weak let last = harness.relays.last
    harness.relays = []
    harness.registrations = []
    await modelTurn()
    if last != nil, harness.problem == nil { harness.model.complain("a relay is kept alive") }
  }

  /// Leaves out steps as long as there still is a problem.
  private func shrink(
    _ steps: [ModelOperation], _ seed: UInt64, _ problem: String
  ) async throws -> ([ModelOperation], String) {
    let first = try await play(steps, seed: seed)
    guard first.problem != nil else { return (steps, "it did not happen again") }
    var shortest = Array(steps.prefix(first.count))
    var lastProblem = problem
    var size = max(1, shortest.count / 2)
    while size >= 1 {
      var start = 0
      while start < shortest.count {
        var candidate = shortest
        candidate.removeSubrange(start..<min(start + size, shortest.count))
        if let problem = try await play(candidate, seed: seed).problem {
          shortest = candidate
          lastProblem = problem
        } else {
          start += size
        }
      }
      size /= 2
    }
    // Then steps within handlers.
    for index in shortest.indices {
      guard case .dispatch(var plan) = shortest[index] else { continue }
      var inner = 0
      while inner < plan.script.count {
        var shorter = plan
        shorter.script.remove(at: inner)
        var candidate = shortest
        candidate[index] = .dispatch(shorter)
        if let problem = try await play(candidate, seed: seed).problem {
          plan = shorter
          shortest = candidate
          lastProblem = problem
        } else {
          inner += 1
        }
      }
    }
    let last = try await play(shortest, seed: seed, keepsHistory: true)
    return (shortest, last.problem ?? lastProblem)
  }

  private func describe(_ steps: [ModelOperation], _ seed: UInt64) throws -> String {
    var generator = ModelGenerator(seed: seed)
    let harness = try ModelHarness(
      relays: generator.relays, features: generator.features, random: &generator.random)
    let settings = harness.model.slots.map {
      "\($0.relay).\($0.feature): limit \($0.limit), time to live \($0.timeToLive), "
        + "\($0.refusesWhenFull ? "drop newest" : "drop oldest"), \($0.retry)"
        + ($0.ignoresRelayGate ? ", ignores the relay's gate" : "")
    }
    return
      ([harness.isImmediate ? "immediate replay" : "replay in a later turn"] + settings
      + steps.enumerated().map { "\($0.offset). \($0.element)" })
      .joined(separator: "\n")
  }
}
