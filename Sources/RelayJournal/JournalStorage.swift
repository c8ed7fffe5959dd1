// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Synchronization

/// Gives the right to write to one thread at a time, and lets it write for the others.
///
/// The right is a flag, not a lock: no lock is held while the disk works. A thread that finds it
/// taken adds what it wants to a queue; whoever has the right empties the queue before giving it
/// back. Callbacks run after it was given back, so that they may use the journal again.
final class JournalStorage: Sendable {
  /// What waits for the right to write.
  enum Item {
    case records([JournalRecord], JournalTicket)
    case work(@Sendable (JournalWriter) -> Void, DispatchSemaphore)
  }

  struct State {
    /// Whether some thread has the right. If not, the queue is empty.
    var isWriting = false
    var queue: [Item] = []
    var queuedBytes = 0
    var isBehind = false
    var statistics = JournalStatistics()
    var isSyncing = false
    var syncGroups: SyncGroups
    /// The sync waits for others to come; they wake it up when enough are there.
    var isGathering = false
    var syncWaiters: [@Sendable (JournalError?) -> Void] = []
    var isMaintaining = false
    var maintenanceWaiters: [DispatchSemaphore] = []
  }

  /// Safe: only the thread that has set `isWriting` touches it, and the lock around that flag
  /// orders one holder's accesses before the next one's. The thread sanitizer over the
  /// concurrency tests would notice a second one.
  nonisolated(unsafe) private let writer: JournalWriterBox
  let state: Lock<State>
  let gathered = DispatchSemaphore(value: 0)
  let options: JournalOptions
  private let nextIdentifier: Atomic<UInt64>
  let run: UInt64

  init(_ writer: JournalWriter, _ options: JournalOptions) {
    self.writer = JournalWriterBox(writer)
    self.options = options
    run = writer.index.highestRun &+ 1
    nextIdentifier = Atomic(writer.index.nextIdentifier)
    var state = State(
      syncGroups: SyncGroups(longestWait: options.gatheringLimit.nanoseconds))
    state.statistics = writer.statistics
    self.state = Lock(state)
  }

  deinit { writer.writer.close() }

  func makeIdentifier() -> UInt64 {
    if let makeIdentifier = options.makeIdentifier { return makeIdentifier() }
    return nextIdentifier.wrappingAdd(1, ordering: .relaxed).oldValue
  }

  /// Others have given out identifiers below this one.
  func raiseIdentifier(to least: UInt64) {
    _ = nextIdentifier.max(least, ordering: .relaxed)
  }

  var isStalled: Bool { state.withLock { $0.isBehind } }
  var statistics: JournalStatistics { state.withLock { $0.statistics } }
}

/// Lets the writer be replaced when a suspended journal is resumed.
final class JournalWriterBox {
  @exclusivity(unchecked) var writer: JournalWriter

  init(_ writer: JournalWriter) {
    self.writer = writer
  }
}

// MARK: - Appending

extension JournalStorage {
  func append(_ record: JournalRecord, _ limit: Duration?) -> JournalWrite {
    guard takeRight() else { return handOver([record], limit) }
    var failure = writer.writer.refusal(CollectionOfOne(record))
    if failure == nil {
      do throws(JournalError) { try writer.writer.append(record) } catch { failure = error }
    }
    giveBack()
    return failure.map(JournalWrite.failed) ?? .written
  }

  func append(_ records: [JournalRecord], _ limit: Duration?) -> JournalWrite {
    if records.isEmpty { return .written }
    guard takeRight() else { return handOver(records, limit) }
    let failure = write(records)
    giveBack()
    return failure.map(JournalWrite.failed) ?? .written
  }

  func post(_ records: [JournalRecord]) -> JournalTicket {
    let ticket = JournalTicket()
    let size = JournalStorage.size(records)
    let (isTaken, starts) = state.withLock { state -> (Bool, Bool) in
      guard state.queuedBytes + size <= options.behindLimit else { return (false, false) }
      state.queue.append(.records(records, ticket))
      state.queuedBytes += size
      defer { state.isWriting = true }
      return (true, !state.isWriting)
    }
    if !isTaken {
      for body in ticket.finish(JournalError(.behind, operation: "append")) { body() }
    }
    if starts { options.schedule { self.giveBack() } }
    return ticket
  }

