// SPDX-License-Identifier: MIT

public import RelayReactor

/// Records the states of a reactor, so that a test says which ones are to come, and that no others
/// did.
///
/// ```swift
/// let recorder = ReactorRecorder(SearchReactor(source: source))
/// await recorder.send(.search("swift"))
/// recorder.expectChange { $0.isLoading = true }
/// recorder.expectChange { $0.isLoading = false; $0.results = ["swift"] }
/// ```
///
/// Every state that the reactor has written is to be expected, one after the other; a write that
/// changes nothing is no state of its own. States that no expectation spoke of fail the test: when
/// the next action is sent, in ``expectNothingElse(fileID:file:line:column:)``, and when the
/// recorder goes. Nothing waits for time, and nothing blocks.
@MainActor
public final class ReactorRecorder<R: Reactor> where R.State: Equatable {
  /// The reactor; the recorder keeps it alive.
  public let reactor: R

  /// All states so far, from the one that there was when the recorder was made.
  public var states: [R.State] { tape.all }

  private let tape: ReactorTape<R.State>
  private let number: UInt64
  private let test: RunningTest
  private let place: SourcePlace

  /// Makes a recorder of what the reactor does from now on.
  ///
  /// - Parameters:
  ///   - reactor: the reactor.
  ///   - fileID: leave it out, like the other places in the source.
  public init(
    _ reactor: R, fileID: StaticString = #fileID, file: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    self.reactor = reactor
    test = .current
    place = SourcePlace(fileID: fileID, file: file, line: line, column: column)
    let tape = ReactorTape(reactor.state)
    self.tape = tape
    number = reactor.container.follow { tape.record($0) }
  }

  deinit {
    reactor.container.unfollow(number)
    if let text = tape.unexpected("States came that no expectation spoke of:") {
      test.fail(text, at: place)
    }
  }
}

// MARK: Sending

extension ReactorRecorder {
  /// Sends an action and waits until the reactor is idle.
  ///
  /// It does not wait for what is held back by a debounce or a throttle: move the clock, and wait by
  /// ``waitUntilIdle()``.
  ///
  /// - Parameters:
  ///   - action: the action.
  ///   - fileID: leave it out, like the other places in the source.
  /// - Returns: how it ended; nil if it is held back.
  @discardableResult
  public func send(
    _ action: R.Action, fileID: StaticString = #fileID, file: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async -> ActionOutcome? {
    expectNothingElse(fileID: fileID, file: file, line: line, column: column)
    let run = reactor.send(action)
    await reactor.waitUntilIdle()
    return run.outcome
  }

  /// Sends a synchronous action.
  ///
  /// - Parameters:
  ///   - action: the action.
  ///   - fileID: leave it out, like the other places in the source.
  public func send(
    _ action: R.SyncAction, fileID: StaticString = #fileID, file: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    expectNothingElse(fileID: fileID, file: file, line: line, column: column)
    reactor.send(action)
  }

  /// Waits until nothing that was sent runs, waits or is about to start.
  public func waitUntilIdle() async {
    await reactor.waitUntilIdle()
  }
}

// MARK: Expecting

extension ReactorRecorder {
  /// Expects that the next state is the one before with a change.
  ///
  /// - Parameters:
  ///   - fileID: leave it out, like the other places in the source.
  ///   - change: what is to be changed in the state before.
  public func expectChange(
    fileID: StaticString = #fileID, file: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column, _ change: (inout R.State) -> Void
  ) {
    var wanted = tape.last
    change(&wanted)
    expect([wanted], at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that the next states are these.
  ///
  /// - Parameters:
  ///   - states: the states, each of which differs from the one before.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectStates(
    _ states: R.State..., fileID: StaticString = #fileID, file: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    expect(states, at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects which values a part of the state takes in all the states that no expectation has spoken
  /// of yet, whatever else changes in them.
  ///
  /// - Parameters:
  ///   - member: the part.
  ///   - values: the values, each of which differs from the one before.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectValues<Value: Equatable>(
    of member: KeyPath<R.State, Value>, _ values: Value..., fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    var before = tape.last[keyPath: member]
    var found: [Value] = []
    for state in tape.takeAll() where state[keyPath: member] != before {
      before = state[keyPath: member]
      found.append(before)
    }
    guard found != values else { return }
    test.fail(
      """
      Other values came.
        wanted: \(values)
        found:  \(found)
      """,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that no state came but those that expectations before this one have spoken of.
  ///
  /// - Parameters:
  ///   - fileID: leave it out, like the other places in the source.
  public func expectNothingElse(
    fileID: StaticString = #fileID, file: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    guard let text = tape.unexpected("No other state was to come:") else { return }
    test.fail(text, at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  private func expect(_ states: [R.State], at place: SourcePlace) {
    for (index, wanted) in states.enumerated() {
      if let text = tape.mismatch(with: wanted, index + 1, of: states.count) {
        return test.fail(text, at: place)
      }
    }
  }
}
