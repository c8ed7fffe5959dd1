// SPDX-License-Identifier: MIT

/// Holds asynchronous code back until it is opened.
public final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var watching: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = SeenMutex(State())

  /// Makes a closed latch.
  public init() {}

  /// Waits until the latch is open. Cancellation does not end the wait.
  public func wait() async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        state.arrived += 1
        if !state.isOpen { state.waiting.append(continuation) }
        let arrived = state.arrived
        let watching = state.watching.filter { $0.count <= arrived }
        state.watching.removeAll { $0.count <= arrived }
        return watching.map(\.continuation) + (state.isOpen ? [continuation] : [])
      }
      for continuation in ready { continuation.resume() }
    }
  }

  /// Waits until so many have come to the latch.
  public func arrival(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.arrived >= count { return true }
        state.watching.append((count, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  /// Lets everybody through, from now on.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
