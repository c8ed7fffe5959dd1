// SPDX-License-Identifier: MIT

public import Observation

/// Holds the state of a reactor, and all that goes on in it.
///
/// A reactor makes one and keeps it as ``Reactor/container``; its state is written through
/// ``ReactorState`` and nowhere else. When the container goes, which is when the reactor goes, or
/// when its life is ended before, everything that runs is cancelled.
///
/// A write has no effect when the life has ended, or when it comes from an action or a task that
/// was overtaken. It is the task that counts: what an action starts by `Task { }` belongs to it,
/// what it starts by `Task.detached { }` does not.
@MainActor
public final class StateContainer<State: Sendable>: Observable {
  nonisolated let storage: ReactorStorage
  private var current: State
  private let registrar = ObservationRegistrar()
  private let audience = StateAudience<State>()
  private var members = WatchedMembers<State>()

  /// Makes a container.
  ///
  /// - Parameters:
  ///   - state: the state to begin with.
  ///   - clock: the clock for actions that are held back.
  public nonisolated init(_ state: State, clock: ReactorClock = .continuous) {
    current = state
    storage = ReactorStorage(clock: clock)
  }

  deinit { end() }

  /// The state, as it is seen by views and others that observe.
  var state: State {
    get {
      registrar.access(Observed(), keyPath: \.state)
      return current
    }
    _modify {
      guard storage.isAdmitting else {
        var discarded = current
        yield &discarded
        return
      }
      registrar.willSet(Observed(), keyPath: \.state)
      defer {
        registrar.didSet(Observed(), keyPath: \.state)
        audience.send(current)
        // Last, since those who are told may write in turn.
        for member in members.takeChanged(in: current) { member.tell() }
      }
      // In its place: an array in it is not copied for a change.
      yield &current
    }
  }

  /// A part of the state, as it is seen by those who observe this part and no other.
  func member<Value>(_ member: KeyPath<State, Value>) -> Value {
    members.look(at: member, in: current) ?? state[keyPath: member]
  }

  /// The states from the current one on.
  func states(keepingNewest limit: Int?) -> AsyncStream<State> {
    audience.makeStream(from: current, limit.map { .bufferingNewest($0) } ?? .unbounded)
  }

  /// How many follow the states.
  var followerCount: Int { audience.followerCount }

  /// Calls a closure for each state from now on, within the write: for recorders.
  ///
  /// - Returns: a number for ``unfollow(_:)``.
  package func follow(_ take: @escaping @Sendable (State) -> Void) -> UInt64 {
    audience.add(take)
  }

  package nonisolated func unfollow(_ number: UInt64) {
    audience.remove(number)
  }

  @discardableResult
  nonisolated func end() -> [ActionRun] {
    defer { audience.finish() }
    return storage.end()
  }
}

/// What the registrar is told has changed. Not generic, since a key path into a generic type is made
/// anew each time that it is used.
private struct Observed: Observable {
  var state: Void { () }
}
