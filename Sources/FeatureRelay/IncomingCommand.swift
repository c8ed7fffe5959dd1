// SPDX-License-Identifier: MIT

/// A command on its way in: what the caller said, and what its type says.
struct IncomingCommand: ~Copyable {
  /// Taken out when the command is accepted.
  var work: UnmanagedWork?
  let type: any QueuedWork.Type
  var isAsync: Bool
  var priority: CommandPriority
  let tags: [CommandTag]
  /// Key, retry and the like; most commands have none.
  let details: CommandDetails?
  var timeToLive: Int64?
  var limit: Int?
  var overflow: OverflowRule?
  var isConcurrent: Bool
  /// A full queue makes the command's sender wait; nothing is evicted for it.
  var waitsForRoom = false

  init(
    _ work: UnmanagedWork, isAsync: Bool, priority: CommandPriority, tags: [CommandTag],
    timeToLive: Int64?, uniqueness: Uniqueness?, executionLimit: Int64? = nil,
    retry: RetryPolicy? = nil
  ) {
    self.work = work
    type = work.type
    self.isAsync = isAsync
    self.priority = priority
    self.tags = tags
    if uniqueness == nil, executionLimit == nil, retry == nil {
      details = nil
    } else {
      details = CommandDetails(
        uniqueness: uniqueness, retry: retry, executionLimit: executionLimit)
    }
    self.timeToLive = timeToLive
    isConcurrent = false
  }

  deinit { work?.destroy() }

  /// A command of its own type: what its sender left out follows its policy.
  init(
    _ work: UnmanagedWork, isAsync: Bool, policy: CommandPolicy, priority: CommandPriority?,
    tags: [CommandTag], timeToLive: TimeToLive?, unique: Uniqueness?,
    executionLimit: Duration? = nil
  ) {
    self.init(
      work, isAsync: isAsync, priority: priority ?? policy.priority, tags: tags,
      timeToLive: (timeToLive ?? policy.timeToLive)?.nanoseconds, uniqueness: unique,
      executionLimit: (executionLimit ?? policy.executionLimit)?.nanoseconds, retry: policy.retry)
    limit = policy.limit
    overflow = policy.overflow
    isConcurrent = isAsync && policy.lane == .concurrent
  }
}
