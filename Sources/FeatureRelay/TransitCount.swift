// SPDX-License-Identifier: MIT

internal import Synchronization

/// How many commands of a relay are on their way to the main actor beyond their queues' limits.
final class TransitCount: Sendable {
  private static let many = 32

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

  /// Takes many places at once, so that threads need not meet here for each command.
  ///
  /// - Returns: how many; none unless at least half of all places are left after it.
  func enterMany() -> Int {
    let places = count.load(ordering: .relaxed)
    guard places <= limit / 2 - Self.many,
      count.compareExchange(
        expected: places, desired: places + Self.many, ordering: .relaxed
      ).exchanged
    else { return 0 }
    return Self.many
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

  /// Takes many places at once; none unless at least half of all places are left after it.
  @inline(__always)
  func enterMany() -> Int { _withUnsafeGuaranteedRef { $0.enterMany() } }
}
