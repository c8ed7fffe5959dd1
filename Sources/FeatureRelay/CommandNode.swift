// SPDX-License-Identifier: MIT

/// One command in a slot's slab. 104 bytes; whatever most commands do not have stands in
/// ``details``.
struct CommandNode {
  enum State: UInt8 {
    case free
    /// In the list of its priority.
    case ready
    /// Gave way after a failure and comes back when it is due.
    case delayed
    case running
  }

  static let none = UInt32.max

  /// Taken out while the command runs, and put back when it is to be tried again.
  var work: UnmanagedWork?
  /// How it is run.
  var runner = WorkRunner()
  var details: CommandDetails?
  var sequence: UInt64 = 0
  var acceptedAt: Int64 = 0
  var deadline: Int64 = .max
  /// Neighbours in the list of its priority; `next` also chains free nodes.
  var previous = none
  var next = none
  /// Neighbours among commands with the default time to live, whose deadlines only grow.
  var previousToExpire = none
  var nextToExpire = none
  /// Place in the heap of wake-ups.
  var heapIndex = none
  /// Which tags it has (``TagIndex``).
  var tags = TagIndex.none
  var attempt: UInt16 = 0
  var priority = CommandPriority.normal
  var state = State.free
  var expiresInOrder = false
  var isAsync = false
  /// Accepted from elsewhere while it could be delivered.
  var isInTransit = false
  var isConcurrent = false

  /// Where it stands among commands of its priority.
  var order: Int64 { details?.order ?? Int64(bitPattern: sequence) }
}

/// What only some commands have.
final class CommandDetails {
  var uniqueness: Uniqueness?
  var retry: RetryPolicy?
  var executionLimit: Int64?
  /// The place of the command whose place it took; below zero for what was restored.
  var order: Int64?
  /// Not before this time, after a failure.
  var notBefore: Int64 = 0
  /// When a running command has run for too long.
  var runsUntil: Int64 = .max
  /// What a durable command has beside all this.
  var durable: DurableState?

  init(uniqueness: Uniqueness?, retry: RetryPolicy?, executionLimit: Int64?) {
    self.uniqueness = uniqueness
    self.retry = retry
    self.executionLimit = executionLimit
  }
}
