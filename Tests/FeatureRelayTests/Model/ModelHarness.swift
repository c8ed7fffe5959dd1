// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport

/// Does each step to a real relay and to the model, and tells the model of everything that a handler sees.
@MainActor
final class ModelHarness {
  struct RequestState {
    var task: Task<Void, Never>?
    var result: Result<Int, any Error>?
    var isChecked = false
    /// Whether the model knows of it.
    var hasArrived = false
  }

  struct Registered {
    let registration: Registration
    let relay: Int
    let features: [Int]
    let number: Int
  }

  private struct Weak { weak var object: AnyObject? }

  private final class Lives {
    var handlers: [Weak] = []
    var owners: [Weak] = []
  }

  let model: ModelRelay
  let clock = ManualClock()
  let executor = HandExecutor()
  var relays: [Relay] = []
  let features: Int
  let tags = (0..<3).map { _ in CommandTag() }
  var handlers: [ModelHandler?] = Array(repeating: nil, count: 4)
  private var owners: [(number: Int, owner: ModelOwner)?] = Array(repeating: nil, count: 3)
  private let lives = Lives()
  var registrations: [Registered] = []
  var registrationCount = 0
  var ids: [Int: CommandID] = [:]
  var plans: [DispatchPlan] = []
  var held: [(number: Int, body: HeldBody)] = []
  var bodies: [Int] = []
  var requests: [Int: RequestState] = [:]
  var idleWaits: [Bool] = []
  /// Whose statuses may still change.
  var unverified: [ModelCommand] = []
  /// Whether a synchronous command may start within the call that is going on.
  var mayStart = false
  var isImmediate = false
  /// A lane was given up elsewhere: the main actor hears of it in a later turn.
  var lanesMayLag = false
  /// Handlers that a relay owned once: they may live until the main actor has nothing left to do.
  var hasBeenOwned: Set<Int> = []
  /// Asking changes things (it sweeps): not after every step.
  var comparisons = 0
  /// Counts what was seen, to know when nothing happens any more.
  var progress = 0

  init(relays count: Int, features: Int, random: inout SeededGenerator) throws {
    self.features = features
    let lives = lives
    model = ModelRelay(
      relays: count, features: features,
      isAlive: { lives.handlers[$0].object != nil },
      isOwnerAlive: { lives.owners[$0].object != nil })
    model.look = { [unowned self] in observe() }
    func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
    isImmediate = roll(8) == 0
    for number in 0..<count {
      let limit = [2, 3, 5, 100][roll(4)]
      let timeToLive = [15, 40, 300_000][roll(3)]
      let refusesWhenFull = roll(3) == 0
      let retry = roll(10)
      let configuration = try RelayConfiguration(
        limit: limit, timeToLive: .milliseconds(timeToLive),
        overflow: refusesWhenFull ? .dropNewest : .dropOldest,
        retry: retry == 0
          ? .later(.constant(.milliseconds(4), attempts: 2))
          : retry == 1 ? .inPlace(.constant(.milliseconds(4), attempts: 2)) : .drop,
        replay: isImmediate ? .immediate : .nextTurn, clock: clock.relayClock, seed: 1)
      self.relays.append(
        Relay(
          scope: "model \(number)", parent: self.relays.last, configuration: configuration))
      for slot in model.slots where slot.relay == number {
        slot.limit = limit
        slot.timeToLive = timeToLive
        slot.refusesWhenFull = refusesWhenFull
        slot.retry =
          retry == 0 ? .later(4, attempts: 2) : retry == 1 ? .inPlace(4, attempts: 2) : .drop
        if roll(8) == 0 {
          slot.ignoresRelayGate = true
          RealFeature.all[slot.feature].configure(
            self.relays[number], try FeatureConfiguration(ignoresRelayGate: true))
        }
      }
    }
  }

  var problem: String? { model.problem }

  func handler(_ place: Int) -> ModelHandler {
    if let handler = handlers[place] { return handler }
    let handler = ModelHandler(lives.handlers.count, self)
    lives.handlers.append(Weak(object: handler))
    bodies.append(0)
    handlers[place] = handler
    return handler
  }

  func owner(_ place: Int) -> (number: Int, owner: ModelOwner) {
    if let owner = owners[place] { return owner }
    let owner = (number: lives.owners.count, owner: ModelOwner())
    lives.owners.append(Weak(object: owner.owner))
    owners[place] = owner
    return owner
  }

  func releaseOwner(_ place: Int) { owners[place] = nil }

  var handlerCount: Int { lives.handlers.count }
  func isAlive(_ handler: Int) -> Bool { lives.handlers[handler].object != nil }
}

// MARK: What handlers see

extension ModelHarness {
  /// A handler runs a synchronous command.
  func run(_ number: Int, on handler: Int) throws {
    guard problem == nil else { return }
    progress += 1
    observe()
    let command = model.commands[number]
    if !mayStart { model.complain("\(model.name(command)) started inside a call that must not") }
    model.start(command, on: handler)
    let attempt = command.attempt
    if attempt == 1 { for step in plans[number].script { apply(step, isNested: true) } }
    observe()
    guard problem == nil else { return }
    if attempt <= plans[number].failures {
      model.failed(command, isFinal: plans[number].failsForGood)
      throw ModelError(isTransient: !plans[number].failsForGood)
    }
    model.delivered(command)
  }

