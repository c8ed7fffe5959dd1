// SPDX-License-Identifier: MIT

import Foundation
import RelayTesting
import Synchronization

/// A meeting point for threads that are to go on at the same moment, round after round.
public final class SpinBarrier: Sendable {
  private let parties: Int
  private let arrived = Atomic<Int>(0)

  /// Makes a meeting point for so many threads.
  public init(parties: Int) {
    self.parties = parties
  }

  /// Waits until everybody has come. Spins, so that all go on within nanoseconds where there are
  /// cores for it.
  public func meet() {
    let ticket = arrived.add(1, ordering: .acquiringAndReleasing).newValue
    let goal = (ticket + parties - 1) / parties * parties
    var spins = 0
    while arrived.load(ordering: .acquiring) < goal {
      spins += 1
      if spins % 256 == 0 { sched_yield() }
      if spins > 1 << 36 { fatalError("Somebody never came to the meeting point.") }
    }
  }
}

/// Lets a thread pass some nanoseconds; in a long run others get the core now and then, where there
/// are too few.
public func spin(_ count: Int) {
  let counter = Atomic<Int>(0)
  while true {
    let passed = counter.add(1, ordering: .relaxed).oldValue
    if passed >= count { return }
    if passed % 1_024 == 1_023 { sched_yield() }
  }
}

/// Keeps two racers at the point where either may win, and counts who did: whoever wins starts
/// later the next time.
public struct RaceTuner: Sendable {
  /// How often the first racer won.
  public private(set) var firstWins = 0
  /// How often the second one did.
  public private(set) var secondWins = 0
  private var lead = 0
  private var streak = 0
  private var lastWon = true
  private var undecided = 0

  /// Makes a tuner that has seen nothing.
  public init() {}

  /// How long the racers are to spin before they start.
  public var delays: (first: Int, second: Int) { (max(0, lead), max(0, -lead)) }

  /// Takes down who has won.
  public mutating func record(firstWon: Bool) {
    undecided = 0
    if firstWon { firstWins += 1 } else { secondWins += 1 }
    streak = firstWon == lastWon ? streak + 1 : 0
    lastWon = firstWon
    // Small steps around the point where either may win, larger ones on the way there.
    let step = 17 << min(streak / 8, 10)
    lead = min(max(lead + (firstWon ? step : -step), -200_000), 200_000)
  }

  /// Takes down that nobody can tell who has won. A row of these says nothing about where to go:
  /// now one racer gets a start and now the other one, a longer one each time.
  public mutating func recordUndecided() {
    undecided += 1
    let start = 17 << (undecided / 2 % 13)
    lead = undecided.isMultiple(of: 2) ? start : -start
  }

  /// Whether both have won at least once.
  public var sawBoth: Bool { firstWins > 0 && secondWins > 0 }
}

/// A number that several threads count up.
public final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Starts at zero.
  public init() {}

  /// The number.
  public var current: Int { value.load(ordering: .acquiring) }

  /// Counts one more, or so many, and returns the new number.
  @discardableResult
  public func add(_ count: Int = 1) -> Int {
    value.add(count, ordering: .acquiringAndReleasing).newValue
  }
}

/// How many rounds a race is run: all of them, or `RELAY_RACE_DIVISOR` times fewer where rounds are
/// slow.
public func raceRounds(_ full: Int, atLeast least: Int = 50) -> Int {
  let divisor = ProcessInfo.processInfo.environment["RELAY_RACE_DIVISOR"].flatMap { Int($0) } ?? 1
  return max(full / max(divisor, 1), least)
}

/// A place through which a round's objects come to another thread.
public final class Handover<Value: Sendable>: Sendable {
  private let value = SeenMutex<Value?>(nil)

  /// Makes an empty place.
  public init() {}

  /// What lies there.
  public var current: Value? {
    get { value.withLock { $0 } }
    set {
      // What was there may run code when it goes: not under the lock.
      let old = value.withLock { value in
        let old = value
        value = newValue
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Takes it away.
  public func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}

/// A thread that does one thing per round, at the same moment as the main actor does another.
public final class Rival: Sendable {
  private let begin = SpinBarrier(parties: 2)
  private let end = SpinBarrier(parties: 2)
  private let place = Handover<@Sendable () -> Void>()
  private let delay = Atomic<Int>(0)

  /// Starts the thread for so many rounds.
  public init(rounds: Int) {
    startThread { [self] in
      for _ in 0..<rounds {
        begin.meet()
        let action = place.take()
        spin(delay.load(ordering: .acquiring))
        action?()
        end.meet()
      }
    }
  }

  /// Runs both at the same moment and returns when both have returned.
  @MainActor @discardableResult
  public func race<Result>(
    _ tuner: RaceTuner, main: () -> Result, rival: @escaping @Sendable () -> Void
  ) -> Result {
    start(tuner, rival)
    let result = main()
    finish()
    return result
  }

  /// Lets the other thread begin; the main actor may take turns meanwhile.
  public func start(
    _ tuner: RaceTuner, lag: Int = 0, _ action: @escaping @Sendable () -> Void
  ) {
    place.current = action
    delay.store(tuner.delays.second + lag, ordering: .releasing)
    begin.meet()
    spin(tuner.delays.first)
  }

  /// Waits for the other thread.
  public func finish() { end.meet() }
}

/// Runs an action on a thread of its own, beside the main actor, and returns what it returned.
public func besideMain<Value: Sendable>(
  _ action: @escaping @Sendable () -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    startThread { continuation.resume(returning: action()) }
  }
}
