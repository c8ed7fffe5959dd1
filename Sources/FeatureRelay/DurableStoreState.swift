// SPDX-License-Identifier: MIT

internal import RelayJournal

/// The state of a relay's durable side. It asks neither disk nor clock: its transitions say what is
/// to be written, and who goes on.
struct DurableStoreState {
  enum Phase: Sendable {
    case new
    case opening
    case open(Journal)
    /// Another process owns the directory.
    case inbox(JournalInbox)
    case unavailable(String)
    case newer
    /// Its lock has been given up until the process goes on.
    case suspended(Journal)
    case closed
  }

  typealias Waiter = CheckedContinuation<Void, Never>

  /// What is to be dropped as soon as it is read.
  struct Tombstone: Sendable {
    let isMeant: @Sendable (JournalEntry) -> Bool
    let reason: DropReason
  }

  var phase = Phase.new
  var declarations = DurableDeclarations()
  var featureSettings: [UInt: FeatureConfiguration.Durable] = [:]
  var backlog = DurableBacklog()
  /// What the thread that flushes has taken out of the backlog.
  private var flushed: Set<UInt64> = []
  private var isFlushing = false
  /// A barrier is being written: what comes now has to follow it.
  private var flushesBarrier = false
  /// Commands whose record has been handed over and is not written yet; true when they have ended
  /// meanwhile.
  private var behind: [UInt64: Bool] = [:]
  var isPastStallLimit = false
  /// How many resets are going on.
  var resets = 0
  /// Whoever waits until a command is written.
  var waiters: [UInt64: [Waiter]] = [:]
  /// Commands whose group commit is to come, and whoever waits for it.
  private var committing: [UInt64: [Waiter]] = [:]
  var openWaiters: [Waiter] = []
  var isSomebodyWaiting = false
  /// What was read and is not in a queue yet, and what the reading came to, until it is told.
  var unmerged: [RecoveredEntry] = []
  var outcome: JournalOutcome?
  var tombstones: [Tombstone] = []
  /// How often what was read is on its way into queues.
  private var merges = 0
  /// Records of undeclared names.
  var parked: [RecoveredEntry] = []
  /// What ran when the journal was suspended.
  var interrupted: [DurableState] = []
  var deadLetters: [DeadLetter] = []
  var restoration: Task<RestorationResult, Never>?
  private var toldFailureAt: Int64?
  /// Something was told that is to be taken back once everything is written.
  private var isInTrouble = false
  var isRetryPlanned = false
  private var retryDelay = DurableStore.firstRetry

  /// Whether records have to be kept although the journal is open.
  var holdsBack: Bool { isPastStallLimit || resets > 0 }

  var journal: Journal? {
    if case .open(let journal) = phase { journal } else { nil }
  }

  /// The journal, where a record can go into it without a second thought.
  var plainJournal: Journal? {
    guard case .open(let journal) = phase, !isFlushing, !holdsBack, backlog.isEmpty,
      behind.isEmpty, waiters.isEmpty
    else { return nil }
    return journal
  }

  /// Whether the command is neither in the kernel nor over.
  func isUnwritten(_ id: UInt64) -> Bool {
    backlog.contains(id) || flushed.contains(id) || behind[id] != nil
  }
}

// MARK: Writing

extension DurableStoreState {
  /// Keeps what is about commands that are themselves still to be written, and returns the rest.
  mutating func keepWhatFollows(_ writes: [DurableWrite]) -> [DurableWrite] {
    if !behind.isEmpty { noteEnds(writes) }
    guard !backlog.isEmpty || isFlushing else { return writes }
    var direct: [DurableWrite] = []
    let followsBarrier = backlog.hasBarrier || flushesBarrier
    for write in writes {
      if followsBarrier {
        backlog.add(write)
      } else if let id = write.record.id, backlog.contains(id) || flushed.contains(id) {
        backlog.add(write)
      } else {
        direct.append(write)
      }
    }
    return direct
  }

