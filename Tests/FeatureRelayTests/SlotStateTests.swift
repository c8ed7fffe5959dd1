// SPDX-License-Identifier: MIT

import RaceSupport
import Synchronization
import Testing

@testable import FeatureRelay

private protocol SlotFeature: RelayFeature {}
private final class SlotHandler: SlotFeature {}

private struct SlotWork: QueuedWork {
  static var isAsync: Bool { false }
  static var isInline: Bool { true }
}

private struct SlotError: Error {}

/// Notes what was accepted and what ended.
private final class EndRecorder: EventRecorder {
  struct Ends {
    var accepted: Set<CommandID> = []
    var ended: Set<CommandID> = []
    var problem: String?
  }

  let ends = Mutex(Ends())

  func origin(slot: UInt32, feature key: UInt) -> EventOrigin {
    EventOrigin(relay: 1, slot: slot, scope: "slot", feature: "SlotFeature")
  }

  func record(_ event: EventDraft, from origin: EventOrigin, at time: Int64) {
    guard let id = event.command.id(from: origin) else { return }
    ends.withLock { ends in
      switch event.kind {
      case .accepted: ends.accepted.insert(id)
      case .delivered, .dropped:
        if !ends.ended.insert(id).inserted { ends.problem = "\(id) ended twice" }
      default: break
      }
    }
  }

  func record(_ status: CommandStatus, of sequence: UInt64, slot: UInt32) {}
}

/// The state machine by itself: no lock, no clock, no thread. The test does what the storage does.
@MainActor
@Suite
struct SlotStateTests {
  fileprivate struct Machine: ~Copyable {
    var state: SlotState
    var random: SeededGenerator
    var now: Int64 = 0
    /// A synchronous command that runs, and its handler.
    var running: (ticket: SlotState.Ticket, work: UnmanagedWork, entry: UnsafeMutableRawPointer)?
    var asyncRuns: [AsyncRun] = []
    var handlers: [SlotHandler] = []
    var lastRegistration: UInt64 = 0
    var leftTransit = 0
    var direct: RegistrationEntry?
    var problem: String?
    var seen: [String: Int] = [:]
    let recorder: EndRecorder
    let transit: TransitCount
    /// Whose slot it is, as far as the state machine looks at that.
    let relay = Relay(scope: "slot")
    let tags = (0..<3).map { _ in CommandTag() }

    init(seed: UInt64, isObserved: Bool) throws {
      random = SeededGenerator(seed: seed)
      recorder = EndRecorder()
      transit = TransitCount(limit: 5)
      let configuration = try RelayConfiguration(
        limit: 6, timeToLive: .limited(.nanoseconds(200)), seed: seed)
      let core = relay.core
      state = SlotState(
        hot: core.slot(FeatureKey.of((any SlotFeature).self)).hot,
        shared: SlotShared(
          clock: core.clock, log: core.log, recorder: recorder, directory: core.directory,
          transit: transit, settings: SlotSettings(configuration, nil)))
      state.isObserved = isObserved
    }

    var isLaneBusy: Bool {
      running != nil || asyncRuns.contains { !$0.isConcurrent && state.isRunning($0.ticket) }
        || state.asyncLane != nil
    }

    mutating func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
  }

  @Test(arguments: [false, true])
  func `its invariants hold after each of 100,000 random transitions`(isObserved: Bool) throws {
    let seed = SeededGenerator.freshSeed()
    print("RELAY_TEST_SEED=\(seed)")
    var machine = try Machine(seed: seed, isObserved: isObserved)
    for step in 0..<100_000 {
      let name = machine.step()
      machine.check()
      machine.seen[name, default: 0] += 1
      if let problem = machine.problem {
        Issue.record("Step \(step) of RELAY_TEST_SEED=\(seed), \(name): \(problem)")
        return
      }
    }
    for name in Machine.names where machine.seen[name] == nil {
      Issue.record("There was no \"\(name)\".")
    }
    for reason in DropReason.allCases where reason != .dead && reason != .closed {
      #expect(machine.state.counts.dropped(reason) > 0, "\(reason)")
    }
    #expect(machine.state.counts.refusedFull > 0 && machine.state.counts.refusedDuplicate > 0)
    #expect(machine.state.counts.retried > 0)
    #expect(machine.seen["published", default: 0] > 0)
    machine.close()
    machine.check()
    #expect(machine.problem == nil)
    #expect(machine.state.queue.waiting == 0 && machine.transit.current == 0)
  }
}

