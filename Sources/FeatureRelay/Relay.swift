// SPDX-License-Identifier: MIT

/// Brings commands to whoever handles them: once, in order, on the main actor, now or as soon as
/// somebody can.
///
/// Business code says *what* should happen, an app shell or a module says *how*:
///
/// ```swift
/// protocol ToastFeature: RelayFeature { func show(_ message: String) }
///
/// let presenter = ToastPresenter()                                // a class that is a ToastFeature
/// Relay.shared.register(presenter, for: ToastFeature.self)        // held weakly
/// Relay.shared.dispatch(ToastFeature.self) { $0.show("Welcome") } // from any thread
/// ```
///
/// **Order.** Commands of one feature and one priority start in the order in which they were
/// accepted, whatever threads they came from. **Main actor.** Handlers run on the main actor,
/// always. A synchronous command that is dispatched there, with a handler present, open gates and
/// nothing running in its feature, has run when `dispatch` returns. **Waiting.** Without a handler,
/// behind a closed gate or behind a command that runs, a command waits, up to its time to live and
/// the queue's limit. **Weak.** A relay does not keep handlers alive and needs no `unregister`.
/// **Seen.** Every command ends once, delivered or with a reason: see ``events``, ``snapshot()``
/// and ``dump()``.
///
/// A relay can be used from any thread. It has a parent whose handlers serve what its own do not; a
/// parent lives as long as its children. Nothing keeps a relay alive but its users and, for one
/// turn of the main actor, the commands that it was about to deliver. Its deinit is ``close()``.
///
/// Safe to share: `core` guards itself, and `directory` is a word of atomic memory that `core` owns;
/// RaceTests under the thread sanitizer would notice.
public final class Relay: @unchecked Sendable {
  /// Where the direct path finds the relay's slots.
  @usableFromInline let directory: UnsafeMutablePointer<SlotDirectory>
  let core: RelayCore

  /// The relay that serves what this one has no handler for.
  public let parent: Relay?

  /// The name of the module that the relay belongs to.
  public var scope: String { core.scope }

  /// The settings that the relay was made with.
  public var configuration: RelayConfiguration { core.configuration }

  /// Makes a module's own relay.
  ///
  /// - Parameters:
  ///   - scope: a name for events, logs and dumps; a blank one traps.
  ///   - parent: the relay whose handlers, and gates, serve what is not handled here.
  ///   - configuration: limits, clock and replay.
  public convenience init(
    scope: String, parent: Relay? = nil, configuration: RelayConfiguration = .standard
  ) {
    self.init(scope: scope, parent: parent, configuration: configuration, store: nil)
  }

  init(
    scope: String, parent: Relay?, configuration: RelayConfiguration, store: DurableStore?
  ) {
    if let problem = ConfigurationError.check(scope: scope) {
      mistake("Relay: \(problem)")
    }
    self.parent = parent
    core = RelayCore(
      scope: scope, configuration: configuration, parent: parent?.core, store: store)
    directory = core.directory
    core.relay = self
  }

  deinit {
    close()
    core.dismantle()
  }
}

// MARK: Handlers

extension Relay {
  /// Registers a handler for a feature. It becomes the active one; those registered before it stand
  /// below it.
  ///
  /// What waits is delivered in a later turn of the main actor. Registering the same object again
  /// moves it to the top and ends its older registration.
  ///
  /// - Parameters:
  ///   - handler: the object that implements the feature.
  ///   - feature: a class-bound protocol, a composition or a class; anything else traps with a
  ///     sentence.
  ///   - ownership: whether the relay keeps the handler alive; it does not by default, but for the
  ///     relays that `RelayTesting` makes.
  /// - Returns: the registration. Dropping it changes nothing.
  /// - Complexity: constant, plus the number of child relays.
  @discardableResult
  public func register<F>(
    _ handler: F, for feature: F.Type, ownership: HandlerOwnership? = nil
  ) -> Registration {
    let id = RegistrationEntry.nextID()
    push(handler, for: feature, id: id, ownership: ownership)
    return Registration(id: id, relay: core, key: FeatureKey.of(feature))
  }

  /// Registers one handler, a coordinator for example, for several features at once.
  ///
  /// - Parameters:
  ///   - handler: the object; it traps with a sentence unless it conforms to all of them.
  ///   - first: a feature.
  ///   - second: another one.
  ///   - others: further ones.
  ///   - ownership: whether the relay keeps the handler alive; it does not by default, but for the
  ///     relays that `RelayTesting` makes.
  /// - Returns: one registration for all of them.
  @discardableResult
  public func register<First, Second, each Other>(
    _ handler: any AnyObject & Sendable, for first: First.Type, _ second: Second.Type,
    _ others: repeat (each Other).Type, ownership: HandlerOwnership? = nil
  ) -> Registration {
    let id = RegistrationEntry.nextID()
    let group = RegistrationGroup()
    var keys = [FeatureKey.of(second)]
    push(cast(handler, to: first), for: first, id: id, ownership: ownership, group: group)
    push(cast(handler, to: second), for: second, id: id, ownership: ownership, group: group)
    for other in repeat each others {
      push(cast(handler, to: other), for: other, id: id, ownership: ownership, group: group)
      keys.append(FeatureKey.of(other))
    }
    return Registration(id: id, relay: core, key: FeatureKey.of(first), otherKeys: keys)
  }