  private mutating func noteEnds(_ writes: [DurableWrite]) {
    for write in writes {
      switch write.record {
      case .acknowledged(let id), .ended(let id, _): if behind[id] != nil { behind[id] = true }
      default: break
      }
    }
  }

  /// All that was handed over has ended.
  mutating func endBehind() {
    for id in behind.keys { behind[id] = true }
  }

  mutating func goBehind(_ writes: [DurableWrite]) {
    for write in writes {
      switch write.record {
      case .accepted(let entry), .acceptedAndStarted(let entry): behind[entry.id] = false
      default: break
      }
    }
  }

  /// What was handed over has been written, or has not.
  mutating func settleBehind(_ writes: [DurableWrite], isWritten: Bool) -> [Waiter] {
    var resumed: [Waiter] = []
    for write in writes {
      switch write.record {
      case .accepted(let entry), .acceptedAndStarted(let entry):
        let hasEnded = behind.removeValue(forKey: entry.id) ?? true
        if isWritten || hasEnded {
          resumed += waiters.removeValue(forKey: entry.id) ?? []
        } else {
          backlog.add(write)
        }
      default: if !isWritten { backlog.add(write) }
      }
    }
    return resumed
  }

  mutating func beginFlush() -> (Journal, [DurableWrite])? {
    guard !isFlushing, !backlog.isEmpty, !holdsBack, case .open(let journal) = phase else {
      return nil
    }
    isFlushing = true
    flushesBarrier = backlog.hasBarrier
    let writes = backlog.take()
    flushed = Set(writes.compactMap(\.record.id))
    return (journal, writes)
  }

  /// - Parameter kept: what could not be written.
  /// - Returns: who goes on, and whether a trouble is over.
  mutating func endFlush(kept: [DurableWrite]) -> ([Waiter], Bool) {
    let newer = backlog.take()
    for write in kept + newer { backlog.add(write) }
    let written = flushed.filter { !backlog.contains($0) }
    flushed = []
    isFlushing = false
    flushesBarrier = false
    if kept.isEmpty { retryDelay = DurableStore.firstRetry }
    let isOver = isInTrouble && backlog.isEmpty
    if isOver { isInTrouble = false }
    return (written.flatMap { waiters.removeValue(forKey: $0) ?? [] }, isOver)
  }

  /// A write has failed.
  ///
  /// - Returns: whether it is to be told, and after which delay to try again, unless that is
  ///   planned.
  mutating func fail(at now: Int64) -> (isTold: Bool, delay: Int64?) {
    var isTold = false
    isInTrouble = true
    if toldFailureAt.map({ now - $0 >= DurableStore.failureEventInterval }) ?? true {
      toldFailureAt = now
      isTold = true
    }
    guard !isRetryPlanned else { return (isTold, nil) }
    isRetryPlanned = true
    defer { retryDelay = min(retryDelay * 2, DurableStore.lastRetry) }
    return (isTold, retryDelay)
  }

  /// Whether the disk has been silent for too long.
  mutating func passStallLimit() -> Bool {
    guard let journal, journal.isStalled, !isPastStallLimit else { return false }
    isPastStallLimit = true
    return true
  }

  /// Whoever waits for a command that has ended does so no longer.
  mutating func endWaits(of writes: [DurableWrite]) -> [Waiter] {
    guard !waiters.isEmpty else { return [] }
    return writes.flatMap { write -> [Waiter] in
      switch write.record {
      case .acknowledged(let id), .ended(let id, _), .dead(let id, _):
        return waiters.removeValue(forKey: id) ?? []
      default: return []
      }
    }
  }
}

// MARK: Group commits

extension DurableStoreState {
  mutating func beginCommit(of id: UInt64) { committing[id] = [] }

  /// - Returns: who goes on.
  mutating func endCommit(of id: UInt64) -> [Waiter] { committing.removeValue(forKey: id) ?? [] }

