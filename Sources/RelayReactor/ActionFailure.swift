// SPDX-License-Identifier: MIT

/// An error that an action or a task of a reactor has thrown.
public struct ActionFailure<Action: Sendable>: Sendable {
  /// What was thrown.
  public let error: any Error
  /// The action that threw it; nil if it was a task.
  public let action: Action?
  /// The id of the action or task.
  public let id: ActionID
  /// Whether it had been cancelled, overtaken or ended with the reactor's life before.
  ///
  /// A `CancellationError` of such an action is no failure; another error is one, for example what
  /// a network says about a request that was given up.
  public let wasCancelled: Bool

  /// Writes a line to standard error. It names the action's case and the error's type and not what
  /// they carry, which may be private.
  public func report() {
    Platform.writeToStandardError(
      "RelayReactor: \"\(id)\" has thrown \(type(of: error)), and the reactor does not handle failures."
    )
  }
}
