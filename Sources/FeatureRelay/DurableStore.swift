// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import RelayJournal
internal import Synchronization

/// A relay's durable side: its declared types, its journal, and what could not be written yet.
///
/// The journal is opened in the background when the relay is made. Every record goes through
/// ``write(_:)``, outside all locks: into the journal where that works, into the backlog where it
/// does not. Whatever happens to the disk, nothing here fails: it tells.
///
/// Safe to share: everything mutable is behind the lock, but for `core`, which is set once before
/// the relay is shared.
final class DurableStore: @unchecked Sendable {
  /// How long the first call that needs the journal waits until it is open.
  static let openingLimit: DispatchTimeInterval = .seconds(2)
  /// How often a failure is told.
  static let failureEventInterval: Int64 = 60_000_000_000
  /// After a failure the next attempt comes by itself after so long, then after twice as long …
  static let firstRetry: Int64 = 1_000_000_000
  static let lastRetry: Int64 = 60_000_000_000

  let location: JournalLocation
  /// Whether there is a journal at all.
  let hasJournal: Bool
  let settings: DurableConfiguration
  let clock: RelayClock
  let state = Lock(DurableStoreState())
  /// Safe: set once, before the relay is shared. DurableRaceTests under the thread sanitizer would
  /// notice.
  nonisolated(unsafe) weak var core: RelayCore?
  /// Commands whose group commit is to come.
  let uncommitted = Atomic<Int>(0)
  /// Whether a feature has settings of its own here: most relays never ask for them.
  let hasFeatureSettings = Atomic<Bool>(false)
  /// Left when the journal has been opened, or could not be.
  let opening = DispatchGroup()

  init(_ location: JournalLocation, _ configuration: RelayConfiguration) {
    self.location = location
    if case .none = location.place { hasJournal = false } else { hasJournal = true }
    settings = configuration.durable
    clock = configuration.clock
  }

  /// Whether commands wait for a group commit.
  var isCommitting: Bool { uncommitted.load(ordering: .acquiring) > 0 }

  /// Tells what happened to the journal.
  func tell(_ status: JournalStatus) {
    core?.record(.journal(status))
    core?.log.handOut()
  }
}

// MARK: Writing

extension DurableStore {
  private enum Way: Sendable {
    case journal(Journal, [DurableWrite])
    case inbox(JournalInbox, [DurableWrite])
    case nowhere
  }

  /// Writes one record, as nearly every dispatch does: without a list of them.
  func write(_ write: DurableWrite) {
    guard write.kind != .death, let journal = state.withLock({ $0.plainJournal }) else {
      return self.write([write])
    }
    switch journal.append(write.record) {
    case .written: write.noteWritten()
    case let result: settle(result, of: [write], in: journal)
    }
  }

  /// Writes records by one system call, or keeps them for later. When it returns each command's
  /// state says what it survives.
  func write(_ writes: [DurableWrite]) {
    guard hasJournal, !writes.isEmpty else { return }
    // As nearly always: the disk works, and nothing is left from a time when it did not.
    if let journal = state.withLock({ $0.plainJournal }),
      !writes.contains(where: { $0.kind == .death })
    {
      return append(writes, to: journal)
    }
    waitForOpening()
    let writes = stamped(writes)
    let (way, resumed): (Way, [DurableStoreState.Waiter]) = state.withLock { state in
      state.keepDeadLetters(writes)
      return (choose(for: writes, &state), state.endWaits(of: writes))
    }
    switch way {
    case .journal(let journal, let writes):
      append(writes, to: journal)
      flush()
    case .inbox(let inbox, let writes): append(writes, to: inbox)
    case .nowhere: break
    }
    for waiter in resumed { waiter.resume() }
    dropDeadLetters()
  }

  /// Says when commands were given up on: under a slot's lock nobody asks the clock.
  private func stamped(_ writes: [DurableWrite]) -> [DurableWrite] {
    guard writes.contains(where: { $0.kind == .death }) else { return writes }
    let now = clock.wallMilliseconds
    return writes.map { write in
      guard case .dead(let id, var death) = write.record else { return write }
      death.at = now
      return DurableWrite(.dead(id, death), write.state)
    }
  }

  private func choose(for writes: [DurableWrite], _ state: inout DurableStoreState) -> Way {
    switch state.phase {
    case .open(let journal) where !state.holdsBack:
      return .journal(journal, state.keepWhatFollows(writes))
    case .inbox(let inbox):
      return .inbox(inbox, writes)
    case .closed: return .nowhere
    default:
      for write in writes { state.backlog.add(write) }
      return .nowhere
    }
  }

  private func append(_ writes: [DurableWrite], to journal: Journal) {
    guard !writes.isEmpty else { return }
    settle(
      writes.count == 1
        ? journal.append(writes[0].record) : journal.append(writes.map(\.record)),
      of: writes, in: journal)
  }

  /// Does what follows from a write.
  private func settle(_ result: JournalWrite, of writes: [DurableWrite], in journal: Journal) {
    switch result {
    case .written: for write in writes { write.noteWritten() }
    case .behind(let ticket):
      state.withLock { $0.goBehind(writes) }
      ticket.whenWritten { [self] error in
        let resumed = state.withLock { $0.settleBehind(writes, isWritten: error == nil) }
        if error == nil { for write in writes { write.noteWritten() } }
        for waiter in resumed { waiter.resume() }
        if let error { failed(error) }
      }
    case .failed(let error):
      let kept = appendSeparately(writes, to: journal, after: error)
      state.withLock { state in
        for write in kept { state.backlog.add(write) }
      }
      failed(error)
    }
  }

