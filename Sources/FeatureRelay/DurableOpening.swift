// SPDX-License-Identifier: MIT

internal import Dispatch
internal import RelayJournal

// How a relay comes to its journal: declared types, and a directory that is opened in the
// background.

extension DurableStore {
  /// Opens the journal in the background, unless that has been done or is being done.
  func open() {
    guard hasJournal else { return }
    let isBegun = state.withLock { state in
      switch state.phase {
      case .new, .unavailable, .inbox:
        state.beginOpening()
        return true
      default: return false
      }
    }
    guard isBegun else { return }
    opening.enter()
    DispatchQueue.global(qos: .userInitiated).async { [self] in
      openNow()
      opening.leave()
    }
  }

  /// Waits until the journal is open or cannot be opened; returns at once where that is known.
  func waitUntilOpen() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        guard case .opening = state.phase else { return true }
        state.openWaiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// One caller at a time waits for the opening, as for a write of its own; the others go behind.
  func waitForOpening() {
    let waits = state.withLock { state in
      guard case .opening = state.phase, !state.isSomebodyWaiting else { return false }
      state.isSomebodyWaiting = true
      return true
    }
    guard waits else { return }
    _ = opening.wait(timeout: .now() + Self.openingLimit)
  }

  private func openNow() {
    let now = clock.now
    let path: String
    do {
      path = try location.resolve()
    } catch {
      return opened(.unavailable("\(error)"), nil, at: now)
    }
    let result = Journal.open(
      path, fileSystem: location.fileSystem, options: options())
    switch result.outcome {
    case .empty, .recovered, .damaged:
      guard let journal = result.journal else { return opened(.unavailable(""), nil, at: now) }
      Platform.protect(path)
      opened(journal, result, at: now)
    case .newer: opened(.newer, result, at: now)
    case .unavailable(.locked):
      opened(
        .inbox(JournalInbox(path, fileSystem: location.fileSystem, options: options())), result,
        at: now)
    case .unavailable(.notPermitted(let error)), .unavailable(.failed(let error)):
      opened(.unavailable("\(error)"), result, at: now)
    }
  }

  private func opened(_ journal: Journal, _ result: JournalOpening, at now: Int64) {
    guard let installation = location.installation else {
      return opened(.open(journal), result, at: now)
    }
    do {
      guard let dropped = try journal.claim(for: installation) else {
        return opened(.open(journal), result, at: now)
      }
      // First: whoever waits for the opening has been told when it goes on.
      tell(.otherInstallation(dropped: dropped))
      opened(.open(journal), .empty(journal), at: now)
    } catch {
      journal.close()
      opened(.unavailable("\(error)"), nil, at: now)
    }
  }

  private func options() -> JournalOptions {
    var options = JournalOptions()
    options.onEvent = { [weak self] event in self?.happened(event) }
    options.placeCheckInterval = location.placeCheckInterval
    options.makeIdentifier = { RecordNumber.next().value }
    return options
  }

  private func opened(
    _ phase: DurableStoreState.Phase, _ opening: JournalOpening?, at now: Int64
  ) {
    // Taken apart outside the lock: there may be many.
    let entries = opening?.entries ?? []
    let outcome = state.withLock { $0.endOpening(phase, opening?.outcome, entries) }
    switch phase {
    case .open where outcome.isClosed: opening?.journal?.close()
    case .inbox(let inbox) where outcome.isClosed: inbox.close()
    case .open:
      if case .damaged(_, let lost)? = opening?.outcome { tell(.damaged(lost: lost)) }
      write(outcome.writes)
      flush()
    case .inbox: tell(.ownedByAnother)
    case .newer: tell(.newer)
    case .unavailable(let reason):
      let (isTold, delay) = state.withLock { $0.fail(at: now) }
      if isTold { tell(.unavailable(reason)) }
      if let delay { retry(after: delay) }
    default: break
    }
    for waiter in outcome.waiters { waiter.resume() }
  }

  private func happened(_ event: JournalEvent) {
    switch event {
    case .stalled:
      tell(.stalled)
      clock.schedule(at: clock.now.saturatingAdd(settings.stallLimit.nanoseconds)) { [weak self] in
        guard let self, state.withLock({ $0.passStallLimit() }) else { return }
        tell(.memoryOnly)
      }
    case .answered:
      state.withLock { $0.isPastStallLimit = false }
      tell(.answered)
      flush()
    case .recreated:
      Platform.protect(try? location.resolve())
      tell(.recreated)
    case .quarantined(_, let lost):
      // An opening tells by itself, once the journal can be used.
      let isOpening = state.withLock { state in
        if case .opening = state.phase { true } else { false }
      }
      if !isOpening { tell(.damaged(lost: lost)) }
    case .compacted, .rolled: Platform.protect(try? location.resolve())
    case .failed: break
    }
  }
}

// MARK: Declarations

extension DurableStore {
  /// Makes the durable side of a relay whose journal is nobody else's in this process.
  static func taking(
    _ location: JournalLocation, _ configuration: RelayConfiguration,
    _ declarations: [DurableDeclaration]
  ) throws(RelayError) -> DurableStore {
    guard JournalDirectories.take(location) else {
      throw RelayError(
        .journalInUse,
        """
        another relay of this process keeps its commands there: give each relay a directory of its \
        own, or close the other one first.
        """)
    }
    let store = DurableStore(location, configuration)
    store.declare(declarations)
    return store
  }
}

extension DurableStore {
  /// Takes types in. One name for two types traps.
  func declare(_ declarations: [DurableDeclaration]) {
    for declaration in declarations {
      let other = state.withLock { $0.declarations.add(declaration) }
      if let other {
        mistake(
          """
          Relay: \(other.typeName) and \(declaration.typeName) have the same commandName \
          "\(declaration.name)": give one of them another name.
          """)
      }
    }
  }

  /// The declaration of a type that is dispatched; one that nobody declared is told of.
  func declaration<Command>(of type: Command.Type) -> DurableDeclaration {
    if let declaration = state.withLock({ $0.declarations[type] }) { return declaration }
    guard let durable = type as? any DurableCommand.Type else {
      mistake("Relay: \(type) says that it is durable: let it be a DurableCommand.")
    }
    let declaration = DurableDeclaration.of(durable)
    declare([declaration])
    core?.record(.undeclared(name: declaration.name))
    core?.log.handOut()
    return declaration
  }
}
