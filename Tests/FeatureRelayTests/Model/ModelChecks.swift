// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport

// What suspends, and what is compared.

extension ModelHarness {
  /// Lets the main actor do everything that it has to do.
  func settle(idle: Bool) async {
    guard problem == nil else { return }
    mayStart = true
    let runBefore = model.slots.flatMap(\.running).map { (command: $0, attempt: $0.attempt) }
    let firstWait = idleWaits.count
    if idle {
      for (number, relay) in relays.enumerated() {
        idleWaits.append(false)
        Task(executorPreference: executor) { @Sendable [self] in
          await relay.waitUntilIdle()
          await noteIdle(firstWait + number)
        }
      }
    }
    await turns(idle ? 6 : 3)
    mayStart = false
    lanesMayLag = false
    if problem == nil { model.checkQuiescence() }
    if idle {
      for (command, attempt) in runBefore
      where command.phase == .running && command.attempt == attempt {
        if idleWaits[firstWait + command.slot.relay] {
          model.complain("waitUntilIdle returned while \(model.name(command)) ran")
        }
      }
      if model.slots.allSatisfy(\.running.isEmpty), idleWaits.contains(false) {
        model.complain("waitUntilIdle goes on although nothing runs")
      }
    }
    checkLives()
    checkRequests()
  }

  private func noteIdle(_ index: Int) {
    idleWaits[index] = true
    progress += 1
  }

  /// Lets the main actor work until nothing happens any more.
  private func turns(_ patience: Int = 3) async {
    var quiet = 0
    var last = progress
    var count = 0
    // What takes several turns without anything to be seen is rare: wait for longer where something is left.
    while quiet < patience || (quiet < 8 && model.isSomethingLeft), problem == nil {
      // A wake-up that was planned for now, or for a time that has passed, comes at once.
      clock.advance(by: .zero)
      await modelTurn()
      if executor.runAll() { progress += 1 }
      observe()
      quiet = progress == last ? quiet + 1 : 0
      last = progress
      count += 1
      if count > 20_000 { return model.complain("the main actor finds no end") }
    }
  }

  /// Asks, and waits until the relay has heard of it.
  func request(_ plan: DispatchPlan) async {
    await settle(idle: false)
    guard problem == nil else { return }
    model.see("request")
    mayStart = true
    let command = makeCommand(plan)
    let number = command.number
    let relay = relays[plan.relay]
    let feature = RealFeature.all[plan.feature]
    let names = plan.tags.map { tags[$0] }
    requests[number] = RequestState()
    requests[number]!.task = Task(executorPreference: executor) { @Sendable [self] in
      await ask(number, plan, names)
    }
    // Nothing else goes on: when it is offered, and on which thread, makes no difference.
    let before = feature.counts(relay).offered
    while problem == nil, !requests[number]!.hasArrived {
      await modelTurn()
      _ = executor.runAll()
      if feature.counts(relay).offered != before { arrive(command) }
    }
    let known = Set(ids.values)
    let shown = relay.snapshot().features.flatMap { $0.waiting + $0.running }.map(\.id)
      .filter { !known.contains($0) }
    if shown.count == 1 { ids[number] = shown[0] }
    if shown.count > 1 { model.complain("more ids than commands") }
    unverified.append(command)
    await turns()
    mayStart = false
  }

  /// The relay has heard of a request.
  func arrive(_ command: ModelCommand) {
    guard requests[command.number]?.hasArrived == false else { return }
    requests[command.number]!.hasArrived = true
    model.arrive(command, onMain: false)
  }

  private func ask(_ number: Int, _ plan: DispatchPlan, _ names: [CommandTag]) async {
    let relay = relays[plan.relay]
    let feature = RealFeature.all[plan.feature]
    do {
      let answer: Int
      if case .onMain = plan.request {
        answer = try await feature.requestOnMain(number, plan, names, relay)
      } else {
        answer = try await feature.request(number, plan, names, relay)
      }
      requests[number]!.result = .success(answer)
    } catch {
      requests[number]!.result = .failure(error)
    }
    progress += 1
  }

