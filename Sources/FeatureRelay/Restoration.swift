// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import RelayJournal

/// What was read, sorted by what is to become of it. Pure: a test can look at it without a disk.
struct Restoration {
  /// What comes back, by feature, in the order of acceptance.
  var commands: [UInt: [RestoredCommand]] = [:]
  /// Records of names that nobody has declared.
  var parked: [RecoveredEntry] = []
  /// Those of them whose time to live is over.
  var undeclared: [RecoveredEntry] = []

  /// - Parameters:
  ///   - entries: what was read, in any order.
  ///   - wallTime: milliseconds since 1970.
  init(
    _ entries: [RecoveredEntry], _ declarations: DurableDeclarations, wallTime: Int64,
    attemptsWithoutEnd: Int
  ) {
    for entry in entries.sorted(by: { $0.entry.place < $1.entry.place }) {
      // A time that is still to come was written by a clock that has been set back since: the
      // command is as old as nothing.
      let age = max(0, wallTime - entry.entry.acceptedAt)
      let isExpired = entry.entry.timeToLive.map { UInt64(age) >= $0 } ?? false
      guard let declaration = declarations[entry.entry.name] else {
        if isExpired { undeclared.append(entry) } else { parked.append(entry) }
        continue
      }
      var end: RestoredCommand.End?
      if isExpired {
        end = .expired
      } else if entry.unfinishedAttempts >= attemptsWithoutEnd {
        end = .neverEnded
      }
      commands[declaration.key, default: []].append(
        RestoredCommand(entry: entry, declaration: declaration, age: age, end: end))
    }
  }
}

/// A command on its way back into a queue.
struct RestoredCommand: Sendable {
  /// Why it comes back only to end.
  enum End: Sendable {
    case expired
    case neverEnded
  }

  let entry: RecoveredEntry
  let declaration: DurableDeclaration
  /// Milliseconds.
  let age: Int64
  let end: End?
}

extension DurableStore {
  /// How many commands go into a queue under one lock.
  static let page = 500

  /// Brings back what lies on disk; calls at the same time share one run.
  func restore(into core: RelayCore) async -> RestorationResult {
    let task = state.withLock { state in
      if let running = state.restoration { return running }
      let task = Task.detached { [self] in await restoreNow(core) }
      state.restoration = task
      return task
    }
    return await task.value
  }

  private func restoreNow(_ core: RelayCore) async -> RestorationResult {
    let keys = state.withLock { $0.declarations.keys }
    for key in keys { core.slot(key).setHeld(true) }
    state.withLock { $0.beginMerge() }
    open()
    await waitUntilOpen()
    await adoptInboxes()
    mergeParked(into: core)
    let (outcome, entries) = state.withLock { state in
      defer {
        state.outcome = nil
        state.unmerged = []
      }
      return (state.outcome, state.unmerged)
    }
    let count = merge(entries, into: core)
    endMerge(of: entries, into: core)
    for key in keys { core.slot(key).setHeld(false) }
    if count > 0 { tell(.restored(count)) }
    return state.withLock { state in
      state.restoration = nil
      return state.result(outcome, restored: count)
    }
  }

  private func adoptInboxes() async {
    guard let journal = state.withLock({ $0.journal }) else { return }
    do {
      let adoption = try await inBackground {
        try journal.checkPlace()
        return try journal.adoptInboxes { RecordNumber.next().place }
      }
      if adoption.lost > 0 { tell(.damaged(lost: adoption.lost)) }
      write(state.withLock { $0.take(adoption.entries) })
    } catch {
      tell(.failed("\(error)"))
    }
  }

  /// Puts what was read where it belongs.
  ///
  /// - Returns: how many commands wait again.
  func merge(_ entries: [RecoveredEntry], into core: RelayCore) -> Int {
    guard !entries.isEmpty else { return 0 }
    let declarations = state.withLock { $0.declarations }
    let wallTime = clock.wallMilliseconds
    let restoration = Restoration(
      entries, declarations, wallTime: wallTime,
      attemptsWithoutEnd: settings.attemptsWithoutEnd)
    var count = 0
    for (key, commands) in restoration.commands {
      let slot = core.slot(key)
      // From the back: each page goes in front of what is there already.
      var rest = commands[...]
      while !rest.isEmpty {
        count += slot.restore(rest.suffix(Self.page), store: self)
        rest = rest.dropLast(Self.page)
      }
      slot.becameDeliverable(onMain: false)
    }
    park(restoration, at: wallTime)
    return count
  }

