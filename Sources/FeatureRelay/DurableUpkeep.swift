// SPDX-License-Identifier: MIT

internal import Foundation
internal import RelayJournal

// Suspending, dead letters, cancelling what is in no queue yet, and resets.

extension DurableStore {
  /// Notes what runs as interrupted, writes out what waits and gives up the lock.
  func suspend(_ core: RelayCore) async {
    guard hasJournal else { return }
    await waitUntilOpen()
    let running = core.slots.flatMap { $0.withState { $0.startedDurables } }
    write(running.map { DurableWrite(.interrupted($0.entry.id), $0) })
    flush()
    let journal = state.withLock { state -> Journal? in
      guard case .open(let journal) = state.phase else { return nil }
      state.phase = .suspended(journal)
      state.interrupted = running
      return journal
    }
    guard let journal else { return }
    do {
      try await inBackground {
        let failure = SuspensionFailure()
        Platform.withExpiringActivity("Writing out durable commands") {
          failure.note { try journal.suspend() }
        }
        try failure.check()
      }
    } catch {
      tell(.failed("\(error)"))
    }
  }

  /// Takes the lock again, brings memory and disk together, and restores.
  func resume(_ core: RelayCore) async -> RestorationResult {
    let suspended = state.withLock { state -> Journal? in
      guard case .suspended(let journal) = state.phase else { return nil }
      return journal
    }
    guard let journal = suspended else { return await restore(into: core) }
    guard let resumption = try? await inBackground({ journal.resume() }) else {
      return .unavailable("")
    }
    switch resumption.outcome {
    case .newer: return .newer
    case .unavailable(let reason): return .unavailable("\(reason)")
    case .empty, .recovered, .damaged: break
    }
    let (running, writes) = state.withLock { state in
      state.phase = .open(journal)
      state.outcome = resumption.outcome
      let writes = state.take(resumption.added)
      defer { state.interrupted = [] }
      return (state.interrupted, writes)
    }
    write(writes)
    if !resumption.removed.isEmpty {
      for slot in core.slots { slot.drop(Set(resumption.removed), .cancelled) }
    }
    // What still runs is an attempt again, of which only its end will tell.
    write(core.stillRunning(running))
    flush()
    return await restore(into: core)
  }

  /// Drops what was read and is in no queue yet.
  ///
  /// - Returns: how many commands.
  func discardUnmerged(
    _ reason: DropReason, where isMeant: @escaping @Sendable (JournalEntry) -> Bool
  ) -> [UInt64] {
    guard hasJournal else { return [] }
    waitForOpening()
    let discarded = state.withLock { state in
      state.discard(DurableStoreState.Tombstone(isMeant: isMeant, reason: reason))
    }
    write(discarded.map { DurableWrite(.ended($0.entry.id, reason: reason.rawValue)) })
    return discarded.map(\.entry.id)
  }

  /// Drops what was read and carries the tag. First, or what is on its way into a queue would slip
  /// through.
  ///
  /// - Returns: how many commands.
  func cancel(tagged tag: CommandTag) -> Int {
    guard let label = tag.lastingName else { return 0 }
    return discardUnmerged(.cancelled) { $0.labels.contains(label) }.count
  }

  /// Drops dead letters that carry the tag, and leaves nothing on disk of what has ended.
  func erase(_ tag: CommandTag) {
    let letters = state.withLock { state in
      defer { state.deadLetters.removeAll { $0.tags.contains(tag) } }
      return state.deadLetters.filter { $0.tags.contains(tag) }
    }
    if let journal = state.withLock({ $0.journal }) {
      do {
        // What has ended already is not live any more: writing anew leaves it out.
        try journal.compact(erasing: letters.map(\.number))
      } catch {
        tell(.failed("\(error)"))
      }
    }
  }

  /// Drops what was read and is in no queue yet, of one feature or of all.
  ///
  /// - Returns: how many commands.
  func clear(_ key: UInt?) -> Int {
    let declarations = state.withLock { $0.declarations }
    return discardUnmerged(.cleared) { entry in
      key == nil || declarations[entry.name]?.key == key
    }.count
  }

  /// From now on records are kept back: what is on disk is about to go.
  func beginReset() {
    guard hasJournal else { return }
    waitForOpening()
    for waiter in state.withLock({ $0.beginReset() }) { waiter.resume() }
  }

  /// Empties the journal by one record, and writes what was dispatched meanwhile.
  func endReset() {
    guard hasJournal else { return }
    state.withLock { $0.resets -= 1 }
    flush()
  }
}

// MARK: Dead letters