  private func checkRequests() {
    for (number, state) in requests where !state.isChecked && model.commands[number].isOver {
      let command = model.commands[number]
      guard let result = state.result else {
        model.complain("the request of \(model.name(command)) goes on")
        continue
      }
      requests[number]!.isChecked = true
      func code() -> RelayError.Code? {
        if case .failure(let error as RelayError) = result { return error.code }
        return nil
      }
      let isRight: Bool
      switch command.phase {
      case .delivered: isRight = (try? result.get()) == number
      case .dropped(.failed):
        if case .failure(let error) = result {
          isRight = error is ModelError
        } else {
          isRight = false
        }
      case .dropped(.cancelled):
        if case .failure(let error) = result {
          isRight = !(error is RelayError)
        } else {
          isRight = false
        }
      case .dropped(.expired): isRight = code() == .waitingTimedOut
      case .dropped(.timedOut): isRight = code() == .executionTimedOut
      case .dropped(.reset): isRight = code() == .reset
      case .dropped(.closed), .refused(.closed): isRight = code() == .closed
      case .refused: isRight = code() == .refused
      case .dropped: isRight = code() == .dropped
      default: isRight = false
      }
      model.see("answered")
      if !isRight { model.complain("\(model.name(command)) was answered with \(result)") }
    }
  }

  /// What should live lives, and nothing is kept alive by the relays.
  private func checkLives() {
    guard problem == nil else { return }
    let owned = Set(
      model.slots.flatMap(\.registrations).filter(\.owned).map(\.handler))
    let kept = Set(handlers.compactMap { $0?.number })
    for number in 0..<handlerCount {
      let isNeeded = owned.contains(number) || kept.contains(number) || bodies[number] > 0
      if isNeeded, !isAlive(number) { model.complain("handler \(number) died") }
      if !isNeeded, held.isEmpty, isAlive(number) {
        model.complain("handler \(number) is kept alive")
      }
    }
  }

  /// Compares everything that can be asked.
  func compare() {
    compareCounts()
    guard problem == nil else { return }
    comparisons += 1
    for slot in model.slots where comparisons % 3 == 0 {
      let isRegistered = RealFeature.all[slot.feature].isRegistered(relays[slot.relay])
      let expected = slot.registrations.contains { model.isAlive($0.handler) }
      if isRegistered != expected { model.complain("isRegistered is \(isRegistered)") }
      if slot.old(at: model.now).isEmpty
        && !slot.running.contains(where: { $0.runsUntil <= model.now })
      {
        let count = RealFeature.all[slot.feature].pendingCount(relays[slot.relay])
        if count != slot.waitingCount {
          model.complain("pendingCount is \(count), not \(slot.waitingCount)")
        }
      }
    }
    for command in unverified { verify(command) }
    unverified.removeAll(where: \.isOver)
  }

  /// Compares the status of every id that was ever given out.
  func verifyAll() {
    for number in ids.keys { verify(model.commands[number]) }
  }

  private func verify(_ command: ModelCommand) {
    guard let status = status(of: command) else {
      if ids[command.number] != nil { model.complain("\(model.name(command)) is not remembered") }
      return
    }
    let isRight =
      switch (status, command.phase) {
      case (.waiting, .ready), (.waiting, .delayed), (.running, .running),
        (.delivered, .delivered):
        true
      case (.dropped(let reason), .dropped(let expected)): reason.modelName == "\(expected)"
      default: false
      }
    if !isRight { model.complain("\(model.name(command)) is said to be \(status)") }
  }

  func compareCounts() {
    guard problem == nil else { return }
    for slot in model.slots {
      let real = RealFeature.all[slot.feature].counts(relays[slot.relay])
      func check(_ what: String, _ real: UInt64, _ expected: Int) {
        if real != UInt64(expected) {
          model.complain("\(what) of \(slot.relay).\(slot.feature) is \(real), not \(expected)")
        }
      }
      if !real.isBalanced { model.complain("\(slot.relay).\(slot.feature) does not balance") }
      check("accepted", real.accepted, slot.counts.accepted)
      check("delivered", real.delivered, slot.counts.delivered)
      check("waiting", real.waiting, slot.waitingCount)
      check("running", real.running, slot.running.count)
      check("refused full", real.refusedFull, slot.counts.refusedFull)
      check("refused duplicate", real.refusedDuplicate, slot.counts.refusedDuplicate)
      check("refused closed", real.refusedClosed, slot.counts.refusedClosed)
      check("retried", real.retried, slot.counts.retried)
      if real.dropped == 0, slot.counts.dropped.isEmpty { continue }
      for reason in DropReason.allCases where reason != .dead {
        check(
          "dropped \(reason)", real.dropped(reason),
          slot.counts.dropped[ModelReason(rawValue: reason.modelName)!] ?? 0)
      }
    }
  }
}
