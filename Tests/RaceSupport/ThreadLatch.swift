// SPDX-License-Identifier: MIT

import Dispatch

/// Holds real threads back until it is opened; a hang ends the process with a sentence instead of
/// going on for ever.
public final class ThreadLatch: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Makes a closed latch.
  public init() {}

  /// Lets one thread through for each call.
  public func open() { semaphore.signal() }

  /// Blocks a thread that has nothing else to live for until the latch is open.
  public func waitForever() { semaphore.wait() }

  /// Blocks the thread until the latch is open.
  public func wait(_ what: String = "the latch") {
    if semaphore.wait(timeout: .now() + .seconds(600)) == .timedOut {
      fatalError("Nobody opened \(what) within ten minutes.")
    }
  }
}