  private func handOver(_ records: [JournalRecord], _ limit: Duration?) -> JournalWrite {
    enum Way {
      case mine, refused, waits, behind
    }
    let ticket = JournalTicket()
    let size = JournalStorage.size(records)
    let way = state.withLock { state -> Way in
      if !state.isWriting {
        state.isWriting = true
        return .mine
      }
      guard state.queuedBytes + size <= options.behindLimit else { return .refused }
      state.queue.append(.records(records, ticket))
      state.queuedBytes += size
      return state.isBehind ? .behind : .waits
    }
    switch way {
    case .mine:
      let failure = write(records)
      giveBack()
      return failure.map(JournalWrite.failed) ?? .written
    case .refused: return .failed(JournalError(.behind, operation: "append"))
    case .behind: return .behind(ticket)
    case .waits:
      if let result = ticket.wait(limit ?? options.waitLimit) {
        return result.map(JournalWrite.failed) ?? .written
      }
      let isNew = state.withLock { state in
        guard state.isWriting, !state.isBehind, !ticket.isFinished else { return false }
        state.isBehind = true
        return true
      }
      if isNew { options.onEvent(.stalled) }
      return .behind(ticket)
    }
  }

  private static func size(_ records: [JournalRecord]) -> Int {
    records.reduce(0) { size, record in
      switch record {
      case .accepted(let entry), .acceptedAndStarted(let entry): size + entry.payload.count + 128
      default: size + 32
      }
    }
  }

  private func write(_ records: [JournalRecord]) -> JournalError? {
    if let refusal = writer.writer.refusal(records) { return refusal }
    do throws(JournalError) {
      try writer.writer.append(records)
      return nil
    } catch {
      return error
    }
  }
}

// MARK: - The right to write

extension JournalStorage {
  @inline(__always)
  private func takeRight() -> Bool {
    state.withLock { state in
      if state.isWriting { return false }
      state.isWriting = true
      return true
    }
  }

  /// Writes what others want, then gives the right back; if there is much, another thread goes on.
  private func giveBack() {
    var callbacks: [() -> Void] = []
    var answered = false
    var rounds = 0
    while true {
      let events = writer.writer.events
      if !events.isEmpty {
        writer.writer.events = []
        callbacks.append { [options] in for event in events { options.onEvent(event) } }
      }
      let statistics = writer.writer.statistics
      let isWorthCompacting = writer.writer.isWorthCompacting
      var compacts = false
      let items = state.withLock { state -> [Item]? in
        state.statistics = statistics
        if state.queue.isEmpty {
          state.isWriting = false
          answered = state.isBehind
          state.isBehind = false
          if isWorthCompacting, !state.isMaintaining {
            state.isMaintaining = true
            compacts = true
          }
          return nil
        }
        if rounds == 4 { return [] }
        defer {
          state.queue = []
          state.queuedBytes = 0
        }
        return state.queue
      }
      guard let items else {
        if compacts { options.schedule { self.compactByItself() } }
        break
      }
      if items.isEmpty {
        options.schedule { self.giveBack() }
        break
      }
      drain(items, &callbacks)
      rounds += 1
    }
    for callback in callbacks { callback() }
    if answered { options.onEvent(.answered) }
  }

  /// Does what waited, in order; appends that follow each other go out in one write.
  private func drain(_ items: [Item], _ callbacks: inout [() -> Void]) {
    var records: [JournalRecord] = []
    var tickets: [JournalTicket] = []
    func flush() {
      guard !tickets.isEmpty else { return }
      let failure: JournalError?
      do throws(JournalError) {
        try writer.writer.append(records)
        failure = nil
      } catch {
        failure = error
      }
      for ticket in tickets { callbacks.append(contentsOf: ticket.finish(failure)) }
      records = []
      tickets = []
    }
    for item in items {
      switch item {
      case .records(let more, let ticket):
        if let refusal = writer.writer.refusal(more) {
          callbacks.append(contentsOf: ticket.finish(refusal))
          continue
        }
        records += more
        tickets.append(ticket)
        if records.count >= 1_024 { flush() }
      case .work(let work, let done):
        flush()
        work(writer.writer)
        done.signal()
      }
    }
    flush()
  }

  /// Does something with the right to write, after everything that was appended before; waits as
  /// long as it takes.
  func withWriter<Result: Sendable>(_ body: @escaping @Sendable (JournalWriter) -> Result) -> Result
  {
    let result = Lock<Result?>(nil)
    let done = DispatchSemaphore(value: 0)
    let isMine = state.withLock { state in
      if state.isWriting {
        state.queue.append(
          .work(
            { writer in
              let value = body(writer)
              result.withLock { $0 = value }
            }, done))
        return false
      }
      state.isWriting = true
      return true
    }
    if isMine {
      let value = body(writer.writer)
      giveBack()
      return value
    }
    done.wait()
    return result.withLock { $0! }
  }

  /// Puts another writer in the place of a suspended one; with the right to write.
  func replaceWriter(_ other: JournalWriter) { writer.writer = other }
}