  /// A handler runs an asynchronous command.
  func runLater(_ number: Int, on handler: Int) async throws {
    guard problem == nil else { return }
    progress += 1
    let command = model.commands[number]
    arrive(command)
    observe()
    // Another attempt's beginning is the first that is seen of the last one's end.
    if command.phase == .running, command.hasBegun { model.timedOut(command) }
    if command.phase == .ready { model.start(command, on: handler) }
    guard command.phase == .running else {
      return model.complain("\(model.name(command)) began to run after its end")
    }
    if command.handler != handler {
      model.complain("\(model.name(command)) went to \(handler), not \(command.handler ?? -1)")
    }
    if command.isConcurrent { model.leaveLanes(command) }
    command.hasBegun = true
    let attempt = command.attempt
    bodies[handler] += 1
    if attempt == 1 { for step in plans[number].script { apply(step, isNested: true) } }
    if plans[number].unique == nil, attempt == 1, number % 16 == 0, !command.isConcurrent,
      !command.isOver
    {
      await askOneself(command)
    }
    var end = HeldBody.End.success
    if plans[number].isHeld, problem == nil {
      let body = HeldBody()
      held.append((number, body))
      end = await body.wait(
        on: executor, heedsCancellation: plans[number].heedsCancellation)
      held.removeAll { $0.body === body }
    } else if attempt <= plans[number].failures {
      end = plans[number].failsForGood ? .finalFailure : .failure
    }
    progress += 1
    observe()
    bodies[handler] -= 1
    if command.phase == .running, command.attempt == attempt {
      if end == .success {
        model.delivered(command)
      } else {
        model.failed(command, isFinal: end == .finalFailure)
      }
    } else {
      model.see("late end")
    }
    switch end {
    case .success: break
    case .failure, .finalFailure: throw ModelError(isTransient: end == .failure)
    case .cancelled: throw CancellationError()
    }
  }

  /// A request to the lane that the command itself holds.
  private func askOneself(_ command: ModelCommand) async {
    do {
      _ = try await RealFeature.all[command.slot.feature].requestOnMain(
        command.number, DispatchPlan(), [], relays[command.slot.relay])
      model.complain("\(model.name(command)) was let wait for itself")
    } catch let error as RelayError where error.code == .waitsForItself {
      model.see("waits for itself")
    } catch {
      model.complain("\(model.name(command)) asked itself and got \(error)")
    }
  }

  /// Tells the model what has happened unseen: what expired, ran out of time, was taken for a task, or found its
  /// owner gone. Each has to be allowed.
  func observe() {
    var isChanged = true
    while isChanged, problem == nil {
      isChanged = false
      for slot in model.slots {
        if slot.waitingCount == 0, slot.running.isEmpty { continue }
        for command in slot.old(at: model.now) {
          if status(of: command) == .dropped(.expired) {
            model.end(command, .expired)
            isChanged = true
          }
        }
        if observeUnseenExpiry(slot) { isChanged = true }
        for command in slot.overdue(at: model.now) {
          guard let status = status(of: command),
            [.dropped(.timedOut), .waiting, .dropped(.expired)].contains(status)
          else { continue }
          // It may be too old for the further attempt that it gets: then it is seen to have expired.
          model.timedOut(command)
          isChanged = true
        }
        for command in slot.running where command.isAsync {
          guard let owner = command.owner, !model.isOwnerAlive(owner),
            status(of: command) == .dropped(.ownerGone)
          else { continue }
          model.end(command, .ownerGone)
          isChanged = true
        }
        while let command = slot.head, let owner = command.owner, !model.isOwnerAlive(owner),
          status(of: command) == .dropped(.ownerGone), model.deliverable(slot) != nil
        {
          model.start(command, on: nil)
          model.end(command, .ownerGone)
          isChanged = true
        }
      }
      // What has ended made way for what was taken.
      if !isChanged { isChanged = observeTaken() }
      if isChanged { progress += 1 }
    }
  }

  /// What is too old and whose call has not returned its id: how many of these have ended is seen
  /// by the counts, and the oldest go first.
  private func observeUnseenExpiry(_ slot: ModelSlot) -> Bool {
    let unseen = slot.old(at: model.now).filter { ids[$0.number] == nil }
    if unseen.isEmpty { return false }
    let counts = RealFeature.all[slot.feature].counts(relays[slot.relay])
    let count = Int(counts.dropped(.expired)) - (slot.counts.dropped[.expired] ?? 0)
    guard count > 0 else { return false }
    for command in unseen.sorted(by: { $0.mayExpire < $1.mayExpire }).prefix(count) {
      model.end(command, .expired)
    }
    return true
  }

  private func observeTaken() -> Bool {
    for slot in model.slots {
      if slot.lane == nil, let command = slot.head, command.isAsync,
        status(of: command) == .running, model.deliverable(slot) != nil
      {
        model.start(command, on: nil)
        return true
      }
    }
    return false
  }

  /// Which of two times a command's age is taken from.
  func observeAge(_ command: ModelCommand) {
    let shown = relays[command.slot.relay].snapshot().features.flatMap(\.waiting)
      .first { $0.id == ids[command.number] }
    guard command.isWaiting, let shown else { return }
    let age = model.now - command.acceptedAt
    let sinceFailure = age - (command.mustExpire - command.mayExpire)
    switch shown.age {
    case .milliseconds(age): command.mustExpire = command.mayExpire
    case .milliseconds(sinceFailure): command.mayExpire = command.mustExpire
    default: model.complain("\(model.name(command)) is \(shown.age) old")
    }
  }

  func status(of command: ModelCommand) -> CommandStatus? {
    ids[command.number].flatMap { relays[command.slot.relay].status(of: $0) }
  }
}
