// SPDX-License-Identifier: MIT

/// The time at which a command is accepted, for a fifth of what the exact clock costs: it lags
/// behind that by less than a tick of the system.
///
/// The cheap clock stands still while the system sleeps. The wall clock does not, so that the
/// distance of the two changes with each sleep, and whenever somebody sets the clock: then the
/// exact clock is asked again. Within one tick there was no sleep, since the cheap clock is brought
/// up to date before one: then the wall clock need not be asked. Only where a tick is little: for
/// commands that may wait for ``leastTimeToLive`` or longer.
struct StampClock {
  /// Two cheap clocks, read one after the other: nothing of anybody's own runs.
  struct Reading {
    let coarse: Int64
    let wall: Int64

    static var now: Reading {
      Reading(coarse: Platform.coarseNanoseconds, wall: Platform.coarseWallNanoseconds)
    }
  }

  /// In nanoseconds; a thousand times what the stamp may be wrong by.
  static let leastTimeToLive: Int64 = 10_000_000_000

  /// What the exact clock would have said at the last tick that was looked at.
  private var exact: Int64 = 0
  /// What the cheap one said.
  private var coarse: Int64 = 0
  private var distance = Int64.min

  /// The time in nanoseconds.
  ///
  /// - Parameters:
  ///   - coarse: what the cheap clock has just said.
  ///   - read: both clocks; only asked at another tick.
  @inline(__always)
  mutating func time(_ coarse: Int64, _ read: () -> Reading = { .now }) -> Int64 {
    if coarse != self.coarse { follow(read()) }
    return exact
  }

  @inline(never)
  private mutating func follow(_ reading: Reading) {
    if reading.wall &- reading.coarse != distance { return anchor(reading) }
    exact &+= reading.coarse &- coarse
    coarse = reading.coarse
  }

  private mutating func anchor(_ reading: Reading) {
    let lag = max(0, Platform.tickingNanoseconds &- reading.coarse)
    exact = Platform.continuousNanoseconds &- lag
    coarse = reading.coarse
    distance = reading.wall &- reading.coarse
  }
}