extension SlotStateTests.Machine {
  static let names = [
    "accept", "register", "remove", "die", "gate", "relay gate", "drain", "return", "throw",
    "owner gone", "async end", "async throw", "time", "hop", "clear", "cancel", "reset",
  ]

  mutating func step() -> String {
    switch roll(44) {
    case 0..<12: accept()
    case 12..<15: register()
    case 15: remove()
    case 16:
      guard !handlers.isEmpty else { break }
      handlers.remove(at: roll(handlers.count))
      return "die"
    case 17, 18:
      if state.gateReasons.isEmpty {
        if roll(2) == 0 { state.gateReasons = ["gate"] }
      } else {
        state.gateReasons = []
      }
      settle(postsHop: true, SlotEffects())
      return "gate"
    case 19:
      state.isRelayGateClosed = !state.isRelayGateClosed && roll(3) == 0
      settle(postsHop: true, SlotEffects())
      return "relay gate"
    case 20..<27: return drainStep()
    case 27..<32: return endRunning()
    case 32..<36: return endAsync()
    case 36..<39:
      now += Int64([1, 7, 20, 60][roll(4)])
      return "time"
    case 39, 40:
      var effects = SlotEffects()
      state.hopArrived(at: now, &effects)
      settle(postsHop: false, effects)
      while !isLaneBusy, drainStep() == "drain", state.isOpen, running == nil, canGoOn {}
      return "hop"
    case 41:
      guard roll(3) == 0 else { break }
      var effects = SlotEffects()
      _ = state.clear(.cleared, &effects)
      settle(postsHop: true, effects)
      return "clear"
    case 42:
      var effects = SlotEffects()
      _ = state.cancel(tagged: tags[roll(3)], includingRunning: roll(2) == 0, &effects)
      for run in effects.cancelled { run.cancel() }
      settle(postsHop: true, effects)
      return "cancel"
    default:
      guard roll(8) == 0 else { break }
      var effects = SlotEffects()
      state.reset(.reset, &effects)
      settle(postsHop: true, effects)
      return "reset"
    }
    return "accept"
  }

  mutating func accept() {
    let retries: [RetryPolicy?] = [
      nil, nil, .later(.constant(.nanoseconds(9), attempts: 3)),
      .inPlace(.constant(.nanoseconds(9), attempts: 3)), .later(.constant(.zero, attempts: 2)),
    ]
    let keys: [Uniqueness?] = [
      .keepFirst("a", within: .nanoseconds(30)), .keepLatest("b"), .keepLatest("c"), nil, nil, nil,
      nil, nil,
    ]
    let isAsync = roll(3) == 0
    var command = IncomingCommand(
      UnmanagedWork(SlotWork()), isAsync: isAsync, priority: CommandPriority.allCases[roll(4)],
      tags: roll(4) == 0 ? [tags[roll(3)]] : [],
      timeToLive: roll(4) == 0 ? Int64(5 + roll(60)) : nil, uniqueness: keys[roll(8)],
      executionLimit: isAsync && roll(3) == 0 ? Int64(10 + roll(30)) : nil,
      retry: retries[roll(5)])
    if roll(4) == 0 { command.overflow = .dropNewest }
    command.isConcurrent = isAsync && roll(3) == 0
    var effects = SlotEffects()
    let waiting = state.queue.waiting - Int(state.counts.retried)
    let result = state.accept(&command, at: now, hasInheritedHandler: false, &effects)
    if case .accepted(let id) = result {
      if state.status(id) != .waiting { problem = "an accepted command does not wait" }
      if state.queue.waiting - Int(state.counts.retried) > waiting + 1 {
        problem = "two came for one"
      }
    }
    settle(postsHop: true, effects)
  }

