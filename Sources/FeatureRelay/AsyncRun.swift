// SPDX-License-Identifier: MIT

/// One attempt of an asynchronous command: its task, and the lanes that it holds.
final class AsyncRun: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  let ticket: SlotState.Ticket
  let work: UnmanagedWork
  /// Whether the next command may start once this one has.
  let isConcurrent: Bool
  /// Whose handler runs it, where that is an ancestor's slot.
  let lender: SlotStorage?
  /// What a durable command's handler can know of it.
  let context: DurableContext?
  /// Safe: only the main actor touches it.
  nonisolated(unsafe) var holdsLanes = true
  private let state = Lock(State())

  var id: CommandID { ticket.id }
  /// Whether it was asked to stop.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  init(
    ticket: SlotState.Ticket, work: UnmanagedWork, isConcurrent: Bool, lender: SlotStorage?,
    context: DurableContext? = nil
  ) {
    self.ticket = ticket
    self.work = work
    self.isConcurrent = isConcurrent
    self.lender = lender
    self.context = context
  }

  func set(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  func cancel() {
    // Cancellation handlers are foreign code: outside the lock.
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }
}

/// Which command the current task belongs to, so that it does not wait for itself.
@usableFromInline
final class RunContext: Sendable {
  @TaskLocal static var current: RunContext?

  let command: CommandID
  /// The slots whose lanes it holds: its own, and that of whose handler runs it.
  private let lane: ObjectIdentifier?
  private let lentLane: ObjectIdentifier?
  /// Who waits for it, where it is a request from inside another command.
  let caller: RunContext?
  private let state = Lock(true)

  /// Whether the command still runs; a task that outlives it waits for nobody.
  var isActive: Bool { state.withLock { $0 } }

  init(command: CommandID, lane: SlotStorage?, lentLane: SlotStorage?, caller: RunContext?) {
    self.command = command
    self.lane = lane.map { ObjectIdentifier($0) }
    self.lentLane = lentLane.map { ObjectIdentifier($0) }
    self.caller = caller
  }

  /// Whether it holds a slot's lane.
  func holdsLane(of slot: SlotStorage) -> Bool {
    let slot = ObjectIdentifier(slot)
    return lane == slot || lentLane == slot
  }

  /// Whether it holds any.
  var holdsLanes: Bool { lane != nil }

  func end() {
    state.withLock { $0 = false }
  }

  /// This context and those that wait for it, as far as they still run.
  var chain: [RunContext] {
    var chain: [RunContext] = []
    var next: RunContext? = self
    while let context = next {
      if context.isActive { chain.append(context) }
      next = context.caller
    }
    return chain
  }
}
