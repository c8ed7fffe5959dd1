// SPDX-License-Identifier: MIT

import Testing

@testable import FeatureRelay

/// A stamp costs less than the exact time and lags behind it by less than a tick.
@Suite
struct StampClockTests {
  @Test func aStampIsNeverAheadAndLagsByLessThanATick() {
    var stamps = StampClock()
    var last = Int64.min
    for _ in 0..<100_000 {
      let before = Platform.continuousNanoseconds
      let stamp = stamps.time(Platform.coarseNanoseconds)
      // Exact where it came from two clocks, read one after the other.
      #expect(stamp <= Platform.continuousNanoseconds)
      #expect(before - stamp <= Platform.coarseTolerance)
      #expect(stamp >= last)
      last = stamp
    }
  }

  @Test func itGoesOnWithTheCheapClock() {
    var stamps = StampClock()
    let now = StampClock.Reading.now
    let first = stamps.time(now)
    let later = StampClock.Reading(coarse: now.coarse + 4_000_000, wall: now.wall + 4_000_000)
    #expect(stamps.time(later) == first + 4_000_000)
    let last = StampClock.Reading(coarse: now.coarse + 7_000_000, wall: now.wall + 7_000_000)
    #expect(stamps.time(last) == first + 7_000_000)
  }

  @Test func withinATickItAsksNoOtherClock() {
    var stamps = StampClock()
    let now = StampClock.Reading.now
    let first = stamps.time(now)
    var isAsked = false
    let second = stamps.time(now.coarse) {
      isAsked = true
      return now
    }
    #expect(second == first)
    #expect(!isAsked)
  }

  // Another thread has had the lock since, and the system may have slept.
  @Test func aStampThatCameLateIsTakenAnew() {
    var stamps = StampClock()
    let now = StampClock.Reading.now
    let later = StampClock.Reading(coarse: now.coarse + 4_000_000, wall: now.wall + 4_000_000)
    _ = stamps.time(now)
    let last = stamps.time(later)
    #expect(stamps.time(now.coarse) { later } == last)
  }

  @Test func itAsksTheExactClockAgainWhenTheWallClockHasGoneOnWithoutTheCheapOne() {
    var stamps = StampClock()
    let now = StampClock.Reading.now
    _ = stamps.time(now)
    // As after an hour of sleep; the exact clock, which was not asleep, says what it is.
    let slept = StampClock.Reading(
      coarse: now.coarse + 1, wall: now.wall + 3_600_000_000_000)
    #expect(abs(stamps.time(slept) - Platform.continuousNanoseconds) < 1_000_000_000)
  }
}

extension StampClock {
  fileprivate mutating func time(_ reading: Reading) -> Int64 {
    time(reading.coarse) { reading }
  }
}