  mutating func register() {
    let isOld = !handlers.isEmpty && roll(3) == 0
    let handler = isOld ? handlers[roll(handlers.count)] : SlotHandler()
    let isOwned = roll(4) == 0
    if !isOld, !isOwned { handlers.append(handler) }
    lastRegistration += 1
    let entry = RegistrationEntry(
      handler as any SlotFeature, ownership: isOwned ? .owned : .weak, id: lastRegistration)
    var effects = SlotEffects()
    state.push(entry, &effects)
    if Set(state.registrations.map(\.id)).count != state.registrations.count {
      problem = "a registration stands there twice"
    }
    settle(postsHop: true, effects)
    seen["register", default: 0] += 1
  }

  mutating func remove() {
    guard !state.registrations.isEmpty else { return }
    let id = state.registrations[roll(state.registrations.count)].id
    if !state.remove(id) { problem = "a registration was not found" }
    if state.registrations.contains(where: { $0.id == id }) { problem = "it was not removed" }
    settle(postsHop: true, SlotEffects())
    seen["remove", default: 0] += 1
  }

  /// One look of the main actor at what is next.
  mutating func drainStep() -> String {
    guard !isLaneBusy else { return "busy" }
    var effects = SlotEffects()
    var handover = SlotState.Handover()
    let next = state.next(latest: now, exact: now, startsAsync: roll(2) == 0, &handover, &effects)
    switch next {
    case .run(let ticket):
      running = (ticket, handover.work!, handover.held!)
    case .start:
      let run = handover.run!
      handover.held!.end()
      asyncRuns.append(run)
      // A concurrent command lets go of the lane as soon as it has begun.
      if run.isConcurrent { state.asyncLane = nil }
    case .stop, .needsTime, .needsTurn, .needsTask, .inherit, .again: break
    }
    // What is left is left with a hop, as at the end of a drain.
    settle(postsHop: true, effects)
    return "drain"
  }

  /// Whether a drain would go on.
  var canGoOn: Bool {
    guard let head = state.queue.head else { return false }
    return (state.queue.node(head).pointee.details?.notBefore ?? 0) == 0
      && state.registrations.contains { $0.handler != nil }
  }

  mutating func endRunning() -> String {
    guard let (ticket, work, entry) = running else { return "none" }
    running = nil
    entry.end()
    var effects = SlotEffects()
    let name: String
    switch roll(5) {
    case 0, 1:
      state.delivered(ticket, at: now, &effects)
      name = "return"
    case 2:
      state.ownerGone(ticket, &effects)
      name = "owner gone"
    default:
      _ = state.failed(
        ticket, work, SlotError(), isFinal: roll(5) == 0, wasCancelled: false, at: now, &effects)
      name = "throw"
    }
    settle(postsHop: true, effects)
    return name
  }

  mutating func endAsync() -> String {
    guard !asyncRuns.isEmpty else { return "none" }
    let run = asyncRuns.remove(at: roll(asyncRuns.count))
    var effects = SlotEffects()
    let wasRunning = state.isRunning(run.ticket)
    let counts = state.counts(lane: 0)
    _ = state.asyncEnded(run)
    let fails = roll(2) == 0
    if fails {
      _ = state.failed(
        run.ticket, run.work, SlotError(), isFinal: false, wasCancelled: run.isCancelled, at: now,
        &effects)
    } else {
      state.delivered(run.ticket, at: now, &effects)
    }
    if !wasRunning, counts != state.counts(lane: 0) { problem = "a late end changed something" }
    settle(postsHop: true, effects)
    return fails ? "async throw" : "async end"
  }

