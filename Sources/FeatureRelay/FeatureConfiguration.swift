// SPDX-License-Identifier: MIT

/// The settings of one feature in one relay; what is nil follows the relay's.
public struct FeatureConfiguration: Sendable, Hashable {
  /// How many commands may wait in the feature's queue.
  public let limit: Int?
  /// How long a command may wait.
  public let timeToLive: TimeToLive?
  /// What happens when the queue is full.
  public let overflow: OverflowRule?
  /// What happens when a handler throws.
  public let retry: RetryPolicy?
  /// Whether commands of the feature are delivered although the relay's gate is closed.
  public let ignoresRelayGate: Bool
  /// The settings of the feature's durable commands, for which the ones above do not count.
  public let durable: Durable

  /// The settings of one feature's durable commands; what is nil follows the relay's
  /// ``RelayConfiguration/durable``.
  ///
  /// They stand apart: a short time to live that is meant for toasts must not end a receipt.
  public struct Durable: Sendable, Hashable {
    /// How many commands may wait in the feature's queue for a durable one to join them.
    public let limit: Int?
    /// How long a durable command may wait.
    public let timeToLive: TimeToLive?
    /// What happens to a durable command when the queue is full.
    public let overflow: OverflowRule?
    /// What happens when the handler of a durable command throws.
    public let retry: RetryPolicy?

    /// Follows the relay's settings in everything.
    public static let standard = Durable()

    private init() {
      limit = nil
      timeToLive = nil
      overflow = nil
      retry = nil
    }

    /// Makes settings for one feature's durable commands.
    ///
    /// - Parameters:
    ///   - limit: how many commands may wait for a durable one to join them; at least 1.
    ///   - timeToLive: how long a durable command may wait; above zero, or `.unlimited`.
    ///   - overflow: what happens to one when the queue is full.
    ///   - retry: what happens when a handler throws.
    /// - Throws: ``ConfigurationError`` that names the field and its value.
    public init(
      limit: Int? = nil, timeToLive: TimeToLive? = nil, overflow: OverflowRule? = nil,
      retry: RetryPolicy? = nil
    ) throws(ConfigurationError) {
      try ConfigurationError.require(limit: limit, timeToLive: timeToLive)
      self.limit = limit
      self.timeToLive = timeToLive
      self.overflow = overflow
      self.retry = retry
    }
  }

  /// Makes settings for one feature.
  ///
  /// - Parameters:
  ///   - limit: how many commands may wait; at least 1.
  ///   - timeToLive: how long a command may wait; above zero, or `.unlimited`.
  ///   - overflow: what happens when the queue is full.
  ///   - retry: what happens when a handler throws.
  ///   - ignoresRelayGate: true for features such as analytics that need no visible app.
  ///   - durable: the settings of the feature's durable commands.
  /// - Throws: ``ConfigurationError`` that names the field and its value.
  public init(
    limit: Int? = nil, timeToLive: TimeToLive? = nil, overflow: OverflowRule? = nil,
    retry: RetryPolicy? = nil, ignoresRelayGate: Bool = false, durable: Durable = .standard
  ) throws(ConfigurationError) {
    try ConfigurationError.require(limit: limit, timeToLive: timeToLive)
    self.limit = limit
    self.timeToLive = timeToLive
    self.overflow = overflow
    self.retry = retry
    self.ignoresRelayGate = ignoresRelayGate
    self.durable = durable
  }
}