  /// Where it is one record's own fault that several could not be written, the others are.
  ///
  /// - Returns: what is to be tried again.
  private func appendSeparately(
    _ writes: [DurableWrite], to journal: Journal, after error: JournalError
  ) -> [DurableWrite] {
    guard error.code == .full || error.code == .tooLarge else { return writes }
    return writes.filter { write in
      switch writes.count > 1 ? journal.append(write.record) : .failed(error) {
      case .written, .behind:
        write.noteWritten()
        return false
      // What is too large stays so: it lives in memory.
      case .failed(let error): return error.code != .tooLarge
      }
    }
  }

  /// The owner reads an inbox at its next restore: what is in it is no longer this process's.
  private func append(_ writes: [DurableWrite], to inbox: JournalInbox) {
    for write in writes {
      guard case .accepted(let entry) = write.record else { continue }
      do {
        try inbox.append(entry)
        write.noteWritten()
        write.state?.isHandedOver = true
      } catch {
        failed(error)
      }
    }
  }

  /// Tells of a failure, at most once in a while, and plans the next attempt.
  func failed(_ error: JournalError) {
    // Asked for, and over when the process goes on.
    if error.code == .suspended || error.code == .closed { return }
    let now = clock.now
    let (isTold, delay) = state.withLock { $0.fail(at: now) }
    if isTold { tell(.failed("\(error)")) }
    if let delay { retry(after: delay) }
  }

  /// Tries again in a while, whoever dispatches or not.
  func retry(after delay: Int64) {
    clock.schedule(at: clock.now.saturatingAdd(delay)) { [weak self] in
      guard let self else { return }
      let isOpen = state.withLock { state in
        state.isRetryPlanned = false
        if case .open = state.phase { return true }
        return false
      }
      if isOpen { flush() } else { open() }
    }
  }

  /// Writes what could not be written before, unless another thread is at it.
  func flush() {
    while let (journal, writes) = state.withLock({ $0.beginFlush() }) {
      var rest = writes[...]
      var failure: JournalError?
      while !rest.isEmpty, failure == nil {
        let chunk = Array(rest.prefix(256))
        switch journal.append(chunk.map(\.record)) {
        case .written:
          for write in chunk { write.noteWritten() }
          rest = rest.dropFirst(chunk.count)
        case .behind(let ticket):
          ticket.whenWritten { error in
            if error == nil { for write in chunk { write.noteWritten() } }
          }
          rest = rest.dropFirst(chunk.count)
        case .failed(let error):
          failure = error
          let kept = appendSeparately(chunk, to: journal, after: error)
          rest = (kept + rest.dropFirst(chunk.count))[...]
        }
      }
      let (resumed, isDone) = state.withLock { $0.endFlush(kept: Array(rest)) }
      for waiter in resumed { waiter.resume() }
      if let failure { return failed(failure) }
      if isDone { return tell(.answered) }
    }
  }
}

// MARK: Level two, waiting

extension DurableStore {
  /// Calls back when what has been written is on the medium, together with others who wait.
  func sync(_ body: @escaping @Sendable (_ isSynced: Bool) -> Void) {
    let journal = state.withLock { $0.journal }
    guard let journal else { return body(false) }
    journal.sync { [weak self] error in
      if let error { self?.failed(error) }
      body(error == nil)
    }
  }

  /// Waits until a command survives what it is to, or has ended.
  func waitUntilPersisted(_ durable: DurableState) async {
    await waitUntilWritten(durable)
    guard durable.level == .survivesPowerLoss, durable.reached == .survivesProcessDeath else {
      return
    }
    await withCheckedContinuation { continuation in
      // A sync of its own would mostly be one more than the command's.
      if state.withLock({ $0.joinCommit(of: durable.entry.id, continuation) }) { return }
      sync { isSynced in
        if isSynced { durable.reached = .survivesPowerLoss }
        continuation.resume()
      }
    }
  }

  /// Calls back when a command that was just written is on the medium.
  func commit(_ durable: DurableState, _ body: @escaping @Sendable () -> Void) {
    let id = durable.entry.id
    uncommitted.add(1, ordering: .relaxed)
    state.withLock { $0.beginCommit(of: id) }
    sync { [self] isSynced in
      if isSynced { durable.reached = .survivesPowerLoss }
      body()
      for waiter in state.withLock({ $0.endCommit(of: id) }) { waiter.resume() }
    }
  }

  /// Waits until a command is in the kernel, or has ended.
  func waitUntilWritten(_ durable: DurableState) async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        guard state.isUnwritten(durable.entry.id) else { return true }
        state.waiters[durable.entry.id, default: []].append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }
}

// MARK: The end

extension DurableStore {
  /// Writes out what waits and gives up the directory.
  func close() {
    guard hasJournal else { return }
    waitForOpening()
    let (phase, waiters) = state.withLock { $0.close() }
    switch phase {
    case .open(let journal), .suspended(let journal): journal.close()
    case .inbox(let inbox): inbox.close()
    default: break
    }
    for waiter in waiters { waiter.resume() }
    JournalDirectories.release(location)
  }
}
