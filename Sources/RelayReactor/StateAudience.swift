// SPDX-License-Identifier: MIT

internal import Synchronization

/// Who follows the states of a reactor.
final class StateAudience<State: Sendable>: Sendable {
  struct Follower: Sendable {
    let take: @Sendable (State) -> Void
    let finish: @Sendable () -> Void
  }

  private struct Members {
    var hasFinished = false
    var followers: [UInt64: Follower] = [:]
  }

  private let members = Lock(Members())
  private let lastNumber = Atomic<UInt64>(0)
  /// Spares a write the lock while nobody follows.
  private let count = Atomic<Int>(0)

  /// How many follow.
  var followerCount: Int { count.load(ordering: .relaxed) }

  func makeStream(
    from state: State, _ policy: AsyncStream<State>.Continuation.BufferingPolicy
  ) -> AsyncStream<State> {
    let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: policy)
    let number = nextNumber()
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    continuation.yield(state)
    add(Follower(take: { continuation.yield($0) }, finish: { continuation.finish() }), number)
    return stream
  }

  /// Calls a closure for each state, within the write.
  func add(_ take: @escaping @Sendable (State) -> Void) -> UInt64 {
    let number = nextNumber()
    add(Follower(take: take, finish: {}), number)
    return number
  }

  func remove(_ number: UInt64) {
    let follower = members.withLock { $0.followers.removeValue(forKey: number) }
    if follower != nil { count.subtract(1, ordering: .relaxed) }
  }

  /// Called on the main actor only: one order for all.
  func send(_ state: State) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    for follower in members.withLock({ Array($0.followers.values) }) { follower.take(state) }
  }

  /// There are no further states, also for who comes later.
  func finish() {
    let followers = members.withLock { members in
      members.hasFinished = true
      return Array(members.followers.values)
    }
    for follower in followers { follower.finish() }
  }

  private func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

  private func add(_ follower: Follower, _ number: UInt64) {
    let hasFinished = members.withLock { members in
      if !members.hasFinished { members.followers[number] = follower }
      return members.hasFinished
    }
    if hasFinished { follower.finish() } else { count.add(1, ordering: .relaxed) }
  }
}
