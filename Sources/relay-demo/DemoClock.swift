// SPDX-License-Identifier: MIT

import FeatureRelay

/// The demo's time: it stands still until a script says `wait`, so that nothing ever sleeps and
/// every run is the same.
final class DemoClock: Sendable {
  private struct Wake {
    let time: Duration
    let action: @Sendable () -> Void
  }

  private struct State {
    var now = Duration.zero
    /// By time; those of one time in the order in which they were planned.
    var wakes: [Wake] = []
  }

  private let state = Guarded(State())

  var now: Duration { state.withLock { $0.now } }

  /// When something is planned next.
  var nextWake: Duration? { state.withLock { $0.wakes.first?.time } }

  var relayClock: RelayClock {
    RelayClock(now: { self.now }, schedule: { self.schedule(at: $0, $1) })
  }

  /// Moves the time, and does what is planned up to then.
  func advance(to time: Duration) {
    while true {
      let wake = state.withLock { state -> Wake? in
        guard let first = state.wakes.first, first.time <= time else {
          state.now = max(state.now, time)
          return nil
        }
        state.now = max(state.now, first.time)
        return state.wakes.removeFirst()
      }
      guard let wake else { return }
      wake.action()
    }
  }

  private func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let place = state.wakes.firstIndex { $0.time > time } ?? state.wakes.endIndex
      state.wakes.insert(Wake(time: time, action: action), at: place)
    }
  }
}
