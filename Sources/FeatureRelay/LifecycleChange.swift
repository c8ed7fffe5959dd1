// SPDX-License-Identifier: MIT

/// What the system does with the process, as far as a journal has to know.
public enum LifecycleChange: Sendable, Hashable {
  /// The process may be suspended, or killed while it is.
  case willSuspend
  /// The process goes on.
  case didResume
}

extension Relay {
  /// Follows the life of the process: ``willSuspend()`` and ``didResume()`` as the changes come,
  /// one after the other.
  ///
  /// Where the changes come from is the caller's affair: a scene's phase, notifications, a test.
  ///
  /// ```swift
  /// await relay.follow(changes)
  /// ```
  ///
  /// - Parameter changes: ends with the wish to follow; so does cancelling the task.
  public func follow<Changes: AsyncSequence>(_ changes: Changes) async
  where Changes.Element == LifecycleChange, Changes.Failure == Never {
    for await change in changes {
      switch change {
      case .willSuspend: await willSuspend()
      case .didResume: await didResume()
      }
    }
  }
}
