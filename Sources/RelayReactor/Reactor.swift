// SPDX-License-Identifier: MIT

public import Observation

/// State and the actions that change it, on the main actor.
///
/// ```swift
/// final class CounterReactor: Reactor {
///   struct State {
///     var count = 0
///     var isSaving = false
///   }
///   enum Action { case save }
///   enum SyncAction { case increment }
///
///   let container = StateContainer(State())
///   @ReactorState private(set) var state: State
///
///   func action(_ action: SyncAction) {
///     switch action {
///     case .increment: state.count += 1
///     }
///   }
///
///   func action(_ action: Action) async throws {
///     switch action {
///     case .save:
///       state.isSaving = true
///       defer { state.isSaving = false }
///       try await upload(state.count)
///     }
///   }
/// }
/// ```
///
/// **Order.** ``send(_:isolation:)`` can be called from any isolation; handling starts in the order
/// of the sends, on the main actor, in a turn after the call. **Policies.** ``policy(for:)`` says
/// what happens to actions that come while others run. **Writes.** Only the reactor writes its
/// state, and an action that was overtaken or has outlived the reactor's life writes without
/// effect. **Life.** It ends with the reactor, or with ``end()``. While an action runs it keeps the
/// reactor alive, as any asynchronous method does; a ``ReactorOwner`` ends the life of a reactor
/// when its owner goes, whatever runs. **Seen.** `state` and ``isRunning(_:)-(ActionID)`` can be
/// observed, ``states`` can be iterated, each sent action says how it ended.
@MainActor
@dynamicMemberLookup
public protocol Reactor: AnyObject, Observable, Sendable {
  /// What is seen.
  associatedtype State: Sendable
  /// What can be asked for and takes time.
  associatedtype Action: Sendable
  /// What can be asked for and is done at once; nothing, unless the reactor says otherwise.
  associatedtype SyncAction: Sendable = Never

  /// The state; only the reactor writes it, through ``ReactorState``.
  var state: State { get }

  /// Where the state lies: a constant of the reactor.
  nonisolated var container: StateContainer<State> { get }

  /// Handles an action. It is called by what is sent; calling it directly, with `await`, makes it a
  /// part of the caller, without a policy.
  ///
  /// An error that it throws goes to ``handle(_:)``.
  func action(_ action: Action) async throws

  /// Handles a synchronous action, before the call returns.
  ///
  /// It is called by what is sent (``send(_:isolation:)``). Calling it directly makes it a part of
  /// the caller: it does not wait for what others have sent before.
  func action(_ action: SyncAction)

  /// What happens to an action when others are under way: start beside them, unless the reactor
  /// says otherwise.
  func policy(for action: Action) -> ActionPolicy

  /// Takes an error that an action or a task has thrown; writes a line to standard error unless the
  /// reactor says otherwise.
  ///
  /// What it writes into the state counts if the action's own writes would have counted.
  func handle(_ failure: ActionFailure<Action>)
}

extension Reactor {
  /// Starts at once, beside whatever else runs.
  public func policy(for action: Action) -> ActionPolicy { .concurrent }

  /// Writes a line to standard error.
  public func handle(_ failure: ActionFailure<Action>) { failure.report() }
}

extension Reactor where SyncAction == Never {
  /// There is no synchronous action.
  public func action(_ action: Never) {}
}

// MARK: The state

extension Reactor {
  /// What the state holds: `reactor.query` is `reactor.state.query`.
  ///
  /// Who observes it in this way is told when this part changes, and not when another does, if its
  /// values can be compared; each write compares them once. Through `state` one is told of every
  /// write.
  public subscript<Value>(dynamicMember member: KeyPath<State, Value>) -> Value {
    container.member(member)
  }

  /// The states from the current one on, one for each write, in order; it misses none.
  ///
  /// Each call gives a sequence of its own, for one consumer. What a consumer has not taken yet is
  /// kept, without a limit. The sequence ends with the reactor's life.
  public var states: AsyncStream<State> {
    container.states(keepingNewest: nil)
  }

  /// The states from the current one on, for a consumer that may be slower than the writes.
  ///
  /// - Parameter limit: how many are kept that have not been taken; beyond, the oldest go.
  public func states(keepingNewest limit: Int) -> AsyncStream<State> {
    container.states(keepingNewest: limit)
  }
}
