// SPDX-License-Identifier: MIT

/// The settings of a relay: its queues' limits, its clock and when it replays.
public struct RelayConfiguration: Sendable {
  /// When `register` and the opening of a gate deliver what waits.
  public enum Replay: Sendable {
    /// In a later turn of the main actor, so that a view update is never re-entered.
    case nextTurn
    /// Before the call returns, where the caller is on the main actor: for tests.
    case immediate
  }

  /// How many commands may wait in each feature's queue.
  public let limit: Int
  /// How long a command may wait.
  public let timeToLive: TimeToLive
  /// What happens when a queue is full.
  public let overflow: OverflowRule
  /// What happens when a handler throws.
  public let retry: RetryPolicy
  /// How many commands of the relay may be on their way to the main actor.
  public let transitLimit: Int
  /// How many events a consumer may be behind before the oldest are dropped for it.
  public let eventBuffer: Int
  /// When what waits is delivered to a new handler.
  public package(set) var replay: Replay
  /// What the time is, and how to be woken up.
  public package(set) var clock: RelayClock
  /// Where the jitter of delays starts from; nil for another start each time.
  public package(set) var seed: UInt64?
  /// How handlers are held whose registration does not say it: strongly for a test's mocks, which
  /// nobody else keeps.
  package var ownership = HandlerOwnership.weak
  /// What the kit for tests keeps with the relay.
  package var attachment: (any AnyObject & Sendable)?
  /// Boxed: few relays have settings of their own here.
  private let durableBox: DurableBox?

  private final class DurableBox: Sendable {
    let settings: DurableConfiguration
    init(_ settings: DurableConfiguration) { self.settings = settings }
  }

  /// The settings of durable commands.
  public var durable: DurableConfiguration { durableBox?.settings ?? .standard }

  /// 100 commands and 300 seconds, the oldest goes first; replay in a later turn.
  public static let standard = RelayConfiguration()

  private init() {
    limit = 100
    timeToLive = .seconds(300)
    overflow = .dropOldest
    retry = .drop
    transitLimit = 65_536
    eventBuffer = 1_024
    replay = .nextTurn
    clock = .continuous
    seed = nil
    durableBox = nil
  }

  /// Makes settings; what is left out is as in ``standard``.
  ///
  /// - Parameters:
  ///   - limit: how many commands may wait in each feature's queue; at least 1.
  ///   - timeToLive: how long a command may wait; above zero, or `.unlimited`.
  ///   - overflow: what happens when a queue is full.
  ///   - retry: what happens when a handler throws.
  ///   - transitLimit: how many commands may be on their way to the main actor; at least 1.
  ///   - eventBuffer: how many events a consumer may be behind; at least 1.
  ///   - replay: when what waits is delivered to a new handler.
  ///   - clock: what the time is.
  ///   - seed: where the jitter of delays starts from; nil for another start each time.
  ///   - durable: the settings of durable commands.
  /// - Throws: ``ConfigurationError`` that names the field and its value.
  public init(
    limit: Int = 100, timeToLive: TimeToLive = .seconds(300), overflow: OverflowRule = .dropOldest,
    retry: RetryPolicy = .drop, transitLimit: Int = 65_536, eventBuffer: Int = 1_024,
    replay: Replay = .nextTurn, clock: RelayClock = .continuous,
    seed: UInt64? = nil, durable: DurableConfiguration = .standard
  ) throws(ConfigurationError) {
    let problem =
      ConfigurationError.check(limit: limit)
      ?? ConfigurationError.check(timeToLive: timeToLive)
      ?? ConfigurationError.check(limit: transitLimit, field: "transitLimit")
      ?? ConfigurationError.check(limit: eventBuffer, field: "eventBuffer")
    if let problem { throw problem }
    self.limit = limit
    self.timeToLive = timeToLive
    self.overflow = overflow
    self.retry = retry
    self.transitLimit = transitLimit
    self.eventBuffer = eventBuffer
    self.replay = replay
    self.clock = clock
    self.seed = seed
    durableBox = durable == .standard ? nil : DurableBox(durable)
  }
}
