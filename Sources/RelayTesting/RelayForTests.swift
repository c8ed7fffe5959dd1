// SPDX-License-Identifier: MIT

public import FeatureRelay

extension Relay {
  /// Makes a relay for a test: nothing in it waits for real time, or for a later turn of the main
  /// actor.
  ///
  /// ```swift
  /// let relay = Relay.testing()
  /// LoginViewModel(relay: relay).loginSucceeded()
  /// relay.recorder.expectDispatched(ShowToast(message: "Welcome back!"))
  /// ```
  ///
  /// It replays at once where the caller is on the main actor, its clock is a ``ManualClock``, its
  /// jitter follows from a fixed seed, it keeps its handlers alive, and it records what is
  /// dispatched to it from the beginning. It ends with its last reference; `Relay.testing(in:)` and
  /// the trait ``RelayTrait`` end it with the test. Callable from any thread.
  ///
  /// - Parameters:
  ///   - scope: the relay's name in messages.
  ///   - parent: the relay that serves what this one has no handler for.
  ///   - configuration: limits, times and retries; its clock and replay are replaced.
  ///   - clock: the relay's clock; several relays may share one.
  ///   - replay: when what waits is delivered to a new handler.
  ///   - ownership: how handlers are held whose registration does not say it.
  ///   - journal: where durable commands are kept.
  ///   - types: the durable types that the relay knows.
  /// - Returns: the relay.
  public static func testing(
    scope: String = "test", parent: Relay? = nil, configuration: RelayConfiguration = .standard,
    clock: ManualClock = ManualClock(), replay: RelayConfiguration.Replay = .immediate,
    ownership: HandlerOwnership = .owned, journal: TestJournal = .none,
    restoring types: any DurableCommand.Type...
  ) -> Relay {
    RelayTestContext.makeRelay(
      RelayTestContext.Plan(
        scope: scope, parent: parent,
        configuration: configuration.forTests(clock, replay, ownership), clock: clock,
        place: TestJournalPlace(journal), types: types),
      standIn: nil)
  }

  /// The clock of a relay that was made for a test; traps for another one.
  public var manualClock: ManualClock {
    RelayTestContext.of(self, for: "manualClock").plan.clock
  }

  /// What was dispatched to a relay that was made for a test, from its beginning; traps for another
  /// one, see ``RelayRecorder/init(_:)``.
  public var recorder: RelayRecorder { RelayTestContext.of(self, for: "recorder").recorder }

  /// The test is over: nothing of the relay is to reach another one.
  func endTest() {
    close()
    (configuration.attachment as? RelayTestContext)?.plan.place?.remove()
  }
}

extension RelayConfiguration {
  /// The settings with what a test needs in place of what an app needs.
  func forTests(
    _ clock: ManualClock, _ replay: RelayConfiguration.Replay, _ ownership: HandlerOwnership
  ) -> RelayConfiguration {
    var configuration = self
    configuration.clock = clock.relayClock
    configuration.replay = replay
    configuration.seed = seed ?? SeededGenerator.testSeed
    configuration.ownership = ownership
    return configuration
  }
}

extension Relay {
  /// The directory of a relay that was made for a test, where it has a journal.
  package var journalPathForTests: String? {
    RelayTestContext.of(self, for: "journalPathForTests").plan.place?.path
  }
}
