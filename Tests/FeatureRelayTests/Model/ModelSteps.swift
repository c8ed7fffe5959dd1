// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport

// One step of a sequence, done to both.

extension ModelHarness {
  /// Does a step that does not suspend.
  func apply(_ step: ModelOperation, isNested: Bool) {
    guard problem == nil else { return }
    model.see(step.kind)
    model.note("(\(step.kind)")
    observe()
    let couldStart = mayStart
    mayStart = isImmediate
    switch step {
    case .dispatch(let plan): dispatch(plan)
    case .register(let relay, let features, let place, let owned, let elsewhere):
      register(relay, features, place, owned, elsewhere)
    case .cancelRegistration(let index, let elsewhere):
      guard !registrations.isEmpty else { break }
      let registered = registrations[index % registrations.count]
      for feature in registered.features {
        model.slot(registered.relay, feature).registrations.removeAll {
          $0.id == registered.number
        }
      }
      perform(elsewhere) { registered.registration.cancel() }
    case .unregister(let relay, let feature, let elsewhere):
      model.slot(relay, feature).registrations = []
      perform(elsewhere) { [relay = relays[relay]] in RealFeature.all[feature].unregister(relay) }
    case .unregisterHandler(let relay, let feature, let place):
      guard let handler = handlers[place] else { break }
      model.slot(relay, feature).registrations.removeAll { $0.handler == handler.number }
      RealFeature.all[feature].unregisterHandler(relays[relay], handler)
    case .unregisterAll(let relay):
      for slot in model.slots where slot.relay == relay { slot.registrations = [] }
      relays[relay].unregisterAll()
    case .releaseHandler(let place): releaseHandler(place)
    case .releaseOwner(let place): releaseOwner(place)
    case .endHeld(let index, let end):
      guard !held.isEmpty else { break }
      held[index % held.count].body.finish(end)
    case .cancelTag(let relay, let tag, let running, let elsewhere):
      cancel(relay, tag, running, elsewhere)
    case .cancelCommand(let index, let running): cancelCommand(index, running)
    case .clear(let relay, let feature, let elsewhere): clear(relay, feature, elsewhere)
    case .closeGate(let relay, let feature, let reason, let elsewhere):
      if let feature {
        model.slot(relay, feature).gateReasons.insert(reason)
      } else {
        model.relayGates[relay].insert(reason)
      }
      perform(elsewhere) { [gate = gate(relay, feature)] in gate.close(for: "reason \(reason)") }
    case .openGate(let relay, let feature, let reason, let elsewhere):
      if let feature {
        model.slot(relay, feature).gateReasons.remove(reason)
      } else {
        model.relayGates[relay].remove(reason)
      }
      perform(elsewhere) { [gate = gate(relay, feature)] in gate.open(for: "reason \(reason)") }
    case .advance(let time):
      clock.advance(by: .milliseconds(time))
      model.advance(to: model.now + time)
    case .cancelRequest(let index): cancelRequest(index)
    case .next(let index, let feature): next(index, feature)
    case .pendingCount(let relay, let feature):
      let slot = model.slot(relay, feature)
      let count = RealFeature.all[feature].pendingCount(relays[relay])
      observe()
      model.passTime(of: slot)
      if count != slot.waitingCount {
        model.complain("pendingCount is \(count), not \(slot.waitingCount)")
      }
    case .reset(let relay, let elsewhere): empty(relay, .reset, elsewhere)
    case .close(let relay, let elsewhere): empty(relay, .closed, elsewhere)
    case .settle, .request: break  // These suspend: RelayModelTests does them.
    }
    mayStart = couldStart
    observe()
    if isNested { compareCounts() }
    model.note(")")
  }

  func perform<Result: Sendable>(
    _ elsewhere: Bool, _ action: @escaping @Sendable () -> Result
  ) -> Result {
    elsewhere ? Elsewhere.thread.run(action) : action()
  }

  private func gate(_ relay: Int, _ feature: Int?) -> Gate {
    feature.map { RealFeature.all[$0].gate(relays[relay]) } ?? relays[relay].gate
  }
}

// MARK: Dispatching

extension ModelHarness {
  /// A command of the model as the plan says.
  func makeCommand(_ plan: DispatchPlan) -> ModelCommand {
    let slot = model.slot(plan.relay, plan.feature)
    let command = ModelCommand(model.commands.count, slot)
    var policy: ModelPolicy?
    switch (plan.form, plan.request) {
    case (_, .typed(let kind)): policy = ModelPolicy.later[kind]
    case (.typed(let kind), _): policy = ModelPolicy.sync[kind]
    case (.laterTyped(let kind), _): policy = ModelPolicy.later[kind]
    default: break
    }
    command.isAsync = plan.form.isAsync
    command.isConcurrent = policy?.isConcurrent ?? false
    command.priority = plan.priority ?? policy?.priority ?? 1
    command.tags = plan.tags
    command.unique = plan.unique
    command.executionLimit = plan.executionLimit ?? policy?.executionLimit
    command.retry = policy?.retry
    if plan.request != nil, policy == nil { command.retry = .drop }
    command.timeToLive = plan.timeToLive ?? policy?.timeToLive
    command.queueLimit = policy?.limit
    command.refusesWhenFull = policy?.refusesWhenFull
    model.commands.append(command)
    plans.append(plan)
    return command
  }

