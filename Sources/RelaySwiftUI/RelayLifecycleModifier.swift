// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  public import FeatureRelay
  public import SwiftUI

  extension View {
    /// Ties a relay to the life of this view's scene. Once, at the root of each scene's views.
    ///
    /// - Parameter lifecycle: the object that ties the relay to all scenes that share it.
    public func relayLifecycle(_ lifecycle: RelayLifecycle) -> some View {
      modifier(RelayLifecycleModifier { lifecycle })
    }

    /// Ties a relay that belongs to this one scene to the scene's life. Once, at the root of its
    /// views.
    ///
    /// Several scenes that share a relay need one ``RelayLifecycle`` for all of them: otherwise a
    /// scene that goes to the background closes the gate for the others too.
    ///
    /// - Parameters:
    ///   - relay: the scene's relay.
    ///   - closing: when its gate is closed: by default in the background only, since the system's
    ///     own alerts make a scene inactive.
    public func relayLifecycle(
      _ relay: Relay, closingGate closing: RelayLifecycle.GateClosing = .inBackground
    ) -> some View {
      modifier(RelayLifecycleModifier { RelayLifecycle(relay, closingGate: closing) })
    }
  }

  extension RelayLifecycle.Phase {
    init(_ phase: ScenePhase) {
      switch phase {
      case .active: self = .active
      case .inactive: self = .inactive
      case .background: self = .background
      @unknown default: self = .inactive
      }
    }
  }

  /// A scene's part in a lifecycle, kept for the identity of the scene's root view.
  ///
  /// The scene counts until that has gone. No callback ends it: the system forgets to tell that a
  /// view disappears, and tells it of views that are there, and then the relay would be suspended in
  /// front of a person's eyes.
  @MainActor
  final class ScenePart {
    private var lifecycle: RelayLifecycle?

    nonisolated init() {}

    // On whichever thread: the lifecycle looks in a turn of the main actor.
    deinit {
      guard let lifecycle else { return }
      Task { @MainActor in lifecycle.sceneHasGone() }
    }

    func update(_ phase: ScenePhase, _ make: () -> RelayLifecycle) {
      let lifecycle = lifecycle ?? make()
      self.lifecycle = lifecycle
      lifecycle.update(RelayLifecycle.Phase(phase), of: self)
    }
  }

  struct RelayLifecycleModifier: ViewModifier {
    @Environment(\.scenePhase) private var phase
    @State private var part = ScenePart()
    private let make: @MainActor () -> RelayLifecycle

    init(_ make: @escaping @MainActor () -> RelayLifecycle) {
      self.make = make
    }

    func body(content: Content) -> some View {
      let part = part
      let phase = phase
      let make = make
      return content.onChange(of: phase, initial: true) { part.update(phase, make) }
    }
  }
#endif
