// SPDX-License-Identifier: MIT

import Synchronization

/// Whether a view has to be evaluated again. Raised from any thread, as observed objects may be
/// changed on any.
package final class UpdateFlag: Sendable {
  private let raised = Atomic(true)

  package var isRaised: Bool { raised.load(ordering: .acquiring) }
  package func raise() { raised.store(true, ordering: .releasing) }
  func lower() { raised.store(false, ordering: .releasing) }

  /// The flag of the view that is being evaluated.
  @TaskLocal static var current: UpdateFlag?
}
