// SPDX-License-Identifier: MIT

/// The settings of a relay's durable commands: what their types' policies leave open, and bounds.
public struct DurableConfiguration: Sendable, Hashable {
  /// How many commands may wait in each feature's queue for a durable one to join them.
  public let limit: Int
  /// How long a durable command may wait.
  public let timeToLive: TimeToLive
  /// What happens when a queue is full.
  public let overflow: OverflowRule
  /// What happens when a handler throws.
  public let retry: RetryPolicy
  /// After so many attempts that started and never ended a command becomes a dead letter.
  public let attemptsWithoutEnd: Int
  /// How many dead letters are kept; the oldest goes.
  public let deadLetters: Int
  /// For how long records wait in order for a disk that hangs before commands count as in memory
  /// only.
  public let stallLimit: Duration

  /// 10,000 commands without a time to live, a full queue refuses the newcomer, a failed attempt
  /// gives way; 3 attempts without an end, 1,000 dead letters, 10 seconds.
  public static let standard = DurableConfiguration()

  private init() {
    limit = 10_000
    timeToLive = .unlimited
    overflow = .dropNewest
    retry = .later(.exponential())
    attemptsWithoutEnd = 3
    deadLetters = 1_000
    stallLimit = .seconds(10)
  }

  /// Makes settings; what is left out is as in ``standard``.
  ///
  /// - Parameters:
  ///   - limit: how many commands may wait in each feature's queue; at least 1.
  ///   - timeToLive: how long a durable command may wait; above zero, or `.unlimited`.
  ///   - overflow: what happens when a queue is full.
  ///   - retry: what happens when a handler throws.
  ///   - attemptsWithoutEnd: how many attempts may start without ever ending; at least 1.
  ///   - deadLetters: how many dead letters are kept; at least 1.
  ///   - stallLimit: how long records wait for a disk that hangs; above zero.
  /// - Throws: ``ConfigurationError`` that names the field and its value.
  public init(
    limit: Int = 10_000, timeToLive: TimeToLive = .unlimited,
    overflow: OverflowRule = .dropNewest, retry: RetryPolicy = .later(.exponential()),
    attemptsWithoutEnd: Int = 3, deadLetters: Int = 1_000, stallLimit: Duration = .seconds(10)
  ) throws(ConfigurationError) {
    let problem =
      ConfigurationError.check(limit: limit)
      ?? ConfigurationError.check(timeToLive: timeToLive)
      ?? ConfigurationError.check(limit: attemptsWithoutEnd, field: "attemptsWithoutEnd")
      ?? ConfigurationError.check(limit: deadLetters, field: "deadLetters")
      ?? ConfigurationError.check(stallLimit: stallLimit)
    if let problem { throw problem }
    self.limit = limit
    self.timeToLive = timeToLive
    self.overflow = overflow
    self.retry = retry
    self.attemptsWithoutEnd = attemptsWithoutEnd
    self.deadLetters = deadLetters
    self.stallLimit = stallLimit
  }
}

extension ConfigurationError {
  static func check(stallLimit: Duration) -> ConfigurationError? {
    guard stallLimit <= .zero else { return nil }
    return ConfigurationError(
      field: "stallLimit", value: stallLimit, requirement: "it has to be above zero")
  }
}
