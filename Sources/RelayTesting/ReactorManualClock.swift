// SPDX-License-Identifier: MIT

public import RelayReactor

extension ManualClock {
  /// The clock in the form that a reactor takes.
  public var reactorClock: ReactorClock {
    ReactorClock(now: { self.now }, schedule: { self.schedule(at: $0, $1) })
  }
}