  /// Drops what was cancelled, cleared or reset while it was on its way.
  private func endMerge(of entries: [RecoveredEntry], into core: RelayCore) {
    while let tombstones = state.withLock({ $0.endMerge() }) {
      for tombstone in tombstones {
        let meant = entries.filter { tombstone.isMeant($0.entry) }.map(\.entry.id)
        guard !meant.isEmpty else { continue }
        for slot in core.slots { slot.drop(Set(meant), tombstone.reason) }
        _ = discardUnmerged(tombstone.reason, where: tombstone.isMeant)
      }
    }
  }

  private func park(_ restoration: Restoration, at wallTime: Int64) {
    let parked = restoration.parked
    state.withLock { $0.parked += parked }
    if !parked.isEmpty { tell(.parked(parked.count)) }
    bury(restoration.undeclared, at: wallTime)
    // The next one to run out of time.
    let ends = parked.compactMap { entry in
      entry.entry.timeToLive.map { Int64(clamping: $0).saturatingAdd(entry.entry.acceptedAt) }
    }
    guard let next = ends.min() else { return }
    let delay = max(1, next - wallTime).multipliedReportingOverflow(by: 1_000_000)
    guard !delay.overflow else { return }
    clock.schedule(at: clock.now.saturatingAdd(delay.partialValue)) { [weak self] in
      self?.buryParked()
    }
  }

  /// Gives up on parked records whose time to live is over.
  private func buryParked() {
    let wallTime = clock.wallMilliseconds
    let parked = state.withLock { state in
      defer { state.parked = [] }
      return state.parked
    }
    guard !parked.isEmpty else { return }
    let restoration = Restoration(
      parked, DurableDeclarations(), wallTime: wallTime,
      attemptsWithoutEnd: settings.attemptsWithoutEnd)
    state.withLock { $0.parked += restoration.parked }
    bury(restoration.undeclared, at: wallTime)
  }

  private func bury(_ entries: [RecoveredEntry], at wallTime: Int64) {
    guard !entries.isEmpty else { return }
    let reason = DeadLetter.Reason.undeclared
    let death = JournalDeath(
      reason: reason.rawValue, detail: reason.description, at: wallTime)
    var writes: [DurableWrite] = []
    for var entry in entries {
      entry.death = death
      writes.append(DurableWrite(.dead(entry.entry.id, death)))
      if let letter = DeadLetter(entry) { state.withLock { $0.deadLetters.append(letter) } }
    }
    core?.record(.died(reason))
    write(writes)
  }

  /// Delivers what was parked under names that are declared by now.
  func mergeParked(into core: RelayCore) {
    let entries = state.withLock { state in
      let isDeclared = { (entry: RecoveredEntry) in state.declarations[entry.entry.name] != nil }
      let entries = state.parked.filter(isDeclared)
      state.parked.removeAll(where: isDeclared)
      state.beginMerge()
      return entries
    }
    let count = merge(entries, into: core)
    endMerge(of: entries, into: core)
    if count > 0 { tell(.restored(count)) }
  }

  /// Runs disk work where it blocks nobody.
  func inBackground<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async {
        continuation.resume(with: Swift.Result { try body() })
      }
    }
  }
}

extension DurableStoreState {
  /// The answer to a restore.
  func result(_ outcome: JournalOutcome?, restored: Int) -> RestorationResult {
    switch phase {
    case .newer: return .newer
    case .unavailable(let reason): return .unavailable(reason)
    case .inbox: return .unavailable("another process owns the journal")
    case .suspended: return .unavailable("the journal is suspended")
    case .closed: return .unavailable("the relay is closed")
    case .new, .opening, .open: break
    }
    if case .damaged(_, let lost) = outcome { return .damaged(salvaged: restored, lost: lost) }
    return restored == 0 ? .empty : .restored(restored)
  }
}
