// SPDX-License-Identifier: MIT

/// An id under which a task or a single send can be cancelled, and what another one of that id
/// means to it.
public struct CancellationID: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    case lifecycle, inFlight
  }

  /// The name for ``Reactor/cancel(_:discardingWrites:)``.
  public let id: ActionID
  let mode: Mode

  /// Bound to the reactor's life: it stands beside others of its id and goes on until it ends by
  /// itself, is cancelled, or the life ends. ``Reactor/waitUntilIdle()`` does not wait for it.
  public static func lifecycle(_ id: ActionID) -> CancellationID {
    CancellationID(id: id, mode: .lifecycle)
  }

  /// One at a time is in flight: a newer one of its id cancels it, and what it still writes into
  /// the reactor's state has no effect.
  public static func inFlight(_ id: ActionID) -> CancellationID {
    CancellationID(id: id, mode: .inFlight)
  }

  /// What the mode means for others of the same id.
  var policy: ActionPolicy {
    switch mode {
    case .lifecycle: .concurrent(id)
    case .inFlight: .latestWins(id)
    }
  }
}
