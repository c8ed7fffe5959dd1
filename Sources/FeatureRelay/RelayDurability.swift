// SPDX-License-Identifier: MIT

// A relay whose durable commands survive the process.

extension Relay {
  /// Makes a module's own relay with a journal for its durable commands.
  ///
  /// Nothing is read or written on the calling thread: what the disk has to say comes by ``events``
  /// and by ``restore()``, which is to be awaited on launch and on every resume.
  ///
  /// ```swift
  /// let outbox = try Relay(
  ///   scope: "outbox", parent: .shared, journal: .directory(url),
  ///   restoring: SendReceipt.self, UploadPhoto.self)
  /// await outbox.restore()
  /// ```
  ///
  /// - Parameters:
  ///   - scope: a name for events, logs and dumps; a blank one traps.
  ///   - parent: the relay whose handlers, and gates, serve what is not handled here.
  ///   - configuration: limits, clock and replay.
  ///   - journal: where durable commands are kept.
  ///   - types: the durable types that the relay knows. One name for two types traps.
  /// - Throws: ``RelayError`` with ``RelayError/Code/journalInUse`` when another relay of this
  ///   process has the directory.
  public convenience init(
    scope: String, parent: Relay? = nil, configuration: RelayConfiguration = .standard,
    journal: JournalLocation, restoring types: any DurableCommand.Type...
  ) throws(RelayError) {
    try self.init(
      scope: scope, parent: parent, configuration: configuration, journal: journal,
      declarations: types.map { DurableDeclaration.of($0) })
  }

  /// The same for types that are known at run time only.
  package convenience init(
    scope: String, parent: Relay? = nil, configuration: RelayConfiguration,
    journal: JournalLocation, declaring types: [any DurableCommand.Type]
  ) throws(RelayError) {
    try self.init(
      scope: scope, parent: parent, configuration: configuration, journal: journal,
      declarations: types.map { DurableDeclaration.of($0) })
  }

  private convenience init(
    scope: String, parent: Relay?, configuration: RelayConfiguration, journal: JournalLocation,
    declarations: [DurableDeclaration]
  ) throws(RelayError) {
    let store = try DurableStore.taking(journal, configuration, declarations)
    self.init(scope: scope, parent: parent, configuration: configuration, store: store)
    store.open()
  }

  /// Declares durable types that were not known when the relay was made: records that waited for
  /// one of them are delivered from now on.
  ///
  /// Declaring a type again changes nothing. One name for two types traps.
  public func declare(_ types: any DurableCommand.Type...) {
    let store = core.durableStore
    store.declare(types.map { DurableDeclaration.of($0) })
    store.mergeParked(into: core)
  }

  /// Brings back what an earlier process, or another one, has left in the journal.
  ///
  /// Call it on launch and on every resume: where there is nothing new it does nothing. Calls at the
  /// same time share one run. The reading happens off the main actor; until it is over, commands of
  /// declared features wait, since what is restored comes first. Payloads are read when they are
  /// delivered.
  ///
  /// - Returns: what was found.
  @discardableResult
  public func restore() async -> RestorationResult {
    guard let store = core.existingStore, store.hasJournal else { return .empty }
    return await store.restore(into: core)
  }

  /// Gets ready for being suspended, or killed while suspended: writes out what waits, notes that
  /// what runs was interrupted, and gives up the journal's lock.
  ///
  /// Until ``didResume()`` durable commands live in memory.
  public func willSuspend() async {
    await core.existingStore?.suspend(core)
  }

  /// Goes on after ``willSuspend()``: takes the lock again, writes what came meanwhile, and
  /// restores.
  ///
  /// - Returns: what was found.
  @discardableResult
  public func didResume() async -> RestorationResult {
    guard let store = core.existingStore, store.hasJournal else { return .empty }
    return await store.resume(core)
  }

  /// Waits until a durable command survives what its relay promises, or has ended.
  ///
  /// - Parameter acceptance: what `dispatch` returned.
  /// - Returns: what it survives now; `.inMemory` for a command that is not durable, or in a relay
  ///   without a journal.
  @discardableResult
  public func waitUntilPersisted(_ acceptance: Acceptance) async -> Durability {
    guard let id = acceptance.id, id.isDurable, let durable = core.durable(id) else {
      return acceptance.durability
    }
    guard let store = durable.store else { return .inMemory }
    await store.waitUntilPersisted(durable)
    return durable.reached
  }
}

// MARK: Dead letters

extension Relay {
  /// The durable commands that were given up on, the oldest first; as far as the journal has been
  /// read (``restore()``).
  public var deadLetters: [DeadLetter] {
    core.existingStore?.state.withLock { $0.deadLetters } ?? []
  }

  /// Gives a dead letter another chance: it waits again, behind what waits already, with no attempts
  /// counted.
  ///
  /// - Returns: false when it is not there any more, or nobody declares its name.
  @discardableResult
  public func retry(_ letter: DeadLetter) -> Bool {
    core.existingStore?.revive(letter, into: core) ?? false
  }

  /// Removes a dead letter for good.
  ///
  /// - Returns: false when it is not there any more.
  @discardableResult
  public func discard(_ letter: DeadLetter) -> Bool {
    core.existingStore?.discard(letter) ?? false
  }
}
