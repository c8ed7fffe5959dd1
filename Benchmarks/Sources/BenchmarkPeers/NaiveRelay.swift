// SPDX-License-Identifier: MIT

import Foundation

/// The relay that most would write: a lock, a dictionary of boxes that hold handlers weakly, a cast.
///
/// It stands in a module of its own, as one would: senders and handlers that do not know each other are in different
/// modules, and what both import is a third. Nothing is done to have it specialised there, and nothing against it. It
/// looks at no thread, keeps nothing that finds no handler, and knows no order, gate or failure.
///
/// Safe to share: the dictionary is touched under the lock only.
package final class NaiveRelay: @unchecked Sendable {
  private final class Box {
    weak var handler: AnyObject?

    init(_ handler: AnyObject) {
      self.handler = handler
    }
  }

  private let lock = NSLock()
  private var boxes: [ObjectIdentifier: Box] = [:]

  package init() {}

  package func register<F>(_ handler: F, for feature: F.Type) {
    lock.lock()
    defer { lock.unlock() }
    boxes[ObjectIdentifier(feature)] = Box(handler as AnyObject)
  }

  @MainActor
  package func dispatch<F>(_ feature: F.Type, _ body: @MainActor (F) throws -> Void) rethrows {
    lock.lock()
    let handler = boxes[ObjectIdentifier(feature)]?.handler
    lock.unlock()
    guard let handler = handler as? F else { return }
    try body(handler)
  }
}
