// SPDX-License-Identifier: MIT

/// What the time is, and how to be woken up later: the continuous clock, or one that a test moves
/// by hand.
///
/// Times are durations since an origin of the clock's own. The time has to go on while the system
/// sleeps.
public struct RelayClock: Sendable {
  /// A clock of somebody's own; one reference, since the hot path carries it about.
  private final class Custom: Sendable {
    let now: @Sendable () -> Duration
    let coarse: @Sendable () -> Duration
    let wall: (@Sendable () -> Duration)?
    let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    init(
      now: @escaping @Sendable () -> Duration, coarse: @escaping @Sendable () -> Duration,
      wall: (@Sendable () -> Duration)?,
      schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
      self.now = now
      self.coarse = coarse
      self.wall = wall
      self.schedule = schedule
    }
  }

  private let custom: Custom?

  /// The system's continuous clock; wake-ups come from a background queue.
  public static let continuous = RelayClock(custom: nil)

  private init(custom: Custom?) {
    self.custom = custom
  }

  /// Makes a clock.
  ///
  /// - Parameters:
  ///   - now: the time since the clock's origin; never goes back.
  ///   - coarse: a cheaper time that may lag behind and may stand still while the system sleeps. It
  ///     is only used to rule out, within one run of deliveries, that a command has expired.
  ///   - wall: the time since 1 January 1970, which people set and which may jump: it carries the
  ///     ages of durable commands over a relaunch. The system's by default.
  ///   - schedule: runs an action once the given time has come, on any thread. Not inside this
  ///     call.
  public init(
    now: @escaping @Sendable () -> Duration,
    coarse: (@Sendable () -> Duration)? = nil,
    wall: (@Sendable () -> Duration)? = nil,
    schedule:
      @escaping @Sendable (_ time: Duration, _ action: @escaping @Sendable () -> Void) ->
      Void
  ) {
    custom = Custom(now: now, coarse: coarse ?? now, wall: wall, schedule: schedule)
  }

  /// Whether it is the system's.
  var isSystem: Bool { custom == nil }

  /// The exact time in nanoseconds.
  @inline(__always)
  var now: Int64 {
    if let custom { custom.now().nanoseconds } else { Platform.continuousNanoseconds }
  }

  /// A time that may lag, in nanoseconds of its own.
  @inline(__always)
  var coarse: Int64 {
    if let custom { custom.coarse().nanoseconds } else { Platform.coarseNanoseconds }
  }

  /// The wall clock, in milliseconds since 1970.
  var wallMilliseconds: Int64 {
    if let wall = custom?.wall { return wall().nanoseconds / 1_000_000 }
    return Platform.wallNanoseconds / 1_000_000
  }

  /// By how much the coarse time may lag behind within one run, in nanoseconds.
  var coarseTolerance: Int64 { custom == nil ? Platform.coarseTolerance : 0 }

  func schedule(at time: Int64, _ action: @escaping @Sendable () -> Void) {
    if let custom {
      custom.schedule(.nanoseconds(time), action)
    } else {
      Platform.schedule(afterNanoseconds: max(0, time - now), action)
    }
  }
}

extension Duration {
  /// In nanoseconds, held at the largest number of them.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carry ? (seconds < 0 ? .min : .max) : sum
  }
}

extension Int64 {
  /// The sum, held at the largest number: a deadline that far away never comes.
  func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