  /// Waits for the commit that is to come, if there is one.
  mutating func joinCommit(of id: UInt64, _ waiter: Waiter) -> Bool {
    committing[id]?.append(waiter) != nil
  }
}

// MARK: Opening and closing

extension DurableStoreState {
  struct Opened: Sendable {
    var isClosed = false
    var writes: [DurableWrite] = []
    var waiters: [Waiter] = []
  }

  mutating func beginOpening() {
    phase = .opening
    isSomebodyWaiting = false
  }

  mutating func endOpening(
    _ phase: Phase, _ outcome: JournalOutcome?, _ entries: [RecoveredEntry]
  ) -> Opened {
    var opened = Opened()
    opened.waiters = openWaiters
    openWaiters = []
    if case .closed = self.phase {
      opened.isClosed = true
      return opened
    }
    self.phase = phase
    self.outcome = outcome
    if case .open = phase { opened.writes = take(entries) }
    return opened
  }

  /// Takes in what was read.
  ///
  /// - Returns: what is to be written about it.
  mutating func take(_ entries: [RecoveredEntry]) -> [DurableWrite] {
    // A barrier that is to be written ends everything from before.
    guard !backlog.hasBarrier else { return [] }
    var writes: [DurableWrite] = []
    for entry in entries {
      if let letter = DeadLetter(entry) {
        deadLetters.append(letter)
      } else if let tombstone = tombstones.first(where: { $0.isMeant(entry.entry) }) {
        writes.append(
          DurableWrite(.ended(entry.entry.id, reason: tombstone.reason.rawValue)))
      } else {
        unmerged.append(entry)
      }
    }
    if merges == 0 { tombstones = [] }
    return writes
  }

  /// From now on, until ``endMerge()`` says that there is nothing more, what is dropped may be on
  /// its way into a queue.
  mutating func beginMerge() { merges += 1 }

  /// - Returns: what is to be dropped of what has been put into queues; nil when that is all.
  mutating func endMerge() -> [Tombstone]? {
    guard tombstones.isEmpty else {
      defer { tombstones = [] }
      return tombstones
    }
    merges -= 1
    return nil
  }

  mutating func close() -> (Phase, [Waiter]) {
    defer { phase = .closed }
    let resumed = waiters.values.flatMap { $0 }
    waiters = [:]
    unmerged = []
    parked = []
    return (phase, resumed)
  }

  /// Drops what was read and is in no queue yet.
  ///
  /// - Returns: what was dropped; nil if the reading is not over.
  mutating func discard(_ tombstone: Tombstone) -> [RecoveredEntry] {
    if case .opening = phase {
      tombstones.append(tombstone)
    } else if merges > 0 {
      tombstones.append(tombstone)
    }
    let discarded = (unmerged + parked).filter { tombstone.isMeant($0.entry) }
    unmerged.removeAll { tombstone.isMeant($0.entry) }
    parked.removeAll { tombstone.isMeant($0.entry) }
    return discarded
  }
}

// MARK: Dead letters

extension DurableStoreState {
  /// Keeps the commands that were given up on.
  mutating func keepDeadLetters(_ writes: [DurableWrite]) {
    for write in writes {
      if case .dead(_, let death) = write.record, let entry = write.state?.entry {
        let attempts = write.state?.attempts ?? 0
        if let letter = DeadLetter(
          RecoveredEntry(entry: entry, attempts: UInt32(attempts), death: death))
        {
          deadLetters.append(letter)
        }
      }
    }
  }

  /// The oldest dead letters beyond the limit.
  mutating func takeTooManyDeadLetters(limit: Int) -> [DeadLetter] {
    guard deadLetters.count > limit else { return [] }
    let dropped = deadLetters.prefix(deadLetters.count - limit)
    deadLetters.removeFirst(dropped.count)
    return Array(dropped)
  }
}
