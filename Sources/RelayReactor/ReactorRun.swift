// SPDX-License-Identifier: MIT

/// An action that was sent. It does not keep the reactor alive before it starts.
final class ReactorRun<R: Reactor>: ActionRun, @unchecked Sendable {
  // Safe: what is not constant is only used on the main actor, after `init`; see ActionRun.
  private weak var reactor: R?
  @MainActor private var action: R.Action?
  private let cancellation: CancellationID?

  init(_ reactor: R, _ action: R.Action, cancellation: CancellationID?, number: UInt64) {
    self.reactor = reactor
    self.action = action
    self.cancellation = cancellation
    super.init(
      storage: reactor.container.storage, number: number,
      isBackground: cancellation?.mode == .lifecycle)
  }

  override func policy() -> ActionPolicy? {
    guard let reactor, let action else { return nil }
    return cancellation?.policy ?? reactor.policy(for: action)
  }

  override func body() async -> ActionOutcome {
    guard let reactor, let action else { return .ended }
    do {
      try await reactor.action(action)
      return .finished
    } catch {
      if error is CancellationError, stop != nil { return .cancelled }
      reactor.handle(
        ActionFailure(error: error, action: action, id: name, wasCancelled: stop != nil))
      return .failed
    }
  }

  override func release() { action = nil }

  override func makeName() -> ActionID {
    action.map { ActionID(caseOf: $0) } ?? super.makeName()
  }
}

/// A task of a reactor that is no action.
final class OperationRun<R: Reactor>: ActionRun, @unchecked Sendable {
  // Safe: what is not constant is only used on the main actor, after `init`; see ActionRun.
  private weak var reactor: R?
  @MainActor private var operation: (@MainActor () async throws -> Void)?
  private let givenPolicy: ActionPolicy

  @MainActor
  init(
    _ reactor: R, _ policy: ActionPolicy, number: UInt64,
    _ operation: @escaping @MainActor () async throws -> Void
  ) {
    self.reactor = reactor
    givenPolicy = policy
    self.operation = operation
    super.init(storage: reactor.container.storage, number: number, isBackground: true)
  }

  override func policy() -> ActionPolicy? { givenPolicy }

  override func body() async -> ActionOutcome {
    guard let operation else { return .ended }
    do {
      try await operation()
      return .finished
    } catch {
      if error is CancellationError, stop != nil { return .cancelled }
      let failure = ActionFailure<R.Action>(
        error: error, action: nil, id: name, wasCancelled: stop != nil)
      if let reactor { reactor.handle(failure) } else { failure.report() }
      return .failed
    }
  }

  override func release() { operation = nil }
}
