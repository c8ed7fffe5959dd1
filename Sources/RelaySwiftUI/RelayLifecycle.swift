// SPDX-License-Identifier: MIT

public import FeatureRelay

/// Ties a relay to the life of the app and its scenes: its gate is closed while nobody can see
/// anything, and what is on disk is restored on launch and on every return.
///
/// One for each relay, however many scenes share it:
///
/// ```swift
/// @main
/// struct ShopApp: App {
///   private let lifecycle = RelayLifecycle(.shared)
///
///   var body: some Scene {
///     WindowGroup {
///       ShopView().relayLifecycle(lifecycle)
///     }
///   }
/// }
/// ```
///
/// The relay goes by the scene that is most in front. What the relay does asynchronously
/// (`restore()`, `willSuspend()`, `didResume()`) is done one after the other, in the order in which
/// the scenes changed. A scene that has ended counts no more.
@MainActor
public final class RelayLifecycle {
  /// How much a person sees of a scene.
  public enum Phase: Comparable, Sendable {
    /// Nothing.
    case background
    /// It can be seen, but not used: during a permission alert, or in the app switcher.
    case inactive
    /// It can be seen and used.
    case active
  }

  /// When the relay's gate is closed.
  public enum GateClosing: Sendable, Hashable {
    /// While all scenes are in the background. An inactive scene is served: it becomes inactive
    /// under the system's own alerts, whose answer may be what a handler waits for.
    case inBackground
    /// While no scene is active.
    case unlessActive
    /// Never by this object.
    case never
  }

  private struct SceneEntry {
    weak var scene: AnyObject?
    var phase: Phase
  }

  private static let reason = "scene phase"

  private let relay: Relay
  private let suspension: Suspension
  private let closing: GateClosing
  private var scenes: [ObjectIdentifier: SceneEntry] = [:]
  private var isLaunched = false
  private var isSuspended = false
  private var last: Task<Void, Never>?

  /// How much a person sees of the scene that is most in front; nil before the first one and
  /// before ``launch()``.
  public private(set) var phase: Phase?

  /// Makes the object; it changes nothing before ``launch()`` or the first scene.
  ///
  /// - Parameters:
  ///   - relay: the relay.
  ///   - closing: when its gate is closed.
  public convenience init(_ relay: Relay, closingGate closing: GateClosing = .inBackground) {
    self.init(relay, closingGate: closing, suspension: Suspension(relay))
  }

  init(_ relay: Relay, closingGate closing: GateClosing, suspension: Suspension) {
    self.relay = relay
    self.closing = closing
    self.suspension = suspension
  }

  /// Begins before there is a scene: closes the gate until one can be seen, and restores. An app
  /// that the system starts for work in the background needs it, and in any other it lets restoring
  /// begin before there is a handler, so that what is restored comes first. Without it the first
  /// scene begins.
  public func launch() {
    guard !isLaunched else { return }
    enter(.background)
  }

  /// Says what has become of a scene.
  ///
  /// - Parameters:
  ///   - phase: how much of it a person sees now.
  ///   - scene: the scene, or any object that lives as long; held weakly. One that has gone without
  ///     ``end(_:)`` is noticed with the next change.
  public func update(_ phase: Phase, of scene: AnyObject) {
    scenes[ObjectIdentifier(scene)] = SceneEntry(scene: scene, phase: phase)
    sum()
  }

  /// A scene has gone. The last one leaves everything as it is.
  public func end(_ scene: AnyObject) {
    scenes[ObjectIdentifier(scene)] = nil
    sum()
  }

  /// Prepares for being suspended without a scene having changed: at the end of work that the
  /// system started the app for.
  public func suspend() async {
    if !isSuspended { addSuspension() }
    await waitUntilSettled()
  }

  /// Undoes ``suspend()`` for further work in the background. A scene that comes to the front does
  /// so by itself.
  public func resume() async {
    if isSuspended { addResumption() }
    await waitUntilSettled()
  }

  /// Waits until what the relay was asked to do is done.
  public func waitUntilSettled() async {
    while let task = last {
      await task.value
      if last == task { last = nil }
    }
  }
}

extension RelayLifecycle {
  /// One of the scenes may have gone.
  func sceneHasGone() { sum() }

  private func sum() {
    scenes = scenes.filter { $0.value.scene != nil }
    guard let new = scenes.values.map(\.phase).max() else { return }
    enter(new)
  }

  private func enter(_ new: Phase) {
    let old = phase
    guard new != old else { return }
    phase = new
    // First of all: what is restored must find the gate as it is to be.
    if isClosed(in: new) {
      relay.gate.close(for: Self.reason)
    } else {
      relay.gate.open(for: Self.reason)
    }
    guard isLaunched else {
      isLaunched = true
      add(suspension.restore)
      return
    }
    if new == .background { return addSuspension() }
    if isSuspended { addResumption() }
    if new == .active { add(suspension.restore) }
  }

  private func isClosed(in phase: Phase) -> Bool {
    switch closing {
    case .inBackground: phase == .background
    case .unlessActive: phase != .active
    case .never: false
    }
  }

  private func addSuspension() {
    isSuspended = true
    add(suspension.willSuspend)
  }

  private func addResumption() {
    isSuspended = false
    add(suspension.didResume)
  }

  /// Adds a step behind those that were asked for before.
  private func add(_ step: @escaping @Sendable () async -> Void) {
    let before = last
    last = Task {
      await before?.value
      await step()
    }
  }
}
