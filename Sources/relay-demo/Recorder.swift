// SPDX-License-Identifier: MIT

import FeatureRelay

/// Takes down what all relays of the demo tell, and what the handlers do, in one order.
final class Recorder: RelayObserver {
  fileprivate struct State {
    var entries: [Entry] = []
    /// What the next commands on their way in say.
    var expected: [CommandLabel] = []
    var labels: [CommandID: CommandLabel] = [:]
    /// Whom commands that run were handed to.
    var handlers: [CommandID: String] = [:]
    /// By the order of their acceptance, those accepted since they were last taken.
    var accepted: [(CommandID, CommandLabel)] = []
    var ended: Set<Int> = []
    var lastNumber = 0
    /// How many commands have been accepted or refused, and who waits for how many.
    var arrived = 0
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// What happened since it was last taken.
  struct Taken {
    let entries: [Entry]
    let accepted: [(id: CommandID, label: CommandLabel)]
    /// The numbers of commands that have ended.
    let ended: Set<Int>
  }

  private let state = Guarded(State())

  /// Says what the next command will be called, and gives it its number.
  @discardableResult
  func expect(_ text: String, details: [String] = []) -> CommandLabel {
    state.withLock { state in
      state.lastNumber += 1
      let label = CommandLabel(number: state.lastNumber, text: text, details: details)
      state.expected.append(label)
      return label
    }
  }

  func note(_ deed: Deed) {
    state.withLock { $0.entries.append(.deed(deed)) }
  }

  func observe(_ event: RelayEvent) {
    let ready = state.withLock { state in
      var record = EventRecord(event)
      record.handler = record.handler ?? event.id.flatMap { state.handlers[$0] }
      let label = state.label(for: event)
      state.entries.append(.event(record, label))
      let arrived = state.arrived
      let ready = state.waiting.filter { $0.count <= arrived }
      state.waiting.removeAll { $0.count <= arrived }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  func take() -> Taken {
    state.withLock { state in
      defer { (state.entries, state.accepted, state.ended) = ([], [], []) }
      return Taken(
        entries: state.entries, accepted: state.accepted, ended: state.ended)
    }
  }

  /// How many commands have arrived, accepted or refused.
  var arrivedCount: Int { state.withLock { $0.arrived } }

  /// Waits until that many have arrived.
  func arrival(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.arrived >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}

extension Recorder.State {
  fileprivate mutating func label(for event: RelayEvent) -> CommandLabel? {
    switch event.kind {
    case .accepted:
      arrived += 1
      let label = expected.isEmpty ? nil : expected.removeFirst()
      if let id = event.id, let label {
        labels[id] = label
        accepted.append((id, label))
      }
      return label
    case .refused:
      arrived += 1
      let label = expected.isEmpty ? nil : expected.removeFirst()
      if let label { ended.insert(label.number) }
      return label
    case .started(let handler):
      guard let id = event.id else { return nil }
      handlers[id] = handler
      return labels[id]
    case .delivered, .dropped:
      if let id = event.id { handlers[id] = nil }
      let label = event.id.flatMap { labels.removeValue(forKey: $0) }
      if let label { ended.insert(label.number) }
      return label
    default: return event.id.flatMap { labels[$0] }
    }
  }
}
