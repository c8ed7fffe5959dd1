// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import FeatureRelay

@Suite
struct BackoffDelayTests {
  private let second: Int64 = 1_000_000_000

  @Test
  func `a constant delay stays the same until the attempts are used up`() {
    let backoff = Backoff.constant(.seconds(2), attempts: 3)
    #expect(backoff.delay(afterAttempt: 1, random: 0.9) == 2 * second)
    #expect(backoff.delay(afterAttempt: 2, random: 0) == 2 * second)
    #expect(backoff.delay(afterAttempt: 3, random: 0) == nil)
  }

  @Test
  func `an exponential delay doubles up to its cap`() {
    let backoff = Backoff.exponential(
      base: .seconds(1), cap: .seconds(30), jitter: false, attempts: nil)
    let delays = (1...8).map { backoff.delay(afterAttempt: $0, random: 0)! / second }
    #expect(delays == [1, 2, 4, 8, 16, 30, 30, 30])
    #expect(backoff.delay(afterAttempt: .max, random: 0) == 30 * second)
  }

  @Test
  func `jitter stays between half of the delay and all of it`() {
    let seed = SeededGenerator.freshSeed()
    print("RELAY_TEST_SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    let jittered = Backoff.exponential(attempts: nil)
    let exact = Backoff.exponential(jitter: false, attempts: nil)
    for _ in 0..<10_000 {
      let attempt = Int.random(in: 1...70, using: &random)
      let full = exact.delay(afterAttempt: attempt, random: 0)!
      let delay = jittered.delay(
        afterAttempt: attempt, random: .random(in: 0..<1, using: &random))!
      #expect(delay >= full / 2 && delay <= full)
    }
    #expect(jittered.delay(afterAttempt: 1, random: 0) == second / 2)
  }

  @Test
  func `delays that have no end do not overflow`() {
    let endless = Backoff.exponential(base: .seconds(1), cap: .seconds(Int64.max), attempts: nil)
    for attempt in [1, 30, 63, 64, 65, 1_000] {
      let delay = endless.delay(afterAttempt: attempt, random: 0.999_999)!
      #expect(delay > 0)
    }
  }

  @Test
  func `without a limit of attempts there always is some delay`() {
    #expect(Backoff.constant(.zero, attempts: nil).delay(afterAttempt: 9, random: 0)! > 0)
    let exponential = Backoff.exponential(base: .zero, cap: .zero, attempts: nil)
    #expect(exponential.delay(afterAttempt: 9, random: 0)! > 0)
    #expect(Backoff.constant(.seconds(-5)).delay(afterAttempt: 1, random: 0) == 0)
    #expect(Backoff.constant(.zero, attempts: 0).delay(afterAttempt: 1, random: 0) == nil)
  }
}
