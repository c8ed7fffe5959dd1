// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  public import FeatureRelay
  public import SwiftUI

  private struct RelayKey: EnvironmentKey {
    static var defaultValue: Relay? { nil }
  }

  extension EnvironmentValues {
    /// The relay that a view sends its commands to and registers its handlers in: `Relay.shared`
    /// unless ``SwiftUI/View/relay(_:)`` says otherwise.
    ///
    /// ```swift
    /// @Environment(\.relay) private var relay
    /// ```
    public var relay: Relay {
      get { ownRelay ?? .shared }
      set { ownRelay = newValue }
    }

    /// The relay that was set, if one was. A key path to ``relay`` asks for the value that it
    /// replaces: that would make `Relay.shared`, which may not be set up yet.
    var ownRelay: Relay? {
      get { self[RelayKey.self] }
      set { self[RelayKey.self] = newValue }
    }
  }

  extension View {
    /// Sets the relay for this view and all below it: a module's own, or a scene's.
    ///
    /// ```swift
    /// CheckoutView().relay(checkout)
    /// ```
    ///
    /// - Parameter relay: the relay. The view does not make it: what makes it has to keep it, in a
    ///   state or in a container, for as long as the module lives.
    public func relay(_ relay: Relay) -> some View {
      environment(\.ownRelay, relay)
    }
  }
#endif
