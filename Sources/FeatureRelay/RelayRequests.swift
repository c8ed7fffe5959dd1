// SPDX-License-Identifier: MIT

extension Relay {
  /// Asks a feature's handler, and waits for its answer.
  ///
  /// The request is an asynchronous command: it waits for a handler like any other, starts in a
  /// later turn of the main actor and holds the feature's lane until the handler has answered.
  /// Cancelling the asking task ends the wait, or cancels the handler's task.
  ///
  /// ```swift
  /// let granted = try await relay.request(PermissionFeature.self, waitingAtMost: .seconds(5)) {
  ///   try await $0.requestCamera()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - feature: the feature that is asked.
  ///   - waitingAtMost: how long it may wait for its start; the feature's or relay's time to live
  ///     by default.
  ///   - executionLimit: how long the handler may take; without a limit by default, a person may be
  ///     reading an alert.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - body: the question, asked on the main actor.
  /// - Returns: the handler's answer.
  /// - Throws: what the handler throws; ``RelayError`` when it was not answered;
  ///   `CancellationError`.
  @inlinable
  public nonisolated(nonsending) func request<F, Response: Sendable>(
    _ feature: F.Type, waitingAtMost: Duration? = nil, executionLimit: Duration? = nil,
    priority: CommandPriority = .normal, tags: [CommandTag] = [],
    _ body: @escaping @MainActor @Sendable (F) async throws -> Response
  ) async throws -> Response {
    let reply = Reply()
    let work = UnmanagedWork(
      RequestWork<F>(reply) { .response(ResponseBox(try await body($0))) })
    let answer = try await ask(
      FeatureKey.of(feature), work, reply, waitingAtMost, executionLimit, priority, tags,
      isolation: #isolation)
    return answer.response(Response.self)
  }

  /// Asks a feature's handler from the main actor: the answer need not be sendable, it stays where
  /// it is.
  ///
  /// - Parameters:
  ///   - feature: the feature that is asked.
  ///   - waitingAtMost: how long it may wait for its start; the feature's or relay's time to live
  ///     by default.
  ///   - executionLimit: how long the handler may take; without a limit by default.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  ///   - body: the question, asked on the main actor.
  /// - Returns: the handler's answer.
  /// - Throws: what the handler throws; ``RelayError`` when it was not answered;
  ///   `CancellationError`.
  @MainActor @inlinable
  public func request<F, Response>(
    _ feature: F.Type, waitingAtMost: Duration? = nil, executionLimit: Duration? = nil,
    priority: CommandPriority = .normal, tags: [CommandTag] = [],
    _ body: @escaping @MainActor @Sendable (F) async throws -> Response
  ) async throws -> Response {
    let reply = Reply()
    let work = UnmanagedWork(
      RequestWork<F>(reply) { .response(ResponseBox(try await body($0))) })
    let answer = try await ask(
      FeatureKey.of(feature), work, reply, waitingAtMost, executionLimit, priority, tags,
      isolation: #isolation)
    return answer.response(Response.self)
  }

  /// Asks a question that has its own type; what is left out follows the type's
  /// ``RelayRequest/policy``.
  ///
  /// - Parameters:
  ///   - request: the question.
  ///   - waitingAtMost: how long it may wait for its start.
  ///   - executionLimit: how long the handler may take.
  ///   - priority: its place among what waits.
  ///   - tags: names by which it can be cancelled.
  /// - Returns: the handler's answer.
  /// - Throws: what the handler throws; ``RelayError`` when it was not answered;
  ///   `CancellationError`.
  @inlinable
  public nonisolated(nonsending) func request<Request: RelayRequest>(
    _ request: Request, waitingAtMost: Duration? = nil, executionLimit: Duration? = nil,
    priority: CommandPriority? = nil, tags: [CommandTag] = []
  ) async throws -> Request.Response {
    let reply = Reply()
    let work = UnmanagedWork(
      RequestWork<Request.Feature>(reply, question: request) { feature in
        .response(ResponseBox(try await request.execute(on: feature)))
      })
    let answer = try await ask(
      FeatureKey.of(Request.Feature.self), work, reply, waitingAtMost, executionLimit, priority,
      tags, policy: Request.policy, isolation: #isolation)
    return answer.response(Request.Response.self)
  }

  /// - Parameters:
  ///   - policy: that of a question with a type of its own.
  ///   - isolation: the caller's, where all of it happens: closures would otherwise begin elsewhere,
  ///     two hops for each.
  /// - Returns: an answer that is a response.
  @usableFromInline
  func ask(
    _ key: UInt, _ work: UnmanagedWork, _ reply: Reply, _ waitingAtMost: Duration?,
    _ executionLimit: Duration?, _ priority: CommandPriority?, _ tags: [CommandTag],
    policy: CommandPolicy? = nil, isolation: isolated (any Actor)?
  ) async throws -> Answer {
    let slot = core.slot(key)
    if let caller = reply.caller, slot.waits(for: caller.chain) {
      work.destroy()
      throw RelayError(
        .waitsForItself, feature: slot.featureName,
        "the request was made from inside a command that it would have to wait for: call the handler directly, or dispatch."
      )
    }
    var command = IncomingCommand(
      request: work, policy, priority, tags, waitingAtMost, executionLimit)
    // A task that prefers an executor waits there.
    let hasPreference = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
    let answer =
      hasPreference
      ? try await waitElsewhere(slot, &command, reply)
      : try await wait(slot, &command, reply, isolation: isolation)
    if case .error(let error) = answer { throw error }
    return answer
  }

  private func wait(
    _ slot: SlotStorage, _ command: inout IncomingCommand, _ reply: Reply,
    isolation: isolated (any Actor)?
  ) async throws -> Answer {
    try await withTaskCancellationHandler {
      _ = isolation
      try slot.offer(&command, reply)
      return await reply.wait()
    } onCancel: {
      if let id = reply.cancel() { slot.cancel(id, includingRunning: true) }
    }
  }

  private nonisolated func waitElsewhere(
    _ slot: SlotStorage, _ command: inout IncomingCommand, _ reply: Reply
  ) async throws -> Answer {
    try await withTaskCancellationHandler {
      try slot.offer(&command, reply)
      return await reply.answer()
    } onCancel: {
      if let id = reply.cancel() { slot.cancel(id, includingRunning: true) }
    }
  }
}

extension SlotStorage {
  /// Takes a request in.
  fileprivate func offer(_ command: inout IncomingCommand, _ reply: Reply) throws {
    let acceptance = accept(&command, onMain: MainQueue.isCurrent)
    if case .refused(let reason) = acceptance.outcome {
      throw RelayError(
        reason == .closed ? .closed : .refused, feature: featureName,
        "the request was refused: \(reason).")
    }
    if let id = acceptance.id, reply.set(id) { cancel(id, includingRunning: true) }
  }
}

extension Answer {
  /// The response of a question that was asked with this type.
  @inlinable
  func response<Response>(_ type: Response.Type) -> Response {
    guard case .response(let box) = self else {
      preconditionFailure("FeatureRelay: an error was taken for a response.")
    }
    // Safe: the box was made by the same request.
    return unsafeDowncast(box, to: ResponseBox<Response>.self).response
  }
}

extension IncomingCommand {
  fileprivate init(
    request work: UnmanagedWork, _ policy: CommandPolicy?, _ priority: CommandPriority?,
    _ tags: [CommandTag], _ waitingAtMost: Duration?, _ executionLimit: Duration?
  ) {
    if let policy {
      self.init(
        work, isAsync: true, policy: policy, priority: priority, tags: tags,
        timeToLive: waitingAtMost.map { .limited($0) }, unique: nil,
        executionLimit: executionLimit)
    } else {
      self.init(
        work, isAsync: true, priority: priority ?? .normal, tags: tags,
        timeToLive: waitingAtMost?.nanoseconds, uniqueness: nil,
        executionLimit: executionLimit?.nanoseconds, retry: .drop)
    }
  }
}

extension SlotStorage {
  /// Whether a request here would wait for one of these commands: for its lane, or for an
  /// ancestor's that serves it.
  fileprivate func waits(for callers: [RunContext]) -> Bool {
    guard callers.contains(where: \.holdsLanes) else { return false }
    var slot: SlotStorage? = self
    var core: RelayCore? = core
    while let current = core {
      if let slot {
        if callers.contains(where: { $0.holdsLane(of: slot) }) { return true }
        if !slot.liveHandlers.isEmpty { return false }
      }
      core = current.parent
      slot = core?.existingSlot(key)
    }
    return false
  }

  /// Ends one command that waits, or asks one that runs to stop.
  ///
  /// - Returns: whether there was such a command.
  @discardableResult
  func cancel(_ id: CommandID, includingRunning: Bool) -> Bool {
    let isFound = update(onMain: MainQueue.isCurrent) { state, effects in
      switch state.status(id) {
      case .waiting:
        state.drop(id.index, .cancelled, &effects)
        return true
      case .running:
        guard includingRunning, let run = state.runs[id.sequence] else { return false }
        effects.cancel(run)
        return true
      case .delivered, .dropped, nil: return false
      }
    }
    if isFound { becameDeliverable(onMain: false) }
    return isFound
  }
}
