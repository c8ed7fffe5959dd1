// SPDX-License-Identifier: MIT

import BenchmarkHarness
import Dispatch
import Foundation
import Synchronization

/// Threads that stand ready, so that a sample does not contain their making.
///
/// Safe to share: a worker reads `action` between its start and its end, which the semaphores order.
final class Crew: @unchecked Sendable {
  private var action: @Sendable (Int) -> Void = { _ in }
  private let starts: [DispatchSemaphore]
  private let end = DispatchSemaphore(value: 0)
  private let isDismissed = Atomic<Bool>(false)

  init(_ count: Int) {
    starts = (0..<count).map { _ in DispatchSemaphore(value: 0) }
    for number in 0..<count {
      let start = starts[number]
      let thread = Thread { [weak self, end] in
        while true {
          start.wait()
          guard let self, !isDismissed.load(ordering: .acquiring) else { return }
          action(number)
          end.signal()
        }
      }
      thread.start()
    }
  }

  deinit {
    isDismissed.store(true, ordering: .releasing)
    for start in starts { start.signal() }
  }

  /// Lets every thread do something; returns at once.
  func start(_ action: @escaping @Sendable (Int) -> Void) {
    self.action = action
    for start in starts { start.signal() }
  }

  /// Waits until all of them are done with it.
  func wait() {
    for _ in starts { end.wait() }
  }
}
