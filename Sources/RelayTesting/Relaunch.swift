// SPDX-License-Identifier: MIT

public import FeatureRelay

extension Relay {
  /// Kills the process, as far as a test can: gives the relay that the next process makes over the
  /// same journal.
  ///
  /// ```swift
  /// let relay = Relay.testing(journal: .temporary, restoring: SendReceipt.self)
  /// relay.dispatch(SendReceipt(orderID: "42"))
  /// let next = await relay.relaunch()
  /// next.recorder.expectWaiting(.command(SendReceipt(orderID: "42")))
  /// ```
  ///
  /// This relay loses what it has not written, without a last word, and is closed. The new one has
  /// no handlers, closed no gates and starts with an empty recorder, in which restored commands
  /// stand as waiting; it stands in for `Relay.shared` where this one did. Time goes on in the same
  /// ``ManualClock``. Only for relays that `Relay.testing` or the trait ``RelayTrait`` made; one
  /// without a journal comes back empty.
  ///
  /// - Parameter restores: whether `restore()` is called; false where the code under test does.
  /// - Returns: the new relay.
  public func relaunch(restores: Bool = true) async -> Relay {
    let context = RelayTestContext.of(self, for: "relaunch()")
    context.plan.place?.kill()
    close()
    let next = RelayTestContext.makeRelay(context.plan, standIn: context.standIn)
    if restores { await next.restore() }
    return next
  }

  /// Dispatches a command and kills the process in the middle of it: its start is written down, its
  /// end is not. Then as ``relaunch(restores:)``.
  ///
  /// The handler itself runs on in the old relay, like one that died at its last line. Fails the
  /// test when the relay comes to rest and the command has not been started: when no handler is
  /// there, or a gate is closed. It waits for commands that run: one that a test holds has to be let
  /// go before.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - restores: whether `restore()` is called; false where the code under test does.
  ///   - fileID: leave it out, like the other places in the source.
  /// - Returns: the new relay.
  @MainActor
  public func relaunch<Command: RelayCommand>(
    afterCrashIn command: Command, restores: Bool = true, fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async -> Relay {
    await relaunch(
      afterCrashIn: "\(Command.self)", restores: restores,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column)
    ) { _ = $0.dispatch(command) }
  }

  /// Dispatches an asynchronous command and kills the process in the middle of it.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - restores: whether `restore()` is called; false where the code under test does.
  ///   - fileID: leave it out, like the other places in the source.
  /// - Returns: the new relay.
  @MainActor
  public func relaunch<Command: AsyncRelayCommand>(
    afterCrashIn command: Command, restores: Bool = true, fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async -> Relay {
    await relaunch(
      afterCrashIn: "\(Command.self)", restores: restores,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column)
    ) { _ = $0.dispatch(command) }
  }

  @MainActor
  private func relaunch(
    afterCrashIn type: String, restores: Bool, at place: SourcePlace,
    _ dispatch: @MainActor (Relay) -> Void
  ) async -> Relay {
    let context = RelayTestContext.of(self, for: "relaunch(afterCrashIn:)")
    let crash = Crash(type, in: context)
    observe(crash)
    dispatch(self)
    // Whichever comes first: the start, or that nothing is left that could start.
    let idle = Task {
      await waitUntilIdle()
      crash.isOver.open()
    }
    await crash.isOver.wait()
    idle.cancel()
    if !crash.hasHappened {
      var text = FailureText("\(type) was to be crashed in, and was not started.")
      text.addTable("Dispatched:", context.recorder.all)
      context.recorder.test.fail(text.text, at: place)
    }
    return await relaunch(restores: restores)
  }
}

/// Kills the process at the start of a command that was dispatched after this was made. Events are
/// handed out when their records are written and before the handler runs.
private final class Crash: RelayObserver {
  let isOver = Latch()
  private let type: String
  private let place: TestJournalPlace?
  private let earlier: Set<CommandID>
  private let happened = SeenMutex(false)

  var hasHappened: Bool { happened.withLock { $0 } }

  init(_ type: String, in context: RelayTestContext) {
    self.type = type
    place = context.plan.place
    earlier = Set(context.recorder.all.compactMap(\.id))
  }

  func observe(_ event: RelayEvent) {
    guard case .started = event.kind, event.command == type, let id = event.id,
      !earlier.contains(id)
    else { return }
    let isFirst = happened.withLock { happened in
      defer { happened = true }
      return !happened
    }
    guard isFirst else { return }
    place?.kill()
    isOver.open()
  }
}
