// SPDX-License-Identifier: MIT

internal import Synchronization

/// What a relay was sent, and what became of it: for the kit for tests. Unlike events it carries the
/// commands themselves, and it is exact at any moment: it is written under the slots' locks.
///
/// A relay has one at most, from the first time on that somebody asks for it; then every command
/// goes the longer way through the queue.
package final class CommandTape: Sendable {
  /// Where a command is in its life.
  package enum Status: Sendable, Hashable {
    case waiting
    case waitingForRetry(after: Duration)
    case running
    case delivered
    case dropped(DropReason)
    case refused(RefusalReason)
  }

  /// One command.
  package struct Entry: Sendable {
    /// Nil for what was refused.
    package let id: CommandID?
    package let feature: String
    /// Nil where the command was restored or its kind has none.
    package let content: CommandContent?
    package let priority: CommandPriority
    package let tags: [CommandTag]
    /// When it was dispatched, on the relay's clock.
    package let time: Duration
    /// The place of a restored command among all of its relay.
    fileprivate let restoredOrder: Int64?
    package fileprivate(set) var status: Status
    package fileprivate(set) var attempts = 0
    package fileprivate(set) var errors: [any Error] = []
  }

  private struct State {
    var entries: [Entry] = []
    var places: [CommandID: Int] = [:]
    /// How many were taken off the front.
    var removed = 0
  }

  private let state = Lock(State())

  init() {}

  /// How many there were, those that were removed included: the number of the next one.
  package var count: Int { state.withLock { $0.removed + $0.entries.count } }

  /// What came from the given number on, and the number of the first of them.
  package func entries(from number: Int) -> (entries: [Entry], first: Int) {
    var (entries, first) = state.withLock { state in
      (Array(state.entries.dropFirst(max(0, number - state.removed))), max(number, state.removed))
    }
    // Restored commands are taken in from the last one to the first.
    var start = 0
    while start < entries.count {
      let end = entries[start...].firstIndex { $0.restoredOrder == nil } ?? entries.count
      if end > start {
        entries[start..<end].sort { $0.restoredOrder ?? 0 < $1.restoredOrder ?? 0 }
      }
      start = end + 1
    }
    return (entries, first)
  }

  /// Lets go of everything.
  package func removeAll() {
    // Captures may run code when they go: not under the lock.
    let entries = state.withLock { state in
      defer {
        state.removed += state.entries.count
        state.entries = []
        state.places = [:]
      }
      return state.entries
    }
    withExtendedLifetime(entries) {}
  }

  private func append(_ entry: Entry) {
    state.withLock { state in
      if let id = entry.id { state.places[id] = state.entries.count }
      state.entries.append(entry)
    }
  }

  private func change(_ id: CommandID, _ body: (inout Entry) -> Void) {
    state.withLock { state in
      guard let place = state.places[id] else { return }
      body(&state.entries[place])
    }
  }
}

// MARK: Writing

// Under a slot's lock: in the order in which things happen there. What a command is may be copied,
// which runs nobody's code, and nothing is let go of.

extension CommandTape {
  func accepted(
    _ id: CommandID, _ node: UnsafeMutablePointer<CommandNode>, tags: [CommandTag],
    feature: String, at time: Int64
  ) {
    append(
      Entry(
        id: id, feature: feature, content: node.pointee.work?.content,
        priority: node.pointee.priority, tags: tags,
        time: .nanoseconds(time), restoredOrder: nil, status: .waiting))
  }

  func restored(
    _ id: CommandID, _ node: UnsafeMutablePointer<CommandNode>, tags: [CommandTag],
    feature: String, at time: Int64
  ) {
    append(
      Entry(
        id: id, feature: feature, content: node.pointee.work?.content,
        priority: node.pointee.priority, tags: tags,
        time: .nanoseconds(time), restoredOrder: node.pointee.order, status: .waiting))
  }

  func refused(
    _ reason: RefusalReason, _ work: UnmanagedWork?, _ priority: CommandPriority,
    tags: [CommandTag], feature: String, at time: Int64
  ) {
    append(
      Entry(
        id: nil, feature: feature, content: work?.content, priority: priority,
        tags: tags, time: .nanoseconds(time), restoredOrder: nil,
        status: .refused(reason)))
  }

  func started(_ id: CommandID, attempt: Int) {
    change(id) { entry in
      entry.status = .running
      entry.attempts = attempt
    }
  }

  func failed(_ id: CommandID, _ error: any Error) { change(id) { $0.errors.append(error) } }

  func willRetry(_ id: CommandID, after delay: Duration) {
    change(id) { $0.status = .waitingForRetry(after: delay) }
  }

  func ended(_ id: CommandID, _ reason: DropReason?) {
    change(id) { $0.status = reason.map { .dropped($0) } ?? .delivered }
  }
}

extension Relay {
  /// The relay's tape, which starts now unless it has started already.
  package func startTape() -> CommandTape {
    let tape = core.tape.start()
    core.audienceChanged()
    return tape
  }
}

/// Where a relay has its tape, if it has one.
///
/// Safe: the tape is kept from the first time on that it is asked for until the place goes.
struct CommandTapePlace: ~Copyable {
  private let tape = Atomic<Unmanaged<CommandTape>?>(nil)

  deinit { tape.load(ordering: .acquiring)?.release() }

  var current: CommandTape? { tape.load(ordering: .acquiring)?.takeUnretainedValue() }

  borrowing func start() -> CommandTape {
    if let current { return current }
    let new = Unmanaged.passRetained(CommandTape())
    let first = tape.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing)
    if first.exchanged { return new.takeUnretainedValue() }
    new.release()
    return first.original!.takeUnretainedValue()
  }
}