  private func dispatch(_ plan: DispatchPlan) {
    let command = makeCommand(plan)
    let slot = command.slot
    var details = DispatchDetails(
      tags: plan.tags.map { tags[$0] }, owner: nil, onMain: !plan.isElsewhere)
    switch plan.form {
    case .owned(let place), .laterOwned(let place):
      let owner = owner(place)
      details.owner = owner.owner
      command.owner = owner.number
    default: break
    }
    let wasFree =
      !plan.isElsewhere && slot.lane == nil && model.target(of: slot)?.0.lane == nil
      && !lanesMayLag
    if plan.isElsewhere, slot.running.contains(where: { $0.runsUntil <= model.now }) {
      lanesMayLag = true
    }
    mayStart = mayStart || !plan.isElsewhere
    command.isInOwnCall = !plan.isElsewhere
    model.arrive(command, onMain: !plan.isElsewhere)
    let relay = relays[plan.relay]
    let number = command.number
    let acceptance = perform(plan.isElsewhere) { [details] in
      RealFeature.all[plan.feature].dispatch(number, plan, details, relay)
    }
    guard problem == nil else { return }
    if !model.arriving.isEmpty {
      // What the backlog did comes first.
      observe()
      model.settleArrival(command)
    }
    command.isInOwnCall = false
    if let id = acceptance.id { ids[number] = id }
    observe()
    if command.mayExpire != command.mustExpire { observeAge(command) }
    if !command.isOver || acceptance.id != nil { unverified.append(command) }
    check(acceptance, command)
    if wasFree, acceptance.isAccepted, !command.isAsync, model.deliverable(slot) != nil {
      // Up to the next asynchronous one; what came from elsewhere or back for a further attempt
      // while the call went on may be left to a later turn.
      let left = slot.inOrder.prefix { !$0.isAsync && $0.notBefore <= model.now }
      if let next = left.first(where: {
        $0.attempt == 0 && !($0.number > number && plans[$0.number].isElsewhere)
      }) {
        model.complain("\(model.name(next)) was left when a dispatch on the main actor returned")
      }
    }
  }

  private func check(_ acceptance: Acceptance, _ command: ModelCommand) {
    let outcome = acceptance.outcome
    switch (outcome, command.phase) {
    case (.delivered, .delivered): model.see("outcome delivered")
    case (.failed, .dropped(.failed)): model.see("outcome failed")
    case (.waiting, .ready), (.waiting, .delayed), (.waiting, .running):
      model.see("outcome waiting")
      if acceptance.id == nil { model.complain("\(model.name(command)) has no id") }
    case (.dropped(let reason), .dropped(let expected)) where "\(reason.modelName)" == "\(expected)":
      model.see("outcome dropped")
    case (.refused(.full), .refused(.full)), (.refused(.closed), .refused(.closed)):
      model.see("outcome refused")
    case (.refused(.duplicate(let id)), .refused(.duplicate(let other))):
      // What was delivered within its own call had no id to tell.
      if let known = ids[other], known != id {
        model.complain("\(model.name(command)) is a duplicate of another one than \(other)")
      }
    default: model.complain("\(model.name(command)) was answered with \(outcome)")
    }
  }
}

extension DropReason {
  /// The model's name for it.
  var modelName: String {
    switch self {
    case .timedOut: "timedOut"
    case .ownerGone: "ownerGone"
    default: description
    }
  }
}

// MARK: Handlers

extension ModelHarness {
  private func register(
    _ relay: Int, _ features: [Int], _ place: Int, _ owned: Bool, _ elsewhere: Bool
  ) {
    let handler = handler(place)
    // Immediate replay delivers between one feature and the next, which nothing promises or forbids.
    let features = isImmediate ? Array(features.prefix(1)) : features
    // With immediate replay a handler may register another one meanwhile.
    registrationCount += 1
    let number = registrationCount
    if !model.isClosed[relay] {
      for feature in features {
        let slot = model.slot(relay, feature)
        if slot.registrations.contains(where: { $0.handler == handler.number }) {
          model.see("registered again")
        }
        slot.registrations.removeAll { $0.handler == handler.number }
        slot.registrations.append((number, handler.number, owned))
      }
    }
    if owned { hasBeenOwned.insert(handler.number) }
    // The call holds its handler, whatever is done in it.
    bodies[handler.number] += 1
    defer { bodies[handler.number] -= 1 }
    let real = relays[relay]
    let registration = perform(elsewhere) {
      RealFeature.register(handler, for: features, in: real, owned ? .owned : .weak)
    }
    registrations.append(
      Registered(registration: registration, relay: relay, features: features, number: number))
    // With immediate replay things have happened that it takes the handler to explain, and it may die here.
    observe()
    withExtendedLifetime(handler) {}
  }

