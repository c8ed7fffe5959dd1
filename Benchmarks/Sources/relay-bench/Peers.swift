// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import Foundation

/// A queue of closures by priority as the competitor describes its own: one sorted list, a place found by bisection.
@MainActor
struct SortedList {
  typealias Body = @MainActor @Sendable (any TickFeature) -> Void

  private var items: [(priority: Int, body: Body)] = []

  var count: Int { items.count }

  mutating func insert(_ priority: Int, _ body: @escaping Body) {
    var low = 0
    var high = items.count
    while low < high {
      let middle = (low + high) / 2
      if items[middle].priority >= priority { low = middle + 1 } else { high = middle }
    }
    items.insert((priority, body), at: low)
  }

  mutating func removeAll() {
    items.removeAll(keepingCapacity: true)
  }
}

/// Somebody with a weak delegate: what the floor calls through.
@MainActor
final class Sender {
  weak var delegate: (any TickFeature)?
}

/// What a notification's observer holds weakly. It belongs to no actor: asking for the main actor in the observer's
/// block would cost the peer another 60 ns.
///
/// Safe to share: only the main thread posts here, and a notification is seen on the thread that posts it.
final class Listener: @unchecked Sendable {
  private var sum = 0

  @inline(never)
  func tick(_ number: Int) { sum &+= number }
}

extension Notification.Name {
  static let tick = Notification.Name("tick")
}

/// A notification centre with one observer that is held weakly.
@MainActor
struct Broadcast {
  let center = NotificationCenter()
  let listener = Listener()
  private let token: any NSObjectProtocol

  init() {
    token = center.addObserver(forName: .tick, object: nil, queue: nil) { [weak listener] _ in
      listener?.tick(1)
    }
  }
}
