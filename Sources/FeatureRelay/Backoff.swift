// SPDX-License-Identifier: MIT

/// How long to wait between two attempts.
///
/// The exponential form doubles the delay up to a cap. Jitter takes the delay from between half of
/// it and all of it ("equal jitter"), so that many clients do not come back at the same moment.
public struct Backoff: Hashable, Sendable, Codable {
  let base: Duration
  let factor: Double
  let cap: Duration
  let isJittered: Bool
  /// Attempts in all, the first one included; nil without a limit.
  let attempts: Int?

  /// The same delay each time.
  ///
  /// - Parameters:
  ///   - delay: the time between two attempts; below zero counts as zero, and at least a
  ///     millisecond where the number of attempts has no limit.
  ///   - attempts: attempts in all, the first one included; at least 1; nil without a limit.
  public static func constant(_ delay: Duration, attempts: Int? = 5) -> Backoff {
    let delay = max(delay, attempts == nil ? .milliseconds(1) : .zero)
    return Backoff(
      base: delay, factor: 1, cap: delay, isJittered: false, attempts: attempts.map { max($0, 1) })
  }

  /// A delay that doubles with each attempt.
  ///
  /// - Parameters:
  ///   - base: the delay after the first attempt.
  ///   - cap: the longest delay.
  ///   - jitter: whether delays are spread out.
  ///   - attempts: attempts in all, the first one included; at least 1; nil without a limit.
  public static func exponential(
    base: Duration = .seconds(1), cap: Duration = .seconds(60), jitter: Bool = true,
    attempts: Int? = 5
  ) -> Backoff {
    let shortest: Duration = attempts == nil ? .milliseconds(1) : .zero
    return Backoff(
      base: max(base, shortest), factor: 2, cap: max(cap, shortest), isJittered: jitter,
      attempts: attempts.map { max($0, 1) })
  }

  /// The delay after the given attempt (1 is the first), in nanoseconds; nil when there is no
  /// further one.
  ///
  /// - Parameter random: a number from 0 up to 1, for the jitter.
  func delay(afterAttempt attempt: Int, random: Double) -> Int64? {
    if let attempts, attempt >= attempts { return nil }
    let longest = cap.nanoseconds
    var delay = Double(base.nanoseconds)
    var doublings = 1
    while doublings < attempt, delay > 0, delay < Double(longest) {
      delay *= factor
      doublings += 1
    }
    // Compared as floating point first: an Int64 holds neither a doubled maximum nor its rounding.
    let full = delay < Double(longest) ? Int64(delay) : longest
    guard isJittered else { return full }
    let half = full / 2
    return half + min(Int64(Double(full - half) * random), full - half)
  }
}

/// What happens to a command whose handler threw.
public enum RetryPolicy: Hashable, Sendable, Codable {
  /// It ends, dropped as failed. The default of commands in memory.
  case drop
  /// It gives way: what waits goes on, and it comes back to the end of its priority after the
  /// delay.
  case later(Backoff)
  /// It holds its place: what waits behind it in its priority and below waits for it.
  case inPlace(Backoff)

  var backoff: Backoff? {
    switch self {
    case .drop: nil
    case .later(let backoff), .inPlace(let backoff): backoff
    }
  }
}

/// A handler's word on whether an error is worth a further attempt.
///
/// An error without this word follows the command's ``RetryPolicy``.
public protocol RetryAdvising: Error {
  /// False: the command is dropped at once, whatever its policy says.
  var isTransient: Bool { get }
}
