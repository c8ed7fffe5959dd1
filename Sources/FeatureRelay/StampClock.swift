// SPDX-License-Identifier: MIT

/// The time at which a command is accepted, for a third of what the exact clock costs: it lags
/// behind that by less than a tick of the system.
///
/// The cheap clock stands still while the system sleeps. The wall clock does not, so that the
/// distance of the two changes with each sleep, and whenever somebody sets the clock: then the
/// exact clock is asked again. Only where a tick is little: for commands that may wait for
/// ``leastTimeToLive`` or longer.
struct StampClock {
  /// Two cheap clocks, read one after the other: nothing of anybody's own runs.
  struct Reading {
    let coarse: Int64
    let wall: Int64

    @inline(__always)
    static var now: Reading {
      Reading(coarse: Platform.coarseNanoseconds, wall: Platform.coarseWallNanoseconds)
    }
  }

  /// In nanoseconds; a thousand times what the stamp may be wrong by.
  static let leastTimeToLive: Int64 = 10_000_000_000

  /// What the exact clock would have said at the last tick before it was read.
  private var exact: Int64 = 0
  private var coarse: Int64 = 0
  private var distance = Int64.min

  /// The time in nanoseconds.
  @inline(__always)
  mutating func time(_ reading: Reading) -> Int64 {
    if reading.wall &- reading.coarse != distance { anchor(reading) }
    return exact &+ (reading.coarse &- coarse)
  }

  @inline(never)
  private mutating func anchor(_ reading: Reading) {
    let lag = max(0, Platform.tickingNanoseconds &- reading.coarse)
    exact = Platform.continuousNanoseconds &- lag
    coarse = reading.coarse
    distance = reading.wall &- reading.coarse
  }
}
