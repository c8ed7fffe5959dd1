// SPDX-License-Identifier: MIT

/// What the time is for a reactor, and how it is woken up later: the continuous clock, or one that
/// a test moves by hand.
///
/// Times are durations since an origin of the clock's own. The clock is asked when a policy holds
/// actions back, and never otherwise.
public struct ReactorClock: Sendable {
  let now: @Sendable () -> Duration
  let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  /// Makes a clock.
  ///
  /// - Parameters:
  ///   - now: the time since the clock's origin; never goes back.
  ///   - schedule: runs an action once the given time has come, on any thread. Not inside this
  ///     call.
  public init(
    now: @escaping @Sendable () -> Duration,
    schedule:
      @escaping @Sendable (_ time: Duration, _ action: @escaping @Sendable () -> Void) -> Void
  ) {
    self.now = now
    self.schedule = schedule
  }

  /// Makes a clock out of one of Swift's; a task sleeps for each wake-up.
  public init<C: Clock<Duration>>(_ clock: C) {
    let origin = clock.now
    self.init(now: { origin.duration(to: clock.now) }) { time, action in
      Task {
        try? await clock.sleep(until: origin.advanced(by: time), tolerance: nil)
        action()
      }
    }
  }

  /// The system's continuous clock, which goes on while the system sleeps.
  public static let continuous = ReactorClock(ContinuousClock())
}
