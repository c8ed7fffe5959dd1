// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation

/// The demo's app: its relays, its shell and what business code asks for. One instruction after the
/// other.
@MainActor
final class Session {
  /// What an instruction has brought about.
  struct Outcome {
    var entries: [Entry] = []
    /// What `status` shows.
    var snapshots: [RelaySnapshot] = []
    var showsHelp = false
  }

  /// A relay and the handlers that its module keeps alive.
  struct Module {
    let relay: Relay
    var handlers: [FeatureName: AnyObject] = [:]
    var sheet: (handler: SheetPresenter, bag: RegistrationBag)?
  }

  static let rootScope = "app"

  let clock = DemoClock()
  let recorder = Recorder()
  let surroundings = Surroundings()
  var scope = Session.rootScope
  var modules: [String: Module] = [:]
  /// The scopes in the order in which they were opened.
  var scopes: [String] = []
  var user = "42"
  /// Questions that nobody has answered yet, by the number of the command.
  var asks: [Int: Task<Entry, Never>] = [:]
  /// What relays that are closed by now had counted.
  var closedCounts = RelayCounts()
  private var endedAsks: Set<Int> = []
  private var notes: [Entry] = []
  /// The directory of the app's journal.
  let journal: URL?

  init(journal: String? = nil) {
    self.journal = journal.map { URL(fileURLWithPath: $0) }
    openScope(Self.rootScope, parent: nil)
  }

  var module: Module {
    get { modules[scope]! }
    set { modules[scope] = newValue }
  }

  var relay: Relay { module.relay }

  func note(_ text: String) { notes.append(.note(text)) }

  /// Does what a line says, and everything that follows from it.
  func perform(_ instruction: Instruction) async -> Outcome {
    var outcome = Outcome()
    switch instruction {
    case .dispatch(let feature, let text, let options): await dispatch(feature, text, options)
    case .ask(let text, let limit): await ask(text, limit)
    case .flood(let count, let feature): flood(count, feature)
    case .show(let feature): show(feature)
    case .hide(let feature): hide(feature)
    case .forget(let feature): forget(feature)
    case .sheet(let isOpen): setSheet(isOpen: isOpen)
    case .person(let allows): surroundings.personAllows = allows
    case .network(let isUp): surroundings.networkIsUp = isUp
    case .background: closeGate(for: "background")
    case .active: openGate(for: "background")
    case .login(let name):
      user = name ?? user
      openGate(for: "login")
    case .logout(let name):
      closeGate(for: "login")
      cancel(tagged: .user(name ?? user))
    case .cancel(let tag): cancel(tagged: CommandTag(tag))
    case .clear(let feature): clear(feature)
    case .reset: reset()
    case .close: closeScope()
    case .scope(let name): enterScope(name)
    case .status: outcome.snapshots = scopes.compactMap { modules[$0]?.relay.snapshot() }
    case .wait(let duration): await wait(duration)
    case .crash: crash()
    case .help: outcome.showsHelp = true
    }
    await settle()
    outcome.entries += take()
    outcome.entries += await answers()
    outcome.entries += notes
    notes = []
    return outcome
  }

  /// What all relays count together.
  var counts: RelayCounts { modules.values.reduce(closedCounts) { $0 + $1.relay.counts } }
}

// MARK: What follows

extension Session {
  /// Waits until nothing runs and nothing can be delivered.
  func settle() async {
    for scope in scopes { await modules[scope]?.relay.waitUntilIdle() }
  }

  private func take() -> [Entry] {
    let taken = recorder.take()
    endedAsks.formUnion(taken.ended.filter { asks[$0] != nil })
    let queued = taken.accepted.compactMap { id, label -> Entry? in
      guard !taken.ended.contains(label.number) else { return nil }
      return modules.values.lazy.compactMap { self.queued(id, label, in: $0.relay) }.first
    }
    return taken.entries + queued
  }

  private func queued(_ id: CommandID, _ label: CommandLabel, in relay: Relay) -> Entry? {
    guard relay.status(of: id) == .waiting else { return nil }
    let feature = relay.snapshot().features.first { $0.waiting.contains { $0.id == id } }
    guard let feature else { return nil }
    return .queued(
      label, scope: relay.scope, feature: feature.name, reason: whyWaiting(feature.name, in: relay))
  }

  /// The first thing that stands in the way of a feature's commands.
  private func whyWaiting(_ feature: String, in relay: Relay) -> String {
    var current: Relay? = relay
    while let relay = current {
      let snapshot = relay.snapshot()
      let state = snapshot.features.first { $0.name == feature }
      let isOpen = state?.isOpen ?? snapshot.gateReasons.isEmpty
      if !isOpen {
        let reasons = snapshot.gateReasons.map { harmless($0) }.joined(separator: ", ")
        return "the gate of \(harmless(relay.scope)) is closed for \(reasons)"
      }
      if state?.registrations.contains(where: \.isAlive) == true { return "its turn comes later" }
      current = relay.parent
    }
    return "nobody handles it yet"
  }

  /// The answers to the questions that have ended.
  private func answers() async -> [Entry] {
    var entries: [Entry] = []
    for number in endedAsks.sorted() {
      if let task = asks.removeValue(forKey: number) { entries.append(await task.value) }
    }
    endedAsks = []
    return entries + take()
  }
}
