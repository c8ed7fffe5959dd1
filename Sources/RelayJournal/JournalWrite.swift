// SPDX-License-Identifier: MIT

internal import Dispatch

/// What became of an append when it returned.
package enum JournalWrite: Sendable {
  /// In the kernel: it survives the death of the process.
  case written
  /// Handed over; it will be written in its place in the order as soon as the disk answers.
  case behind(JournalTicket)
  /// Not written, and nothing of it is left on disk.
  case failed(JournalError)
}

/// An append that was handed over.
package final class JournalTicket: Sendable {
  private struct State {
    var isFinished = false
    var error: JournalError?
    var bodies: [@Sendable (JournalError?) -> Void] = []
  }

  private let state = Lock(State())
  /// For the thread that waits for it, of which there is one at most.
  private let done = DispatchSemaphore(value: 0)

  init() {}

  /// Calls back when the append is in the kernel (nil) or has failed: on the thread that wrote it,
  /// or at once if that is over. Never under a lock.
  package func whenWritten(_ body: @escaping @Sendable (JournalError?) -> Void) {
    let (isFinished, error) = state.withLock { state in
      if !state.isFinished { state.bodies.append(body) }
      return (state.isFinished, state.error)
    }
    if isFinished { body(error) }
  }

  /// Waits until the append is in the kernel.
  ///
  /// - Throws: why it is not.
  package func written() async throws(JournalError) {
    let error = await withCheckedContinuation { continuation in
      whenWritten { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Blocks the thread, for a limited time.
  ///
  /// - Returns: nil if it took longer, otherwise how it ended.
  func wait(_ limit: Duration) -> JournalError?? {
    let nanoseconds = Int(clamping: min(limit.nanoseconds, .max / 4))
    if !isFinished { _ = done.wait(timeout: .now() + .nanoseconds(nanoseconds)) }
    return state.withLock { $0.isFinished ? .some($0.error) : nil }
  }

  /// Ends it and wakes who waits.
  ///
  /// - Returns: the callbacks, for when they can do no harm.
  func finish(_ error: JournalError?) -> [() -> Void] {
    let bodies = state.withLock { state in
      state.isFinished = true
      state.error = error
      defer { state.bodies = [] }
      return state.bodies
    }
    done.signal()
    return bodies.map { body in { body(error) } }
  }
}
