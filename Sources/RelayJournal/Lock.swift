// SPDX-License-Identifier: MIT

import Synchronization

/// A mutex whose critical sections the thread sanitizer can see.
///
/// `Synchronization.Mutex` is a futex that the sanitizer does not look into on Linux, so that
/// correct code is reported. An atomic that is acquired on entry and released on exit says the same
/// in its language, for two plain moves on x86. Not recursive; nothing foreign may be called
/// inside.
struct Lock<State: ~Copyable>: ~Copyable {
  private let mutex: Mutex<Guarded<State>>
  private let order = Atomic<Bool>(false)

  init(_ state: consuming sending State) {
    mutex = Mutex(Guarded(state: state))
  }

  @inline(__always)
  borrowing func withLock<Result: ~Copyable & Sendable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock {
      (guarded: inout sending Guarded<State>) throws(Failure) -> sending Result in
      _ = order.load(ordering: .acquiring)
      defer { order.store(true, ordering: .releasing) }
      return try body(&guarded.state)
    }
  }
}

// Safe: the state is only reached through the mutex.
extension Lock: @unchecked Sendable where State: ~Copyable {}

/// Says that what a lock holds may go from thread to thread: nothing else refers to it.
struct Guarded<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  var state: State
}
