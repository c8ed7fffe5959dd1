// SPDX-License-Identifier: MIT

public import FeatureRelay

/// A clock that stands still until a test moves it.
public final class ManualClock: Sendable {
  private struct Wake {
    var time: Duration
    var number: Int
    var action: @Sendable () -> Void
  }

  private struct State {
    var now: Duration
    var number = 0
    var wakes: [Wake] = []
  }

  private let state: SeenMutex<State>

  /// Makes a clock that shows the given time.
  public init(now: Duration = .zero) {
    state = SeenMutex(State(now: now))
  }

  /// The time that it shows.
  public var now: Duration { state.withLock { $0.now } }

  /// The clock in the form that a relay takes. The wall clock that goes with it starts in 2027.
  public var relayClock: RelayClock {
    RelayClock(
      now: { self.now }, wall: { .seconds(1_800_000_000) + self.now },
      schedule: { self.schedule(at: $0, $1) })
  }

  /// How many wake-ups are planned.
  public var plannedCount: Int { state.withLock { $0.wakes.count } }

  /// When the next wake-up is planned.
  public var nextDeadline: Duration? { state.withLock { $0.wakes.map(\.time).min() } }

  /// Plans a wake-up.
  public func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.number += 1
      state.wakes.append(Wake(time: time, number: state.number, action: action))
    }
  }

  /// Moves the clock forward and runs what was planned up to then, in order, each at its own time.
  public func advance(by duration: Duration) {
    advance(to: now + duration)
  }

  /// Moves the clock forward to a time and runs what was planned up to then.
  public func advance(to end: Duration) {
    while let wake = takeNext(upTo: end) { wake.action() }
    state.withLock { $0.now = max($0.now, end) }
  }

  /// Moves the clock to the next wake-up that is planned and runs what is due then.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  public func advanceToNextDeadline() -> Bool {
    guard let deadline = nextDeadline else { return false }
    advance(to: max(deadline, now))
    return true
  }

  private func takeNext(upTo end: Duration) -> Wake? {
    state.withLock { state in
      let due = state.wakes.indices.filter { state.wakes[$0].time <= end }
      guard
        let index = due.min(by: {
          (state.wakes[$0].time, state.wakes[$0].number)
            < (state.wakes[$1].time, state.wakes[$1].number)
        })
      else { return nil }
      let wake = state.wakes.remove(at: index)
      state.now = max(state.now, wake.time)
      return wake
    }
  }
}
