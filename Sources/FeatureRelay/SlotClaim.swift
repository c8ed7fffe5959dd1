// SPDX-License-Identifier: MIT

internal import Synchronization

// A drain takes the slot's lock once for many commands. The main actor starts one of them in the
// usual way and claims what stands behind it: copies what those do, and leaves everything else as
// it is. From then on it starts one after the other by an atomic addition to the claim's word,
// which ends the command before as well. Whoever else takes the lock reads that word first and
// makes up for what has happened meanwhile, so that the state is always as it would be without any
// of this; and withdraws the claim, so that the main actor, whose next addition finds that out,
// comes for the lock before it starts another one. A claim stands only while nobody looks and
// nothing depends on the time at which a command ends. A newcomer that only goes to the end of a
// list leaves it as it is.

extension SlotState {
  /// What one drain has claimed at the moment.
  struct Claim {
    /// How many commands, behind the one that runs; none when there is no claim.
    var count = 0
    /// Which command ran when it was made, or was started last when it was settled.
    var running: UInt32 = 0
    var priority = CommandPriority.normal
    /// Where the word is, while there is a claim.
    var word: UnsafePointer<Atomic<UInt>>?

    /// How many of the claimed commands have started.
    var started: Int { Int(word!.pointee.load(ordering: .acquiring) >> 1) }
  }

  /// Claims what stands behind a command that has just started.
  ///
  /// - Parameter list: receives what the commands do, in their order.
  mutating func claim(behind ticket: Ticket, _ list: inout RunList) {
    let node = queue.node(ticket.id.index)
    guard node.pointee.details == nil, !isObserved, !hasWatchers, roomWaiters.isEmpty else {
      return
    }
    let priority = node.pointee.priority
    queue.forEachReady(priority) { node in
      guard node.pointee.details == nil, !node.pointee.isAsync else { return false }
      return list.append(node.pointee.work!, node.pointee.runner)
    }
    guard list.count > 0 else { return }
    list.wake = queue.nextWake
    claim = Claim(
      count: list.count, running: ticket.id.index, priority: priority, word: list.makeWord())
  }

  /// Makes up for the commands of a claim that have started, and so for those that have ended, and
  /// withdraws it.
  ///
  /// - Parameter started: how many of the claimed ones have started.
  /// - Returns: how many commands have left the transit to the main actor.
  mutating func settleClaim(started: Int) -> Int {
    var leftTransit = 0
    let backlog = made
    if started > 0 {
      ends.append(queue.node(claim.running).pointee.sequence, nil)
      _ = queue.remove(claim.running)
      // What was claimed stands at the front: whatever would change that withdraws the claim
      // first.
      queue.removeFirst(started - 1, of: claim.priority) { node in
        backlog.pointee.ends.append(node.pointee.sequence, nil)
        if node.pointee.isInTransit { leftTransit += 1 }
      }
      counts.delivered += UInt64(started)
      guard let index = queue.first(of: claim.priority) else {
        preconditionFailure("FeatureRelay: a claimed command has gone.")
      }
      let node = queue.node(index)
      queue.start(index)
      node.pointee.work = nil
      node.pointee.attempt = 1
      if node.pointee.isInTransit {
        node.pointee.isInTransit = false
        leftTransit += 1
      }
      claim.running = index
    }
    claim.count = 0
    claim.word = nil
    return leftTransit
  }

  /// The command of the last claim that was started last, on its way to its end.
  func ticketOfClaim(_ type: any QueuedWork.Type) -> Ticket {
    Ticket(id: id(claim.running), attempt: 1, type: type, needsTimeAtEnd: false)
  }

  /// Whether a newcomer can be taken in while a claim stands: it goes to the end of its priority,
  /// and nothing else changes.
  func leavesClaim(_ command: borrowing IncomingCommand, at now: Int64) -> Bool {
    guard command.details == nil, command.priority <= claim.priority else { return false }
    let wake = queue.nextWake
    return wake > now && now.saturatingAdd(command.timeToLive ?? settings.timeToLive) >= wake
  }
}

extension SlotStorage {
  /// Looks at the state, or changes it, where nothing follows from that. Under the lock. What is in
  /// transit afterwards is what commands are.
  func withState<Result: Sendable>(_ body: (inout SlotState) -> Result) -> Result {
    var leftTransit = 0
    let result = lock.withLock { state in
      leftTransit = settleClaim(&state)
      if state.spareTransit > 0 {
        leftTransit += state.spareTransit
        state.spareTransit = 0
      }
      return body(&state)
    }
    if leftTransit > 0 { shared.transit.leave(leftTransit) }
    return result
  }

  /// Brings the state up to date, before anything else is done under the lock.
  @inline(__always)
  func settleClaim(_ state: inout SlotState) -> Int {
    state.claim.count == 0 ? 0 : settleStandingClaim(&state)
  }

  @inline(never)
  private func settleStandingClaim(_ state: inout SlotState) -> Int {
    // The word is there as long as the claim is: its drain settles it before it goes.
    let word = state.claim.word!.pointee.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
    return state.settleClaim(started: Int(word >> 1))
  }
}

extension RelayCore {
  /// Settles the claims of all slots, so that it is known what is in transit.
  func settleClaims() {
    for slot in slots { slot.withState { _ in } }
  }
}

/// What a drain runs without taking the lock for each command. On the main actor.
struct RunList: ~Copyable {
  static let most = 63

  /// Twice the number of commands that have started; bit 0 is set once the claim is withdrawn. In
  /// memory of its own, which only a drain has that claims something, and where it shares no cache
  /// line with what other threads read.
  private var word: UnsafeMutablePointer<Atomic<UInt>>?
  private var works: UnsafeMutablePointer<(work: UnmanagedWork, runner: WorkRunner)>?
  private(set) var count = 0
  /// How many of them have run, or run.
  private(set) var started = 0
  /// When something happens by itself: a command has become too old, or is due again.
  var wake = Int64.max
  /// How many are worth claiming: fewer when claims are withdrawn.
  private var capacity = 3

  deinit {
    works?.deallocate()
    word?.deinitialize(count: 1)
    word?.deallocate()
  }

  /// Begins another list. The former one may have been given up.
  mutating func removeAll() {
    capacity = started < count ? capacity >> 2 : min(2 * capacity + 1, Self.most)
    count = 0
    started = 0
  }

  /// Adds what a command does; false when the list is long enough.
  @inline(__always)
  mutating func append(_ work: UnmanagedWork, _ runner: WorkRunner) -> Bool {
    guard count < capacity else { return false }
    if works == nil { works = .allocate(capacity: Self.most) }
    (works! + count).initialize(to: (work, runner))
    count += 1
    return true
  }

  /// The word, set to say that none has started yet. Under the lock.
  mutating func makeWord() -> UnsafePointer<Atomic<UInt>> {
    if let word {
      word.pointee.store(0, ordering: .relaxed)
    } else {
      word = .allocate(capacity: 1)
      word!.initialize(to: Atomic(0))
    }
    return UnsafePointer(word!)
  }

  /// Starts the next command; nil when there is none left, or the claim was withdrawn.
  @inline(__always)
  mutating func startNext() -> UnsafeMutablePointer<(work: UnmanagedWork, runner: WorkRunner)>? {
    guard started < count,
      word!.pointee.add(2, ordering: .acquiringAndReleasing).oldValue & 1 == 0
    else { return nil }
    defer { started += 1 }
    return works! + started
  }
}
