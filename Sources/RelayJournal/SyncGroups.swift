// SPDX-License-Identifier: MIT

/// How long a sync waits for others who are likely to come. Pure: it is told the time.
///
/// Whoever waited for one sync mostly comes back with something new as soon as it is over. A sync
/// that starts with the first of them makes all others wait for a second one: so it waits until as
/// many are there as were before, but for no longer than a part of what a sync takes.
struct SyncGroups {
  /// In nanoseconds.
  let longestWait: Int64
  /// How many took part in the last sync, or waited for the next one when it ended.
  private(set) var expected = 0
  /// Until when they are waited for.
  private var deadline = Int64.min

  init(longestWait: Int64) {
    self.longestWait = longestWait
  }

  /// How much longer to wait, in nanoseconds; zero when a sync is to begin now, or, where nobody
  /// waits, when nobody is expected any more.
  func wait(waiting: Int, at now: Int64) -> Int64 {
    waiting >= expected ? 0 : max(0, deadline &- now)
  }

  /// A sync has ended.
  ///
  /// - Parameters:
  ///   - group: how many took part.
  ///   - waiting: how many wait for the next one already.
  mutating func ended(_ group: Int, waiting: Int, began: Int64, at now: Int64) {
    expected = group + waiting
    deadline = now &+ min(max(0, now &- began) / 2, longestWait)
  }
}