extension DurableStore {
  func dropDeadLetters() {
    let dropped = state.withLock { $0.takeTooManyDeadLetters(limit: settings.deadLetters) }
    guard !dropped.isEmpty else { return }
    tell(.deadLettersDropped(dropped.count))
    write(
      dropped.map { DurableWrite(.ended($0.number, reason: DropReason.overflow.rawValue)) })
  }

  func discard(_ letter: DeadLetter) -> Bool {
    guard state.withLock({ $0.takeDeadLetter(letter) }) else { return false }
    write([DurableWrite(.ended(letter.number, reason: DropReason.cancelled.rawValue))])
    return true
  }

  func revive(_ letter: DeadLetter, into core: RelayCore) -> Bool {
    let declaration = state.withLock { state -> DurableDeclaration? in
      guard let declaration = state.declarations[letter.name], state.takeDeadLetter(letter) else {
        return nil
      }
      return declaration
    }
    guard let declaration else { return false }
    let entry = JournalEntry(
      id: letter.number, place: RecordNumber(letter.number).place, name: letter.name,
      group: letter.feature, priority: letter.priority.rawValue,
      labels: letter.tags.compactMap(\.lastingName), acceptedAt: clock.wallMilliseconds,
      payloadVersion: UInt32(letter.version), payload: JournalBytes(letter.payload))
    core.slot(declaration.key).revive(
      RestoredCommand(
        entry: RecoveredEntry(entry: entry), declaration: declaration, age: 0, end: nil),
      store: self)
    return true
  }
}

extension DurableStoreState {
  mutating func takeDeadLetter(_ letter: DeadLetter) -> Bool {
    guard let index = deadLetters.firstIndex(where: { $0.id == letter.id }) else { return false }
    deadLetters.remove(at: index)
    return true
  }

  mutating func beginReset() -> [Waiter] {
    resets += 1
    backlog.add(DurableWrite(.barrier))
    endBehind()
    unmerged = []
    parked = []
    deadLetters = []
    _ = discard(Tombstone(isMeant: { _ in true }, reason: .reset))
    defer { waiters = [:] }
    return waiters.values.flatMap { $0 }
  }
}

/// What went wrong inside a closure of the system's.
private final class SuspensionFailure: Sendable {
  private let error = Lock<(any Error)?>(nil)

  func note(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      self.error.withLock { $0 = error }
    }
  }

  func check() throws {
    if let error = error.withLock({ $0 }) { throw error }
  }
}

extension RelayCore {
  /// A durable command that waits or runs here.
  func durable(_ id: CommandID) -> DurableState? {
    for slot in slots {
      let durable = slot.withState { state in
        state.find(id).flatMap { state.durable($0) }
      }
      if let durable { return durable }
    }
    return nil
  }

  /// The slot that has a command, and the id by which it knows it: a durable one may be named as an
  /// earlier process did.
  func locate(_ id: CommandID) -> (SlotStorage, CommandID)? {
    if id.relay == number, let slot = slot(numbered: id.slot),
      !id.isDurable || slot.withState({ $0.status(id) }) != nil
    {
      return (slot, id)
    }
    guard id.isDurable else { return nil }
    for slot in slots {
      if let found = slot.withState({ state in state.find(id).map { state.id($0) } }) {
        return (slot, found)
      }
    }
    return nil
  }

  /// Starts again what was noted as interrupted and still runs.
  func stillRunning(_ interrupted: [DurableState]) -> [DurableWrite] {
    let numbers = Set(interrupted.map(\.entry.id))
    return slots.flatMap { slot in
      slot.withState { state in
        state.queue.runningCommands.compactMap { index -> DurableWrite? in
          guard let durable = state.durable(index), numbers.contains(durable.entry.id) else {
            return nil
          }
          let attempt = UInt32(state.queue.node(index).pointee.attempt)
          return DurableWrite(.started(durable.entry.id, attempt: attempt), durable)
        }
      }
    }
  }
}

extension SlotState {
  /// The place of a command that is kept; also by an id from another process or place.
  func find(_ id: CommandID) -> UInt32? {
    if queue.isLive(id.index, sequence: id.sequence) { return id.index }
    guard id.isDurable else { return nil }
    return queue.first(where: { $0.sequence == id.sequence })
  }
}

extension SlotStorage {
  /// Drops durable commands that wait, by their numbers.
  func drop(_ numbers: Set<UInt64>, _ reason: DropReason) {
    update(onMain: false) { state, effects in
      var indices: [UInt32] = []
      state.queue.forEachWaiting { index in
        if let durable = state.durable(index), numbers.contains(durable.entry.id) {
          indices.append(index)
        }
      }
      for index in indices { state.drop(index, reason, &effects) }
    }
  }
}