  private func cast<F>(_ handler: AnyObject, to feature: F.Type) -> F {
    FeatureShape.check(feature)
    guard let handler = handler as? F else {
      mistake(
        "Relay: \(type(of: handler)) does not conform to \(feature): let it conform, or leave the feature out."
      )
    }
    return handler
  }

  private func push<F>(
    _ handler: F, for feature: F.Type, id: UInt64, ownership: HandlerOwnership?,
    group: RegistrationGroup? = nil
  ) {
    let slot = core.slot(FeatureKey.of(feature))
    let entry = RegistrationEntry(
      handler, ownership: ownership ?? core.configuration.ownership, id: id, group: group)
    directory.registrationsChanged()
    slot.register(entry)
  }

  /// Removes all handlers of a feature.
  public func unregister<F>(_ feature: F.Type) {
    core.existingSlot(FeatureKey.of(feature))?.unregister { _ in true }
  }

  /// Removes one handler of a feature; another one that is registered for it is not touched.
  public func unregister<F>(_ handler: F, for feature: F.Type) {
    let object = handler as AnyObject
    core.existingSlot(FeatureKey.of(feature))?.unregister { $0 === object }
  }

  /// Removes all handlers of all features.
  public func unregisterAll() {
    for slot in core.slots { slot.unregister { _ in true } }
  }

  /// Whether a handler that lives is registered for the feature in this relay; a parent's does not
  /// count.
  public func isRegistered<F>(_ feature: F.Type) -> Bool {
    core.existingSlot(FeatureKey.of(feature))?.liveHandlers.isEmpty == false
  }
}

// MARK: The queue

extension Relay {
  /// How many commands wait for the feature in this relay, for whatever reason; what runs does not
  /// count.
  public func pendingCount<F>(_ feature: F.Type) -> Int {
    core.existingSlot(FeatureKey.of(feature))?.pendingCount ?? 0
  }

  /// How many commands wait in this relay.
  public var pendingCount: Int { core.slots.reduce(0) { $0 + $1.pendingCount } }

  /// Drops what waits for the feature.
  ///
  /// - Returns: how many commands.
  @discardableResult
  public func clearQueue<F>(_ feature: F.Type) -> Int {
    let key = FeatureKey.of(feature)
    let unread = core.existingStore?.clear(key) ?? 0
    return unread + (core.existingSlot(key)?.clear() ?? 0)
  }

  /// Drops all that waits in this relay.
  ///
  /// - Returns: how many commands.
  @discardableResult
  public func clearQueue() -> Int {
    let unread = core.existingStore?.clear(nil) ?? 0
    return core.slots.reduce(unread) { $0 + $1.clear() }
  }

  /// Ends the commands that carry a tag.
  ///
  /// - Parameters:
  ///   - tag: the tag.
  ///   - includingRunning: whether asynchronous commands that run are asked to stop, by cancelling
  ///     their task. Their end counts as it comes: delivered, or cancelled when they throw.
  ///   - erasing: whether nothing of them may be left on disk, dead letters with the tag included:
  ///     the journal is written anew before this returns.
  /// - Returns: how many commands.
  /// - Complexity: in the number of commands with the tag, and of the relay's features.
  @discardableResult
  public func cancel(tagged tag: CommandTag, includingRunning: Bool = false, erasing: Bool = false)
    -> Int
  {
    let store = core.existingStore
    let unread = store?.cancel(tagged: tag) ?? 0
    let count = core.slots.reduce(unread) {
      $0 + $1.cancel(tagged: tag, includingRunning: includingRunning)
    }
    if erasing { store?.erase(tag) }
    return count
  }

  /// Changes the settings of one feature. What waits already is not touched.
  public func configure<F>(_ feature: F.Type, _ configuration: FeatureConfiguration) {
    let key = FeatureKey.of(feature)
    core.slot(key).configure(configuration)
    if configuration.durable != .standard || core.existingStore != nil {
      core.durableStore.configure(key, configuration.durable)
    }
  }

  /// Ends everything: commands that wait or run, requests, registrations, unique keys, and all that
  /// lies in the journal. The relay can be used again; gates, settings and counts stay.
  ///
  /// When it returns no further command starts that was dispatched before. A handler that runs may
  /// finish; what an asynchronous one does after that changes nothing here.
  public func reset() {
    core.empty(.reset)
  }

  /// Ends everything, for good: from now on commands are refused. ``events`` end. What lies in the
  /// journal stays there for the next relay with the same directory; what runs counts as
  /// interrupted.
  public func close() {
    guard !core.isClosed else { return }
    core.empty(.closed)
    core.log.finish()
  }

  /// Waits until nothing runs and nothing can be delivered now.
  ///
  /// Commands that wait for a handler, a gate or a retry do not count. A command that calls it does
  /// not wait for itself.
  public func waitUntilIdle() async {
    await core.waitUntilIdle()
  }
}
