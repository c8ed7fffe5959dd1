// SPDX-License-Identifier: MIT

// Sending actions, and following what became of them.

extension Reactor {
  /// Sends an action.
  ///
  /// Handling starts in a later turn of the main actor, in the order of all sends, as soon as the
  /// action's policy allows. Sent from the main actor, it counts as running when the call returns,
  /// if the policy lets it start. The reactor is not kept alive before the action starts.
  ///
  /// - Parameters:
  ///   - action: the action.
  ///   - isolation: the caller's; leave it out.
  /// - Returns: the run, to follow or cancel it.
  /// - Complexity: constant, for all that a policy does not hold back or let wait.
  @discardableResult
  public nonisolated func send(
    _ action: Action, isolation: (any Actor)? = #isolation
  ) -> ActionRun {
    submit(action, cancellation: nil, isolation)
  }

  /// Sends an action under an id of its own, which takes the place of its policy.
  @discardableResult
  public nonisolated func send(
    _ action: Action, cancellation: CancellationID, isolation: (any Actor)? = #isolation
  ) -> ActionRun {
    submit(action, cancellation: cancellation, isolation)
  }

  /// Sends an action from the main actor: ``send(_:isolation:)`` under a name that reads well in a
  /// view. In an asynchronous function the name means the handler itself; send there.
  @discardableResult
  public func action(_ action: Action) -> ActionRun {
    submit(action, cancellation: nil, MainActor.shared)
  }

  /// Sends a synchronous action.
  ///
  /// From the main actor it has been handled when the call returns, after all that was sent before
  /// has been started; from elsewhere it is handled in a later turn, in the order of all sends.
  public nonisolated func send(_ action: SyncAction, isolation: (any Actor)? = #isolation) {
    let storage = container.storage
    guard storage.isAdmitting else { return }
    if isolation === MainActor.shared {
      MainActor.assumeIsolated {
        storage.drain()
        self.action(action)
      }
    } else {
      // It counts as the sender's, wherever it is handled, and as nobody else's.
      let sender = ActionRun.current
      storage.submit(
        .call { [weak self] in
          ActionRun.$current.withValue(sender) { self?.action(action) }
        }, isolation: isolation)
    }
  }

  private nonisolated func submit(
    _ action: Action, cancellation: CancellationID?, _ isolation: (any Actor)?
  ) -> ActionRun {
    let storage = container.storage
    let run = ReactorRun(
      self, action, cancellation: cancellation, number: storage.nextNumber())
    storage.submit(run, isolation)
    return run
  }
}

extension ReactorStorage {
  func submit(_ run: ActionRun, _ isolation: (any Actor)?) {
    // What an overtaken action asks for would be its late answer by another way.
    if isAdmitting {
      submit(.run(run), isolation: isolation)
    } else {
      run.complete(hasEnded ? .ended : .overtaken)
    }
  }
}

// MARK: Following

extension Reactor {
  /// Whether an action or a task of the id has started and has not ended; can be observed. Those
  /// that were overtaken don't count.
  public func isRunning(_ id: ActionID) -> Bool {
    container.storage.isRunning(id)
  }

  /// Whether something of the action's id runs: of the id that its policy gives, or of its case.
  public func isRunning(_ action: Action) -> Bool {
    isRunning(policy(for: action).id ?? ActionID(caseOf: action))
  }

  /// How many actions are held back by a debounce or a throttle.
  public var heldCount: Int { container.storage.heldCount }

  /// Waits until nothing that was sent runs, waits or is about to start.
  ///
  /// It does not wait for what is held back by a debounce or a throttle, which only the clock lets
  /// go, nor for tasks and actions that are bound to the life. An action that waits for this in its
  /// own reactor waits for ever.
  public nonisolated func waitUntilIdle() async {
    await container.storage.waitUntilIdle()
  }
}

// MARK: Cancelling

extension Reactor {
  /// Cancels everything of an id: what is held back or waits does not start, the tasks of what runs
  /// are cancelled.
  ///
  /// - Parameters:
  ///   - id: the id.
  ///   - discardingWrites: whether what runs loses its effect on the state as well. By default it
  ///     can still write, to tidy up.
  public func cancel(_ id: ActionID, discardingWrites: Bool = false) {
    container.storage.cancel(id, discardingWrites: discardingWrites)
  }

  /// Cancels everything of the action's id.
  public func cancel(_ action: Action, discardingWrites: Bool = false) {
    cancel(
      policy(for: action).id ?? ActionID(caseOf: action), discardingWrites: discardingWrites)
  }

  /// Ends the reactor's life: nothing starts any more, what runs is cancelled, no further write has
  /// an effect, ``states`` ends. It cannot be undone.
  public func end() {
    for run in container.end() { container.storage.runningChanged(run) }
  }

  /// Whether the life has ended.
  public nonisolated var hasEnded: Bool { container.storage.hasEnded }
}
