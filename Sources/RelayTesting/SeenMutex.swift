// SPDX-License-Identifier: MIT

internal import Foundation

/// A mutex that the thread sanitizer sees; `Synchronization.Mutex` makes it report correct code on
/// Linux.
///
/// Safe: the state is only touched while the lock is held.
package final class SeenMutex<State>: @unchecked Sendable {
  private let lock = NSLock()
  private var state: State

  package init(_ state: State) {
    self.state = state
  }

  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}
