// SPDX-License-Identifier: MIT

internal import Synchronization

/// How many commands of a relay are on their way to the main actor beyond their queues' limits.
final class TransitCount: Sendable {
  private let count = Atomic<Int>(0)
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Takes a place; false when there is none.
  func enter() -> Bool {
    if count.add(1, ordering: .relaxed).newValue <= limit { return true }
    leave(1)
    return false
  }

  func leave(_ places: Int) {
    count.subtract(places, ordering: .relaxed)
  }

  var current: Int { count.load(ordering: .relaxed) }
}

extension Unmanaged<TransitCount> {
  /// Takes a place; false when there is none.
  @inline(__always)
  func enter() -> Bool { _withUnsafeGuaranteedRef { $0.enter() } }
}