  mutating func close() {
    var effects = SlotEffects()
    state.isClosed = true
    state.reset(.closed, &effects)
    settle(postsHop: true, effects)
  }

  /// What the storage does after each transition.
  mutating func settle(postsHop: Bool, _ effects: consuming SlotEffects) {
    // What ran out of time or was reset holds no lane; its task ends when it will.
    if !isLaneBusy { state.retired = [] }
    direct = state.settle(postsHop: postsHop, &effects) ? state.registrations.last : nil
    if effects.leftTransit > 0 { transit.leave(effects.leftTransit) }
    for run in effects.cancelled { run.cancel() }
  }
}

extension SlotStateTests.Machine {
  mutating func complain(_ text: String) { if problem == nil { problem = text } }

  mutating func check() {
    // Law 1.
    let counts = state.counts(lane: 0)
    if !counts.isBalanced { complain("the counts do not balance: \(counts)") }
    // I1.
    if let direct {
      seen["published", default: 0] += 1
      if direct !== state.registrations.last || !state.queue.hasNothingReady || !state.isOpen
        || !state.retired.isEmpty
      {
        complain("I1: a registration is published that must not be")
      }
    }
    // I2.
    if state.isOpen, !isLaneBusy, let head = state.queue.head,
      (state.queue.node(head).pointee.details?.notBefore ?? 0) == 0,
      state.registrations.contains(where: { $0.handler != nil }), !state.isHopPosted
    {
      complain("I2: something can be delivered and nobody was asked to come")
    }
    if state.queue.nextWake < state.armedWake { complain("a wake-up was not planned") }
    if !state.ownsBacklog, counts != RelayCounts() { complain("the common backlog was changed") }
    // I3.
    recorder.ends.withLock { ends in
      if let text = ends.problem, problem == nil { problem = "I3: \(text)" }
      if state.isObserved, problem == nil,
        ends.accepted.count - ends.ended.count != state.queue.waiting + state.queue.running
      {
        problem = "I3: \(ends.accepted.count) came, \(ends.ended.count) went"
      }
    }
    checkQueue()
  }

  private mutating func checkQueue() {
    var waiting: [UInt32] = []
    state.queue.forEachWaiting { waiting.append($0) }
    let running = state.queue.runningCommands
    if waiting.count != state.queue.waiting || running.count != state.queue.running {
      complain("the queue counts what it does not have")
    }
    var inTransit = 0
    var earliest = Int64.max
    for index in waiting {
      let node = state.queue.node(index)
      if node.pointee.work == nil { complain("a waiting command has lost its work") }
      if node.pointee.isInTransit { inTransit += 1 }
      earliest = min(earliest, node.pointee.deadline)
      if state.status(state.id(index)) != .waiting { complain("a waiting command is not") }
      if case .keepFirst = node.pointee.details?.uniqueness?.rule {
        // The latest of a key takes it from one that runs; the first one keeps it whatever happens.
        switch state.uniqueKeys.holder(of: node.pointee.details!.uniqueness!.key, at: now) {
        case .command(state.id(index)): break
        default: complain("a waiting command has lost its key")
        }
      }
    }
    for index in running {
      if state.queue.node(index).pointee.work != nil { complain("a running command has work left") }
    }
    if inTransit != transit.current { complain("\(transit.current) in transit, not \(inTransit)") }
    if state.queue.nextWake > earliest { complain("a deadline is forgotten") }
    let runs = Set(state.runs.keys)
    let sequences = Set(running.map { state.queue.node($0).pointee.sequence })
    if !runs.isSubset(of: sequences) { complain("a task is kept for a command that has ended") }
    if let lane = state.asyncLane, !runs.contains(lane) { complain("a lane is held by nobody") }
  }
}
