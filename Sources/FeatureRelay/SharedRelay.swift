// SPDX-License-Identifier: MIT

internal import Synchronization

extension Relay {
  private struct Bootstrap {
    var setup: Setup?
    var isInUse = false
  }

  /// What ``shared`` is to be made with.
  private final class Setup: Sendable {
    let configuration: RelayConfiguration
    let store: DurableStore?

    init(_ configuration: RelayConfiguration, _ store: DurableStore?) {
      self.configuration = configuration
      self.store = store
    }
  }

  /// An object, which is made at run time. As a static lock it is laid out by the optimiser of Swift
  /// 6.3, with an optional that is nil as if it were all zeros (SharedRelayTests in release).
  private final class BootstrapBox: Sendable {
    let state: Lock<Bootstrap>

    @inline(never)
    init(_ setup: Setup?) {
      state = Lock(Bootstrap(setup: setup))
    }
  }

  private static let bootstrap = BootstrapBox(nil)

  /// The app's relay, made on first use.
  ///
  /// In a test, a relay of the test's own can stand in for it: see the module `RelayTesting`. A test
  /// process in which none does says so.
  public static var shared: Relay {
    if let relay = SharedRelay.published.load(ordering: .acquiring) {
      return relay.takeUnretainedValue()
    }
    return SharedRelay.find { app }
  }

  private static let app: Relay = {
    let setup = bootstrap.state.withLock { bootstrap in
      bootstrap.isInUse = true
      return bootstrap.setup
    }
    let relay = Relay(
      scope: "app", parent: nil, configuration: setup?.configuration ?? .standard,
      store: setup?.store)
    setup?.store?.open()
    return relay
  }()

  /// Sets up ``shared``, once, before its first use.
  ///
  /// ```swift
  /// try Relay.bootstrap(journal: .applicationSupport("main"), restoring: SendReceipt.self)
  /// await Relay.shared.restore()
  /// ```
  ///
  /// - Parameters:
  ///   - configuration: limits, clock and replay.
  ///   - journal: where durable commands are kept.
  ///   - types: the durable types that the relay knows. One name for two types traps.
  /// - Throws: ``RelayError`` with ``RelayError/Code/sharedInUse`` when it is set up or in use
  ///   already, with ``RelayError/Code/journalInUse`` when another relay has the directory.
  public static func bootstrap(
    configuration: RelayConfiguration = .standard, journal: JournalLocation = .none,
    restoring types: any DurableCommand.Type...
  ) throws(RelayError) {
    let store = try DurableStore.taking(
      journal, configuration, types.map { DurableDeclaration.of($0) })
    let isTooLate = bootstrap.state.withLock { bootstrap in
      if bootstrap.isInUse || bootstrap.setup != nil { return true }
      bootstrap.setup = Setup(configuration, store)
      return false
    }
    if isTooLate {
      JournalDirectories.release(journal)
      throw RelayError(
        .sharedInUse,
        "Relay.shared is set up or in use already: call bootstrap once, first thing in the app's main."
      )
    }
  }
}
