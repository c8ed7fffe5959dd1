// SPDX-License-Identifier: MIT

import Foundation

/// Runs an action on a thread of its own and returns when it has returned. The calling thread is
/// blocked meanwhile.
public func onAnotherThread(_ action: @escaping @Sendable () -> Void) {
  let latch = ThreadLatch()
  let thread = Thread {
    action()
    latch.open()
  }
  thread.stackSize = 8 << 20
  thread.start()
  latch.wait("another thread's end")
}

/// Starts an action on a thread of its own.
public func startThread(_ action: @escaping @Sendable () -> Void) {
  let thread = Thread { action() }
  thread.stackSize = 8 << 20
  thread.start()
}

/// Lets the main actor finish everything that it was asked for up to now.
@MainActor
public func mainTurn() async {
  await withCheckedContinuation { continuation in
    DispatchQueue.main.async { continuation.resume() }
  }
}
