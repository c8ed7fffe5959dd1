// SPDX-License-Identifier: MIT

// The second half of the model: starts, ends, time.

// MARK: Starting and ending

extension ModelRelay {
  /// A command's attempt begins: its handler runs, or it has been taken for a task.
  func start(_ command: ModelCommand, on handler: Int?) {
    note("\(command.number) starts")
    let slot = command.slot
    func isNext() -> Bool { deliverable(slot).map { $0.command === command } ?? false }
    let arrival = arriving.last { $0.slot === slot }
    if let arrival, arrival === command { settleArrival(arrival) }
    var late: [ModelCommand] = []
    defer {
      for command in late {
        comeBack(command)
        command.cameBack = true
      }
    }
    letComeBack(before: command, &late)
    if let arrival, !isNext() {
      settleArrival(arrival)
      letComeBack(before: command, &late)
    }
    guard let (next, owner, expected) = deliverable(slot) else {
      return complain("\(name(command)) started while nothing could be delivered (\(why(slot)))")
    }
    guard next === command else {
      return complain("\(name(command)) started before \(name(next))")
    }
    if command.mustExpire <= now { complain("\(name(command)) started after its time to live") }
    if let handler, handler != expected {
      complain("\(name(command)) went to handler \(handler) and not to \(expected)")
    }
    if owner !== slot {
      see("inherited")
      command.lender = owner
      owner.lane = command
    }
    slot.ready[command.priority].removeFirst()
    command.phase = .running
    command.attempt += 1
    command.handler = expected
    command.startedAt = now
    command.hasBegun = false
    command.holdsLanes = true
    command.notBefore = 0
    command.wasAskedToStop = false
    if command.isAsync, let limit = command.executionLimit { command.runsUntil = now + limit }
    slot.lane = command
    slot.running.append(command)
  }

  /// A direct delivery asks no clock, and several may be due at once: what gave way may come back a little later.
  private func letComeBack(before command: ModelCommand, _ late: inout [ModelCommand]) {
    let slot = command.slot
    while let head = slot.head, head !== command, head.cameBack,
      head.priority == command.priority || command.isInOwnCall
    {
      slot.ready[head.priority].removeFirst()
      late.append(head)
    }
  }

  /// A concurrent command's handler has begun.
  func leaveLanes(_ command: ModelCommand) {
    guard command.holdsLanes else { return }
    command.holdsLanes = false
    command.slot.lane = nil
    command.lender?.lane = nil
    command.lender = nil
  }

  private func stopRunning(_ command: ModelCommand) {
    leaveLanes(command)
    command.slot.running.removeAll { $0 === command }
    command.runsUntil = .max
  }

  func delivered(_ command: ModelCommand) {
    note("\(command.number) delivered")
    stopRunning(command)
    command.phase = .delivered
    command.slot.counts.delivered += 1
    see(command.isAsync ? "delivered later" : "delivered")
    guard let unique = command.unique, case .command(command) = command.slot.keys[unique.key]
    else { return }
    if case .first(_, let window) = unique {
      command.slot.keys[unique.key] = .delivered(command, until: now + window)
    } else {
      command.slot.keys[unique.key] = nil
    }
  }

  func failed(_ command: ModelCommand, isFinal: Bool) {
    note("\(command.number) fails")
    if command.mayBeDirect, command.isInOwnCall, command.attempt == 1 {
      // Delivered directly, its age is taken from the end of that attempt.
      command.mustExpire += now - command.startedAt
    }
    if command.wasAskedToStop { return end(command, .cancelled) }
    if !isFinal, retry(command) { return }
    end(command, .failed)
  }

  func timedOut(_ command: ModelCommand) {
    note("\(command.number) runs out of time")
    if command.runsUntil > now { complain("\(name(command)) ran out of time too early") }
    if !command.wasAskedToStop, retry(command) {
      see("timed out, again")
    } else {
      end(command, .timedOut)
    }
  }

  private func retry(_ command: ModelCommand) -> Bool {
    let slot = command.slot
    if command.isLast { return false }
    switch command.retry ?? slot.retry {
    case .drop: return false
    case .later(let delay, let attempts):
      guard command.attempt < attempts else { return false }
      stopRunning(command)
      if delay > 0 {
        command.phase = .delayed
        command.notBefore = now + delay
        slot.delayed.append(command)
      } else {
        comeBack(command)
      }
      see("later")
    case .inPlace(let delay, let attempts):
      guard command.attempt < attempts else { return false }
      stopRunning(command)
      command.phase = .ready
      command.notBefore = now + delay
      let list = slot.ready[command.priority]
      let place = list.firstIndex { $0.rank > command.rank } ?? list.endIndex
      slot.ready[command.priority].insert(command, at: place)
      see("in place")
    }
    slot.counts.retried += 1
    return true
  }

