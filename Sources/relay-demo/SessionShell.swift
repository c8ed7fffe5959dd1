// SPDX-License-Identifier: MIT

import FeatureRelay

// The app shell's part: handlers that come and go, gates, scopes.

extension Session {
  func show(_ feature: FeatureName) {
    let stage = Stage(recorder: recorder, scope: scope)
    switch feature {
    case .toast: register(feature, ToastFeature.self) { ToastPresenter(stage) }
    case .navigation: register(feature, NavigationFeature.self) { Navigator(stage) }
    case .mail: register(feature, MailFeature.self) { MailSender(stage, surroundings) }
    case .analytics: register(feature, AnalyticsFeature.self) { Tracker(stage) }
    case .permission:
      register(feature, PermissionFeature.self) { PermissionAlert(stage, surroundings) }
    }
  }

  private func register<F>(_ name: FeatureName, _ feature: F.Type, _ make: () -> F) {
    // The same object again, if it is there already: it moves to the top.
    let handler = module.handlers[name] as? F ?? make()
    module.handlers[name] = handler as AnyObject
    relay.register(handler, for: feature)
  }

  func hide(_ feature: FeatureName) {
    guard let handler = module.handlers.removeValue(forKey: feature) else {
      return note("\(harmless(scope)) shows no \(feature)")
    }
    func unregister<F>(_ feature: F.Type) {
      if let handler = handler as? F { relay.unregister(handler, for: feature) }
    }
    switch feature {
    case .toast: unregister(ToastFeature.self)
    case .navigation: unregister(NavigationFeature.self)
    case .mail: unregister(MailFeature.self)
    case .analytics: unregister(AnalyticsFeature.self)
    case .permission: unregister(PermissionFeature.self)
    }
  }

  /// Lets go of a handler without telling the relay.
  func forget(_ feature: FeatureName) {
    guard let handler = module.handlers.removeValue(forKey: feature) else {
      return note("\(harmless(scope)) shows no \(feature)")
    }
    note("the shell let go of its \(type(of: handler)) without unregistering it")
  }

  func setSheet(isOpen: Bool) {
    guard isOpen else {
      if module.sheet == nil { note("no sheet is open") }
      // The bag goes with the sheet and ends its registration.
      module.sheet = nil
      return
    }
    guard module.sheet == nil else { return note("the sheet is open already") }
    let sheet = SheetPresenter(Stage(recorder: recorder, scope: scope))
    let bag = RegistrationBag()
    relay.register(sheet, for: ToastFeature.self).store(in: bag)
    module.sheet = (sheet, bag)
  }

  func closeGate(for reason: String) {
    if relay.gate.reasons.contains(reason) { note("the gate is closed for \(reason) already") }
    relay.gate.close(for: reason)
  }

  func openGate(for reason: String) {
    if !relay.gate.reasons.contains(reason) { note("the gate is not closed for \(reason)") }
    relay.gate.open(for: reason)
  }

  func reset() {
    relay.reset()
    module.handlers = [:]
    module.sheet = nil
  }
}

// MARK: Scopes

extension Session {
  func openScope(_ name: String, parent: Relay?) {
    do {
      let configuration = try RelayConfiguration(clock: clock.relayClock, seed: 1)
      let relay =
        parent == nil
        ? try makeRoot(configuration)
        : Relay(scope: name, parent: parent, configuration: configuration)
      relay.observe(recorder)
      // Counting does not wait for the app to be in front of somebody.
      relay.configure(AnalyticsFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
      modules[name] = Module(relay: relay)
      scopes.append(name)
    } catch {
      preconditionFailure("The demo's own settings make no sense: \(error)")
    }
  }

  func enterScope(_ name: String) {
    if modules[name] == nil {
      openScope(name, parent: modules[Self.rootScope]?.relay)
      note("made the relay of \(quoted(name)), whose parent is \(quoted(Self.rootScope))")
    }
    scope = name
    note("from here on lines speak of \(quoted(name))")
  }

  func closeScope() {
    guard scope != Self.rootScope else {
      return note("\(quoted(Self.rootScope)) stays open: close is for a module's scope")
    }
    relay.close()
    closedCounts = closedCounts + relay.counts
    modules[scope] = nil
    scopes.removeAll { $0 == scope }
    scope = Self.rootScope
    note("from here on lines speak of \(quoted(scope))")
  }
}