  private func releaseHandler(_ place: Int) {
    guard let number = handlers[place]?.number else { return }
    let isUsed =
      bodies[number] > 0
      || model.slots.contains { slot in
        slot.running.contains { $0.handler == number }
      }
    handlers[place] = nil
    if !isUsed, !hasBeenOwned.contains(number), isAlive(number) {
      model.complain("handler \(number) was kept alive")
    }
  }

  private func next(_ index: Int, _ feature: Int) {
    guard !registrations.isEmpty else { return }
    let registered = registrations[index % registrations.count]
    var expected: Int?
    let slot = model.slot(registered.relay, feature)
    // A handler that is dead asks for nobody.
    if let own = slot.registrations.first(where: { $0.id == registered.number }),
      !model.isAlive(own.handler)
    {
      return
    }
    if registered.features.contains(feature),
      let place = slot.registrations.firstIndex(where: { $0.id == registered.number })
    {
      expected = slot.registrations[..<place].last { model.isAlive($0.handler) }?.handler
      for relay in (0..<registered.relay).reversed() where expected == nil {
        expected =
          model.slot(relay, feature).registrations.last { model.isAlive($0.handler) }?
          .handler
      }
    }
    let real = RealFeature.all[feature].next(registered.registration)?.number
    if real != expected {
      model.complain("next is \(real ?? -1), not \(expected ?? -1)")
    }
    if expected != nil { model.see("next found") }
  }
}

// MARK: Taking away

extension ModelHarness {
  /// Ends what waits, for the given reason, or as expired where it is so old; says how many for that reason.
  private func drop(
    _ commands: [ModelCommand], _ reason: ModelReason
  ) -> Int {
    var count = 0
    for command in commands where !command.isOver {
      if command.mayExpire <= model.now, status(of: command) == .dropped(.expired) {
        model.end(command, .expired)
      } else {
        model.end(command, reason)
        count += 1
      }
    }
    return count
  }

  private func cancel(_ relay: Int, _ tag: Int, _ running: Bool, _ elsewhere: Bool) {
    let tagged = model.slots.filter { $0.relay == relay }.flatMap { $0.waiting + $0.running }
      .filter { $0.tags.contains(tag) }
    let count = perform(elsewhere) { [relay = relays[relay], tag = tags[tag]] in
      relay.cancel(tagged: tag, includingRunning: running)
    }
    var expected = drop(tagged.filter(\.isWaiting), .cancelled)
    if running {
      for command in tagged where command.phase == .running && command.isAsync {
        command.wasAskedToStop = true
        model.see("asked to stop")
        expected += 1
      }
    }
    if count != expected { model.complain("cancel said \(count), not \(expected)") }
  }

  private func cancelCommand(_ index: Int, _ running: Bool) {
    let known = model.commands.filter { ids[$0.number] != nil }
    guard !known.isEmpty else { return }
    let command = known[index % known.count]
    let isDone = relays[command.slot.relay].cancel(
      ids[command.number]!, includingRunning: running)
    stop(command, isDone, running)
  }

  private func stop(_ command: ModelCommand, _ isDone: Bool?, _ running: Bool) {
    var expected = false
    if command.isWaiting {
      expected = drop([command], .cancelled) == 1
    } else if running, command.phase == .running, command.isAsync {
      command.wasAskedToStop = true
      expected = true
    }
    if let isDone, isDone != expected {
      model.complain("cancel of \(model.name(command)) said \(isDone)")
    }
  }

  private func cancelRequest(_ index: Int) {
    let open = requests.keys.sorted().filter { requests[$0]!.result == nil }
    guard !open.isEmpty else { return }
    let number = open[index % open.count]
    requests[number]!.task!.cancel()
    stop(model.commands[number], nil, true)
  }

  private func clear(_ relay: Int, _ feature: Int?, _ elsewhere: Bool) {
    let waiting = model.slots.filter { $0.relay == relay && $0.feature == feature ?? $0.feature }
      .flatMap(\.waiting)
    let count = perform(elsewhere) { [relay = relays[relay]] in
      feature.map { RealFeature.all[$0].clear(relay) } ?? relay.clearQueue()
    }
    let expected = drop(waiting, .cleared)
    if count != expected { model.complain("clearQueue said \(count), not \(expected)") }
  }

  func empty(_ relay: Int, _ reason: ModelReason, _ elsewhere: Bool) {
    let wasClosed = model.isClosed[relay]
    let slots = model.slots.filter { $0.relay == relay }
    let waiting = slots.flatMap(\.waiting)
    if elsewhere, slots.contains(where: { $0.running.contains(where: \.isAsync) }) {
      lanesMayLag = true
    }
    perform(elsewhere) { [relay = relays[relay]] in
      if reason == .closed { relay.close() } else { relay.reset() }
    }
    if wasClosed { return }
    _ = drop(waiting, reason)
    for command in slots.flatMap(\.running) where command.isAsync {
      if command.runsUntil <= model.now, status(of: command) == .dropped(.timedOut) {
        model.end(command, .timedOut)
      }
    }
    model.reset(relay, reason)
  }
}