  private func comeBack(_ command: ModelCommand) {
    command.phase = .ready
    command.notBefore = 0
    command.cameBack = false
    command.rank = nextRank()
    command.slot.ready[command.priority].append(command)
  }

  /// Ends a command undelivered.
  func end(_ command: ModelCommand, _ reason: ModelReason) {
    let slot = command.slot
    note("\(command.number) \(reason)")
    if command.isOver { return complain("\(name(command)) ended twice, now as \(reason)") }
    if command.phase == .running {
      stopRunning(command)
    } else {
      slot.ready[command.priority].removeAll { $0 === command }
      slot.delayed.removeAll { $0 === command }
    }
    command.phase = .dropped(reason)
    slot.counts.dropped[reason, default: 0] += 1
    see("dropped \(reason)")
    if let unique = command.unique, case .command(command) = slot.keys[unique.key] {
      slot.keys[unique.key] = nil
    }
  }
}

func ~= (pattern: ModelCommand, value: ModelCommand) -> Bool { pattern === value }

// MARK: Time and the whole

extension ModelRelay {
  /// What has to have happened in a slot by now, once somebody looks.
  func passTime(of slot: ModelSlot) {
    for command in slot.overdue(at: now) { timedOut(command) }
    for command in slot.old(at: now) where command.mustExpire <= now { end(command, .expired) }
  }

  /// Moves the time on; what gave way comes back at its own time.
  func advance(to time: Int) {
    while true {
      // Of two at the same time the one that gave way first comes back first.
      let due = slots.flatMap(\.delayed).filter {
        $0.notBefore <= time && $0.mustExpire > $0.notBefore
      }
      guard
        let next = due.min(by: { $0.notBefore < $1.notBefore })
      else { break }
      now = max(now, next.notBefore)
      next.slot.delayed.removeAll { $0 === next }
      comeBack(next)
      next.cameBack = true
    }
    now = time
  }

  func reset(_ relay: Int, _ reason: ModelReason) {
    for slot in slots where slot.relay == relay {
      for command in slot.running {
        if command.isAsync { end(command, reason) } else { command.isLast = true }
      }
      slot.registrations = []
      slot.keys = [:]
    }
    if reason == .closed { isClosed[relay] = true }
  }

  /// Whether something is to be done that does not depend on anybody else.
  var isSomethingLeft: Bool {
    slots.contains { slot in
      deliverable(slot) != nil || slot.old(at: now).contains { $0.mustExpire <= now }
        || slot.running.contains { $0.runsUntil <= now }
    }
  }

  /// What the main actor has left undone although it has nothing else to do.
  func checkQuiescence() {
    for slot in slots {
      for command in slot.waiting { command.cameBack = false }
      if let (command, owner, handler) = deliverable(slot), !waitsForLane(slot, owner) {
        complain("\(name(command)) could be delivered to \(handler) and was left")
      }
      for command in slot.old(at: now) where command.mustExpire <= now {
        complain("\(name(command)) waits beyond its time to live")
      }
      for command in slot.running where command.runsUntil <= now {
        complain("\(name(command)) runs beyond its limit")
      }
    }
  }

  /// Whether what is dispatched here may wait for a lane of which it need not: that of a handler
  /// that has died. Nobody is told of a death: it is seen when that lane is free.
  private func waitsForLane(_ slot: ModelSlot, _ owner: ModelSlot) -> Bool {
    (owner.relay..<slot.relay).dropFirst().contains { relay in
      let between = self.slot(relay, slot.feature)
      return between.lane != nil && !between.registrations.isEmpty
    }
  }

  func name(_ command: ModelCommand) -> String {
    "command \(command.number) of \(command.slot.relay).\(command.slot.feature) (\(command.phase))"
  }

  private func why(_ slot: ModelSlot) -> String {
    let path = (0...slot.relay).map { self.slot($0, slot.feature) }
    return """
      head \(slot.head.map(name) ?? "none") not before \(slot.head?.notBefore ?? 0) at \(now), lanes \
      \(path.map { $0.lane?.number ?? -1 }), open \(path.map(isOpen)), alive \
      \(path.map { $0.registrations.map { isAlive($0.handler) } })
      """
  }
}
