// SPDX-License-Identifier: MIT

public import FeatureRelay

/// A wall clock that a test sets: the time since 1970, by which ages are known after a relaunch.
///
/// A ``ManualClock`` has one that goes with it; this one jumps as people make theirs jump.
public final class WallClock: Sendable {
  private let time: SeenMutex<Duration>

  /// Makes a clock that shows the given time.
  public init(_ time: Duration = .seconds(1_800_000_000)) {
    self.time = SeenMutex(time)
  }

  /// The time that it shows.
  public var now: Duration {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}

extension ManualClock {
  /// The clock in the form that a relay takes, with a wall clock that is set by itself.
  public func relayClock(wall: WallClock) -> RelayClock {
    RelayClock(now: { self.now }, wall: { wall.now }, schedule: { self.schedule(at: $0, $1) })
  }
}
