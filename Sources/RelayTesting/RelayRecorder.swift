// SPDX-License-Identifier: MIT

public import FeatureRelay

/// Takes down what is dispatched to a relay, and what becomes of it.
///
/// ```swift
/// let recorder = RelayRecorder(relay)
/// model.save()
/// #expect(recorder.commands(of: ShowToast.self) == [ShowToast(message: "Saved")])
/// #expect(recorder.waiting.isEmpty)
/// ```
///
/// Typed commands are recorded as values; closures with their feature, priority and tags, and with
/// a way to run them onto a mock. Every relay can be recorded, from then on every command of it
/// goes the longer way through the queue. A recorder can be read on any thread, at any moment, and
/// is exact: a command is in it when `dispatch` returns. It keeps what it records, captures
/// included, until it goes itself, and the relay as well, or ``removeAll()`` is called; it does not
/// keep the relay.
///
/// The relays that ``FeatureRelay/Relay/testing(scope:parent:configuration:clock:replay:ownership:journal:restoring:)``
/// makes have one already: ``FeatureRelay/Relay/recorder``.
public final class RelayRecorder: Sendable {
  private struct State {
    /// The number on the tape of the first command that is this recorder's.
    var start: Int
    /// Places on the tape of commands that an expectation has spoken of.
    var expected: Set<Int> = []
  }

  private let tape: CommandTape
  private weak let relay: Relay?
  private let state: SeenMutex<State>
  let test: RunningTest

  /// Records what is dispatched to a relay from now on.
  public init(_ relay: Relay) {
    self.relay = relay
    tape = relay.startTape()
    state = SeenMutex(State(start: tape.count))
    test = .current
  }

  /// Everything, in the order in which the relay took it, across features.
  public var all: [RecordedCommand] {
    let start = state.withLock { $0.start }
    let (entries, first) = tape.entries(from: start)
    return entries.enumerated().map {
      RecordedCommand($0.element, number: $0.offset + 1, place: first + $0.offset)
    }
  }

  /// Forgets what was recorded and lets go of it; other recorders of the relay do too.
  public func removeAll() {
    tape.removeAll()
    let start = tape.count
    state.withLock { state in
      state.start = start
      state.expected = []
    }
  }
}

// MARK: Asking

extension RelayRecorder {
  /// The commands of one type, in order, whatever became of them.
  public func commands<Command>(of type: Command.Type) -> [Command] { all.commands(of: type) }

  /// The questions of one type, in order.
  public func requests<Request: RelayRequest>(of type: Request.Type) -> [Request] {
    all.commands(of: type)
  }

  /// Everything for one feature: closures, commands and requests.
  public func all<F>(for feature: F.Type) -> [RecordedCommand] {
    all.filter { $0.isFor(feature) }
  }

  /// How many there were for one feature.
  public func count<F>(for feature: F.Type) -> Int { all(for: feature).count }

  /// How many there were for each feature, by its name.
  public var counts: [String: Int] {
    all.reduce(into: [:]) { counts, command in counts[command.feature, default: 0] += 1 }
  }

  /// The last one.
  public var last: RecordedCommand? { all.last }

  /// Requests, typed ones and closures.
  public var requests: [RecordedCommand] { all.filter(\.isRequest) }

  /// What waits: for a handler, a gate, its turn or its next attempt.
  public var waiting: [RecordedCommand] { all.filter(\.isWaiting) }

  /// What was delivered.
  public var delivered: [RecordedCommand] { all.filter { $0.outcome == .delivered } }

  /// What ended undelivered; the reason stands in its ``RecordedCommand/outcome``.
  public var dropped: [RecordedCommand] { all.filter { $0.dropReason != nil } }

  /// What was not accepted.
  public var refused: [RecordedCommand] {
    all.filter { if case .refused = $0.outcome { true } else { false } }
  }
}

// MARK: Running

extension RelayRecorder {
  /// Runs the recorded commands of the features that a mock implements, in order; asynchronous ones
  /// are left out.
  ///
  /// - Returns: how many ran.
  /// - Throws: the first error that one of them throws; what is behind it does not run then.
  @MainActor @discardableResult
  public func run(onto handler: AnyObject) throws -> Int {
    try all.reduce(0) { count, command in count + (try command.run(onto: handler) ? 1 : 0) }
  }

  /// Runs the recorded commands of the features that a mock implements, one after the other,
  /// asynchronous ones and requests included.
  ///
  /// - Returns: how many ran.
  /// - Throws: the first error that one of them throws; what is behind it does not run then.
  @MainActor @discardableResult
  public func runAsynchronously(onto handler: AnyObject) async throws -> Int {
    var count = 0
    for command in all where try await command.runAsynchronously(onto: handler) { count += 1 }
    return count
  }
}

// MARK: For expectations

extension RecordedCommand {
  var isWaiting: Bool {
    switch outcome {
    case .waiting, .waitingForRetry: true
    default: false
    }
  }

  var dropReason: DropReason? {
    if case .dropped(let reason) = outcome { reason } else { nil }
  }
}

extension RelayRecorder {
  /// Takes down that an expectation has spoken of these.
  func expect(_ commands: [RecordedCommand]) {
    state.withLock { $0.expected.formUnion(commands.map(\.place)) }
  }

  /// Whatever no expectation has spoken of.
  var unexpected: [RecordedCommand] {
    let expected = state.withLock { $0.expected }
    return all.filter { !expected.contains($0.place) }
  }

  /// How many commands wait and run in the relay, those included that came before the recorder.
  var unfinished: (waiting: Int, running: Int) {
    guard let counts = relay?.counts else { return (0, 0) }
    return (Int(counts.waiting), Int(counts.running))
  }
}
