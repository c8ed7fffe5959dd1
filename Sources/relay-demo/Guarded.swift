// SPDX-License-Identifier: MIT

import Foundation

/// A state behind a lock that the thread sanitizer sees, which a `Mutex` is not on Linux.
///
/// Safe: the state is only touched while the lock is held. DemoProcessTests run the demo under the
/// thread sanitizer.
final class Guarded<State>: @unchecked Sendable {
  private let lock = NSLock()
  private var state: State

  init(_ state: sending State) {
    self.state = state
  }

  /// Changes the state, or looks at it.
  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lock.withLock { body(&state) }
  }
}
