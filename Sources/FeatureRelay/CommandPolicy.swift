// SPDX-License-Identifier: MIT

/// What belongs to a type of command: how it is queued, limited and retried.
///
/// What is nil follows the feature's settings, then the relay's.
///
/// ```swift
/// static let policy = CommandPolicy(priority: .high, retry: .inPlace(.exponential()))
/// ```
public struct CommandPolicy: Hashable, Sendable {
  /// Whether a command keeps others of its feature waiting while it runs.
  public enum Lane: UInt8, Sendable {
    /// One command at a time.
    case exclusive
    /// An asynchronous command lets the next one start as soon as it has started itself.
    case concurrent
  }

  /// The priority of commands of this type.
  public var priority: CommandPriority
  /// How long a command of this type may wait.
  public var timeToLive: TimeToLive?
  /// How many commands may wait in a queue for one of this type to join them.
  public var limit: Int?
  /// What happens when there are as many.
  public var overflow: OverflowRule?
  /// What happens when the handler throws.
  public var retry: RetryPolicy?
  /// How long an asynchronous command of this type may run.
  public var executionLimit: Duration?
  /// Whether commands of this type take the lane.
  public var lane: Lane

  /// Follows the settings of feature and relay in everything.
  public static let standard = CommandPolicy()

  /// Makes a policy from constants in the source; what makes no sense traps with a sentence.
  ///
  /// - Parameters:
  ///   - priority: the priority of commands of this type.
  ///   - timeToLive: how long one may wait; above zero.
  ///   - limit: how many commands may wait for one of this type to join them; at least 1.
  ///   - overflow: what happens when there are as many.
  ///   - retry: what happens when the handler throws.
  ///   - executionLimit: how long an asynchronous one may run; above zero.
  ///   - lane: whether it takes the lane.
  public init(
    priority: CommandPriority = .normal, timeToLive: TimeToLive? = nil, limit: Int? = nil,
    overflow: OverflowRule? = nil, retry: RetryPolicy? = nil, executionLimit: Duration? = nil,
    lane: Lane = .exclusive
  ) {
    self.priority = priority
    self.timeToLive = timeToLive
    self.limit = limit
    self.overflow = overflow
    self.retry = retry
    self.executionLimit = executionLimit
    self.lane = lane
    if let error = problem {
      mistake("CommandPolicy: \(error)")
    }
  }

  /// Makes a policy from values that come from outside the source.
  ///
  /// - Throws: ``ConfigurationError`` that names the field and its value.
  public init(
    validating priority: CommandPriority, timeToLive: TimeToLive? = nil, limit: Int? = nil,
    overflow: OverflowRule? = nil, retry: RetryPolicy? = nil, executionLimit: Duration? = nil,
    lane: Lane = .exclusive
  ) throws(ConfigurationError) {
    self.priority = priority
    self.timeToLive = timeToLive
    self.limit = limit
    self.overflow = overflow
    self.retry = retry
    self.executionLimit = executionLimit
    self.lane = lane
    if let error = problem { throw error }
  }

  private var problem: ConfigurationError? {
    ConfigurationError.check(limit: limit)
      ?? ConfigurationError.check(timeToLive: timeToLive)
      ?? ConfigurationError.check(executionLimit: executionLimit)
  }
}
