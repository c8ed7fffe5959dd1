// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import RelayJournal
import Testing

/// Random lives of a relay with a journal against a plain list: whenever the process dies, the next
/// one has exactly what the list has. Of what was under way at that moment both is right.
@MainActor
struct DurableModelTests {
  @Test func everyDeathLeavesWhatTheModelHas() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["RELAY_TEST_SEED"].flatMap { UInt64($0) } ?? 1
    print("RELAY_TEST_SEED=\(seed)")
    for round in 0..<raceRounds(400, atLeast: 40) {
      var life = try RandomLife(seed: seed &+ UInt64(round) &* 7_919)
      try await life.run(steps: 60)
      if let problem = life.problem {
        Issue.record("round \(round): \(problem)\n\(life.log.joined(separator: "\n"))")
        return
      }
    }
  }
}

/// One relay after the other on one disk, and the list of what has to be there.
@MainActor
private struct RandomLife {
  private struct Item: Equatable {
    var id: CommandID
    var priority: CommandPriority
    var tag: CommandTag?
    var key: String?
    var expiresAt: Duration?
  }

  private let box = Box()
  private var random: SeededGenerator
  /// What waits, in the order of acceptance.
  private var waiting: [Item] = []
  /// What the disk may have or not: its last change could not be written, or was under way.
  private var uncertain: Set<CommandID> = []
  private var ledger: Ledger?
  private var isFailing = false
  private var isSuspended = false
  private var number = 0
  private(set) var log: [String] = []
  private(set) var problem: String?

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    try box.launch()
  }

  mutating func run(steps: Int) async throws {
    await box.relay.restore()
    for _ in 0..<steps where problem == nil {
      let before = waiting
      try await step()
      note(changesSince: before)
      if box.disk.faulty.isDead { try await die() }
      compareMemory()
    }
    box.relay.close()
  }

  private mutating func step() async throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45: await dispatch()
    case 45..<52: await cancel()
    case 52..<54:
      log.append("clear")
      box.relay.clearQueue(LedgerFeature.self)
      waiting = []
    case 54..<61: await toggleHandler()
    case 61..<67: await pass(.seconds(Int.random(in: 1...4, using: &random)))
    case 67..<69:
      log.append("reset")
      box.relay.reset()
      ledger = nil
      waiting = []
    case 69..<74: await toggleFailure()
    case 74..<78: await toggleSuspension()
    case 78..<82:
      log.append("restore")
      if !isFailing, !isSuspended { await box.relay.restore() }
    case 82..<92: planDeath()
    case 92..<97: try await die()
    default: try await reopen()
    }
  }

  private mutating func dispatch() async {
    number += 1
    let priority = CommandPriority.allCases.randomElement(using: &random)!
    let tag = ["a", "b", nil].randomElement(using: &random)!
    let key = ["k", nil, nil, nil].randomElement(using: &random)!
    let life = [Duration.seconds(5), nil].randomElement(using: &random)!
    log.append("dispatch \(number) \(priority) \(tag ?? "-") \(key ?? "-")")
    let acceptance = box.relay.note(
      number, priority: priority, tags: tag.map { [CommandTag($0)] } ?? [],
      timeToLive: life.map { .limited($0) } ?? .unlimited, unique: key.map { .keepLatest($0) })
    guard let id = acceptance.id else {
      problem = "not accepted: \(acceptance)"
      return
    }
    let item = Item(
      id: id, priority: priority, tag: tag.map { CommandTag($0) }, key: key,
      expiresAt: life.map { box.clock.now + $0 })
    if let place = waiting.firstIndex(where: { key != nil && $0.key == key }) {
      if waiting[place].priority == priority {
        waiting[place] = item
      } else {
        waiting.remove(at: place)
        waiting.append(item)
      }
    } else {
      waiting.append(item)
    }
    if ledger != nil {
      await box.relay.waitUntilIdle()
      waiting = []
      if box.disk.faulty.isDead || isFailing || isSuspended { uncertain.insert(id) }
    }
  }

  private mutating func cancel() async {
    let tag = CommandTag(["a", "b"].randomElement(using: &random)!)
    log.append("cancel \(tag)")
    box.relay.cancel(tagged: tag)
    waiting.removeAll { $0.tag == tag }
  }

  private mutating func toggleHandler() async {
    log.append(ledger == nil ? "register" : "unregister")
    if ledger == nil {
      let new = Ledger()
      box.relay.register(new, for: LedgerFeature.self)
      ledger = new
      await box.relay.waitUntilIdle()
      waiting = []
    } else {
      box.relay.unregister(LedgerFeature.self)
      ledger = nil
    }
  }

  private mutating func pass(_ time: Duration) async {
    log.append("pass \(time)")
    box.wall.now += time
    box.clock.advance(by: time)
    _ = box.relay.pendingCount
    expire()
  }

  private mutating func expire() {
    waiting.removeAll { $0.expiresAt.map { $0 <= box.clock.now } ?? false }
  }

  private mutating func toggleFailure() async {
    log.append(isFailing ? "heal" : "fail")
    if isFailing {
      box.disk.heal()
      isFailing = false
      // It comes back by itself.
      await pass(.seconds(61))
      if !isSuspended { uncertain = [] }
    } else {
      box.disk.failWrites()
      isFailing = true
    }
  }

  private mutating func toggleSuspension() async {
    guard !isFailing else { return }
    log.append(isSuspended ? "resume" : "suspend")
    if isSuspended {
      await box.relay.didResume()
      if !box.disk.faulty.isDead { uncertain = [] }
      isSuspended = false
    } else {
      await box.relay.willSuspend()
      isSuspended = true
    }
  }

  /// The process dies at one of the next things that it does with the disk.
  private mutating func planDeath() {
    guard !isFailing else { return }
    let at = box.disk.faulty.count + Int.random(in: 1...6, using: &random)
    let bytes = Int.random(in: 0...40, using: &random)
    log.append("die at \(at) after \(bytes)")
    box.disk.faulty.setRule { $0.number >= at ? .die(afterBytes: bytes) : nil }
  }

  /// What has changed while nothing could be written is uncertain.
  private mutating func note(changesSince before: [Item]) {
    guard box.disk.faulty.isDead || isFailing || isSuspended else { return }
    let (old, new) = (Set(before.map(\.id)), Set(waiting.map(\.id)))
    uncertain.formUnion(old.symmetricDifference(new))
  }

  private mutating func die() async throws {
    log.append("kill")
    box.kill()
    try await relaunch()
  }

  private mutating func reopen() async throws {
    guard !isFailing, !isSuspended, !box.disk.faulty.isDead else { return }
    log.append("close")
    let before = box.disk.faulty.count
    box.relay.close()
    if box.disk.faulty.isDead {
      log.append("died in close after \(before)")
      box.disk.kill()
    }
    box.disk.heal()
    try await relaunch()
  }

  private mutating func relaunch() async throws {
    isFailing = false
    isSuspended = false
    ledger = nil
    try box.launch()
    await box.relay.restore()
    expire()
    let feature = box.relay.snapshot().features.first { $0.name == "LedgerFeature" }
    let there = feature?.waiting.map(\.id) ?? []
    let missing = waiting.filter { !there.contains($0.id) && !uncertain.contains($0.id) }
    let extra = there.filter { id in
      !waiting.contains { $0.id == id } && !uncertain.contains(id)
    }
    if !missing.isEmpty { problem = "lost: \(missing.map(\.id))" }
    if !extra.isEmpty { problem = "came back: \(extra)" }
    // From here on both agree: the model takes over what was uncertain.
    waiting.removeAll { !there.contains($0.id) }
    if there.contains(where: { id in !waiting.contains { $0.id == id } }) {
      // What came back is not in the model's list any more: drop it on both sides.
      box.relay.clearQueue(LedgerFeature.self)
      waiting = []
    }
    uncertain = []
  }

  private mutating func compareMemory() {
    guard problem == nil, ledger == nil else { return }
    let feature = box.relay.snapshot().features.first { $0.name == "LedgerFeature" }
    let there = feature?.waiting.map(\.id) ?? []
    let expected = CommandPriority.allCases.reversed().flatMap { priority in
      waiting.filter { $0.priority == priority }.map(\.id)
    }
    if there != expected { problem = "memory has \(there), the model \(expected)" }
    if !box.relay.counts.isBalanced { problem = "\(box.relay.counts) do not balance" }
  }
}
