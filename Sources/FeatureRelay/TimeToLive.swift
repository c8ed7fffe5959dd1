// SPDX-License-Identifier: MIT

/// How long a command may wait.
public enum TimeToLive: Hashable, Sendable, Codable, CustomStringConvertible {
  /// It waits for as long as it takes.
  case unlimited
  /// It is dropped once it has waited for this long: at an age of exactly this duration it has
  /// expired.
  case limited(Duration)

  /// A limit in whole seconds.
  public static func seconds(_ seconds: Int) -> TimeToLive { .limited(.seconds(seconds)) }
  /// A limit in milliseconds.
  public static func milliseconds(_ milliseconds: Int) -> TimeToLive {
    .limited(.milliseconds(milliseconds))
  }

  /// The duration, or *unlimited*.
  public var description: String {
    switch self {
    case .unlimited: "unlimited"
    case .limited(let duration): "\(duration)"
    }
  }

  /// In nanoseconds; `Int64.max` without a limit.
  var nanoseconds: Int64 {
    switch self {
    case .unlimited: .max
    case .limited(let duration): duration.nanoseconds
    }
  }
}

/// Which command goes when a queue is full.
public enum OverflowRule: UInt8, Sendable, Codable, CaseIterable {
  /// The oldest of the lowest priority makes room; a newcomer below everything that waits is
  /// refused instead.
  case dropOldest
  /// The newcomer is refused.
  case dropNewest
}
