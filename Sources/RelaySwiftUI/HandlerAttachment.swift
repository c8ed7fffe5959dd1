// SPDX-License-Identifier: MIT

public import FeatureRelay

/// Registers a handler while something is there to be seen: what `relayHandler` is in SwiftUI, for
/// whatever else is told that it appears and disappears.
///
/// ```swift
/// let toasts = HandlerAttachment(ToastFeature.self, in: relay) { ToastPresenter() }
/// toasts.appear()     // makes the presenter and registers it
/// toasts.disappear()  // ends the registration; the presenter stays
/// ```
///
/// A handler that it makes is made once, when it is needed first, and lives as long as the
/// attachment. The registration ends with the attachment at the latest, so that a missing
/// ``disappear()`` does no harm; each further ``appear()`` moves the handler to the top of the
/// feature's stack. What waits is delivered in a later turn of the main actor, never from inside
/// one of these calls.
@MainActor
public final class HandlerAttachment<F> {
  private enum Source {
    case made(@MainActor () -> F)
    case existing(@MainActor () -> F?)
  }

  private var source: Source?
  private var owned: F?
  private var relay: Relay?
  private var presence = HandlerPresence.visible
  private var isPresent = false
  private var wantsRegistration = true
  private var registration: Registration?

  /// Makes an attachment that is given its settings later.
  init() {}

  /// Makes an attachment with a handler of its own.
  ///
  /// - Parameters:
  ///   - feature: the feature that the handler implements.
  ///   - relay: where it is registered.
  ///   - presence: how long.
  ///   - make: makes the handler, once.
  public convenience init(
    _ feature: F.Type, in relay: Relay, while presence: HandlerPresence = .visible,
    make: @escaping @MainActor () -> F
  ) {
    self.init()
    self.relay = relay
    self.presence = presence
    source = .made(make)
  }

  /// Makes an attachment of an object that somebody else owns; it is held weakly.
  ///
  /// - Parameters:
  ///   - handler: the object.
  ///   - feature: the feature that it implements.
  ///   - relay: where it is registered.
  ///   - presence: how long.
  public convenience init(
    _ handler: F, for feature: F.Type, in relay: Relay, while presence: HandlerPresence = .visible
  ) {
    self.init()
    self.relay = relay
    self.presence = presence
    hold(handler)
  }

  // A registration may be ended from any thread.
  deinit { registration?.cancel() }

  /// Whether the handler is registered by this attachment at the moment.
  public var isRegistered: Bool { registration != nil }

  /// Whether the handler may be registered; it may by default. Setting it to false ends the
  /// registration at once, setting it to true brings it back if the view is there.
  public var isEnabled: Bool {
    get { wantsRegistration }
    set {
      wantsRegistration = newValue
      apply()
    }
  }

  /// The view has appeared, perhaps not for the first time: the handler is registered, on top of
  /// those registered before.
  public func appear() {
    isPresent = true
    if wantsRegistration { register() }
  }

  /// The view has disappeared: a ``HandlerPresence/visible`` handler's registration ends.
  public func disappear() {
    guard presence == .visible else { return }
    isPresent = false
    apply()
  }

  /// Ends the registration, a ``HandlerPresence/mounted`` handler's as well, until the next
  /// ``appear()``.
  public func end() {
    isPresent = false
    apply()
  }
}

// MARK: From one evaluation of a view to the next

extension HandlerAttachment {
  /// Takes the newest settings, without registering anything: bodies have no side effects.
  func prepare(
    in relay: Relay, while presence: HandlerPresence, isEnabled: Bool,
    make: @escaping @MainActor () -> F
  ) {
    self.relay = relay
    self.presence = presence
    wantsRegistration = isEnabled
    source = .made(make)
  }

  /// Takes the newest settings and object, without registering anything.
  func prepare(
    _ handler: F, in relay: Relay, while presence: HandlerPresence, isEnabled: Bool
  ) {
    self.relay = relay
    self.presence = presence
    wantsRegistration = isEnabled
    hold(handler)
  }

  /// The handler that was made, if there is one already.
  var madeHandler: F? { owned }

  /// Another relay or another object: registers there, then ends here, so that the feature is
  /// never without a handler in between.
  func move() {
    guard let old = registration else { return apply() }
    registration = nil
    apply()
    old.cancel()
  }

  /// Registers or ends the registration, as the settings say.
  func apply() {
    if isPresent, wantsRegistration {
      if registration == nil { register() }
    } else {
      registration?.cancel()
      registration = nil
    }
  }

  private func hold(_ handler: F) {
    let object = handler as AnyObject
    source = .existing { [weak object] in object as? F }
  }

  private func register() {
    guard let relay, let handler = currentHandler() else { return }
    registration = relay.register(handler, for: F.self)
  }

  private func currentHandler() -> F? {
    switch source {
    case .made(let make):
      if let owned { return owned }
      let handler = make()
      owned = handler
      return handler
    case .existing(let find): return find()
    case nil: return nil
    }
  }
}
