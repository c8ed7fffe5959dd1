// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  public import FeatureRelay
  public import SwiftUI

  extension View {
    /// Handles a feature while this view is there.
    ///
    /// ```swift
    /// ShopView()
    ///   .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
    ///   .relayHandler(NavigationFeature.self, while: .mounted) { Navigator(path: $path) }
    /// ```
    ///
    /// The handler is made once for the view's identity, when the view first appears and the handler
    /// is enabled, and lives as long. What waits for it is delivered in a later turn of the main actor, never while views
    /// are updated. Its registration ends with the presence, when it is disabled, and with the
    /// view's state at the latest: callbacks that the system forgets, repeats or makes for views
    /// that have gone do no harm. Then the handler that was registered before is active again.
    ///
    /// A handler that needs what a view has at the moment should be given bindings, or be updated:
    /// see ``SwiftUI/View/relayHandler(_:in:while:isEnabled:make:update:)``.
    ///
    /// - Parameters:
    ///   - feature: the feature.
    ///   - relay: where the handler is registered; the environment's relay by default.
    ///   - presence: how long.
    ///   - isEnabled: whether it may be registered at all. A sheet sets it to false in order to hand
    ///     over before its animation has ended.
    ///   - make: makes the handler.
    public func relayHandler<F>(
      _ feature: F.Type, in relay: Relay? = nil, while presence: HandlerPresence = .visible,
      isEnabled: Bool = true, make: @escaping @MainActor () -> F
    ) -> some View {
      modifier(
        RelayHandlerModifier(
          relay: relay, presence: presence, isEnabled: isEnabled, make: make, update: nil))
    }

    /// Handles a feature while this view is there, and brings the handler up to date whenever the
    /// view is evaluated.
    ///
    /// ```swift
    /// ProfileView(user: user)
    ///   .relayHandler(ToastFeature.self) {
    ///     ToastPresenter()
    ///   } update: { presenter in
    ///     presenter.name = user.name
    ///   }
    /// ```
    ///
    /// Updating registers nothing and delivers nothing. It is a part of the view's evaluation: give
    /// the handler values, and change nothing that views observe.
    ///
    /// - Parameters:
    ///   - feature: the feature.
    ///   - relay: where the handler is registered; the environment's relay by default.
    ///   - presence: how long.
    ///   - isEnabled: whether it may be registered at all.
    ///   - make: makes the handler, an object that conforms to the feature; anything else traps with
    ///     a sentence.
    ///   - update: gives the handler what the view has now, also once after it was made.
    public func relayHandler<F, Handler: AnyObject>(
      _ feature: F.Type, in relay: Relay? = nil, while presence: HandlerPresence = .visible,
      isEnabled: Bool = true, make: @escaping @MainActor () -> Handler,
      update: @escaping @MainActor (Handler) -> Void
    ) -> some View {
      modifier(
        RelayHandlerModifier<F>(
          relay: relay, presence: presence, isEnabled: isEnabled,
          make: {
            let handler = make()
            update(handler)
            return conforming(handler, to: feature)
          },
          update: { handler in
            if let handler = handler as? Handler { update(handler) }
          }))
    }

    /// Handles a feature with an object that lives elsewhere, while this view is there.
    ///
    /// One object is registered once for a feature in a relay: use it in one view at a time.
    ///
    /// - Parameters:
    ///   - handler: the object; whoever owns it has to keep it.
    ///   - feature: the feature.
    ///   - relay: where it is registered; the environment's relay by default.
    ///   - presence: how long.
    ///   - isEnabled: whether it may be registered at all.
    public func relayHandler<F>(
      _ handler: F, for feature: F.Type, in relay: Relay? = nil,
      while presence: HandlerPresence = .visible, isEnabled: Bool = true
    ) -> some View {
      modifier(
        ExistingHandlerModifier(
          handler: handler, relay: relay, presence: presence, isEnabled: isEnabled))
    }
  }

  @MainActor
  private func conforming<F>(_ handler: AnyObject, to feature: F.Type) -> F {
    guard let handler = handler as? F else {
      fatalError(
        "relayHandler: \(type(of: handler)) does not conform to \(feature): let it conform, or register it for another feature."
      )
    }
    return handler
  }

  /// A registration has to be made anew when one of these changes.
  struct RegistrationPlace: Equatable {
    var relay: ObjectIdentifier
    var handler: ObjectIdentifier?
  }

  struct RelayHandlerModifier<F>: ViewModifier {
    @Environment(\.ownRelay) private var environmentRelay
    // A reference: it is kept for the view's identity, those of later evaluations are let go.
    @State private var attachment = HandlerAttachment<F>()
    private let relay: Relay?
    private let presence: HandlerPresence
    private let isEnabled: Bool
    private let make: @MainActor () -> F
    private let update: (@MainActor (F) -> Void)?

    init(
      relay: Relay?, presence: HandlerPresence, isEnabled: Bool,
      make: @escaping @MainActor () -> F, update: (@MainActor (F) -> Void)?
    ) {
      self.relay = relay
      self.presence = presence
      self.isEnabled = isEnabled
      self.make = make
      self.update = update
    }

    func body(content: Content) -> some View {
      let relay = relay ?? environmentRelay ?? .shared
      let attachment = attachment
      attachment.prepare(in: relay, while: presence, isEnabled: isEnabled, make: make)
      if let handler = attachment.madeHandler { update?(handler) }
      return
        content
        .onAppear { attachment.appear() }
        .onDisappear { attachment.disappear() }
        .onChange(of: isEnabled) { attachment.apply() }
        .onChange(of: RegistrationPlace(relay: ObjectIdentifier(relay))) { attachment.move() }
    }
  }

  struct ExistingHandlerModifier<F>: ViewModifier {
    @Environment(\.ownRelay) private var environmentRelay
    @State private var attachment = HandlerAttachment<F>()
    private let handler: F
    private let relay: Relay?
    private let presence: HandlerPresence
    private let isEnabled: Bool

    init(handler: F, relay: Relay?, presence: HandlerPresence, isEnabled: Bool) {
      self.handler = handler
      self.relay = relay
      self.presence = presence
      self.isEnabled = isEnabled
    }

    func body(content: Content) -> some View {
      let relay = relay ?? environmentRelay ?? .shared
      let attachment = attachment
      let place = RegistrationPlace(
        relay: ObjectIdentifier(relay), handler: ObjectIdentifier(handler as AnyObject))
      attachment.prepare(handler, in: relay, while: presence, isEnabled: isEnabled)
      return
        content
        .onAppear { attachment.appear() }
        .onDisappear { attachment.disappear() }
        .onChange(of: isEnabled) { attachment.apply() }
        .onChange(of: place) { attachment.move() }
    }
  }
#endif
