// SPDX-License-Identifier: MIT

/// Something that happened in a relay: each with its place in the relay's one order of events.
public struct RelayEvent: Sendable, CustomStringConvertible {
  /// What happened.
  public enum Kind: Sendable {
    /// A handler was registered.
    case registered(handler: String)
    /// A handler was unregistered.
    case unregistered(handler: String)
    /// A weakly held handler was found to be gone. `unused` when it never received a command: then
    /// it probably lacks an owner.
    case handlerDied(handler: String, unused: Bool)
    /// A command was accepted; it waits, if only for an instant.
    case accepted
    /// A command was not accepted.
    case refused(RefusalReason)
    /// A handler starts to run.
    case started(handler: String)
    /// A handler has ended without error.
    case delivered
    /// A handler has thrown.
    case failed(any Error)
    /// A command that failed comes again after a delay.
    case willRetry(after: Duration)
    /// An accepted command ended undelivered.
    case dropped(DropReason)
    /// A gate was closed for a reason: the relay's, or the event's feature's.
    case gateClosed(reason: String)
    /// A reason to keep a gate closed is gone; the gate is open once none is left.
    case gateOpened(reason: String)
    /// A command waits although a handler that conforms to its feature lives, registered under
    /// another type.
    case handlerUnderAnotherType(handler: String, registeredFor: String)
    /// A durable command was dispatched whose type nobody has declared: after a relaunch its
    /// records would wait. Told once for each type.
    case undeclared(name: String)
    /// A durable command was given up on, and is kept as a dead letter if there is a journal.
    case died(DeadLetter.Reason)
    /// Something happened to the journal.
    case journal(JournalStatus)
    /// The relay was emptied.
    case reset
    /// The relay was closed; nothing comes after this.
    case closed
  }

  private var content: EventContent
  /// The event's place in the order of its relay, from 1.
  public internal(set) var number: UInt64
  private(set) var nanoseconds: Int64
  private let origin: EventOrigin
  private(set) var subject: EventCommand

  init(
    _ content: EventContent, _ subject: EventCommand, number: UInt64, at time: Int64,
    from origin: EventOrigin
  ) {
    self.content = content
    self.number = number
    nanoseconds = time
    self.origin = origin
    self.subject = subject
  }

  /// Makes the event one of another command: what it refers to stays and is not counted again.
  @inline(__always)
  mutating func happen(
    to sequence: UInt64, _ type: Any.Type?, _ priority: CommandPriority?, acceptedAt: Int64,
    at time: Int64
  ) {
    subject.sequence = sequence
    subject.acceptedAt = acceptedAt
    subject.type = type
    subject.priority = priority
    nanoseconds = time
  }

  /// Copies the event in two pieces, without counting its origin. Somebody else has to keep that.
  func copy(
    to first: UnsafeMutableRawPointer, _ second: UnsafeMutableRawPointer, _ pieceSize: Int
  ) {
    withUnsafeBytes(of: self) { bytes in
      first.copyMemory(from: bytes.baseAddress!, byteCount: pieceSize)
      second.copyMemory(from: bytes.baseAddress! + pieceSize, byteCount: bytes.count - pieceSize)
    }
    if case .other(let kind) = content { _ = Unmanaged.passUnretained(kind).retain() }
  }

  /// Takes an event out that was copied without its origin.
  static func take(
    from first: UnsafeMutableRawPointer, _ second: UnsafeMutableRawPointer, _ pieceSize: Int
  ) -> RelayEvent {
    withUnsafeTemporaryAllocation(of: RelayEvent.self, capacity: 1) { event in
      let bytes = UnsafeMutableRawBufferPointer(event)
      bytes.baseAddress!.copyMemory(from: first, byteCount: pieceSize)
      (bytes.baseAddress! + pieceSize)
        .copyMemory(from: second, byteCount: bytes.count - pieceSize)
      _ = Unmanaged.passUnretained(event[0].origin).retain()
      return event.moveElement(from: 0)
    }
  }

  /// Where it happened, not counted.
  var unretainedOrigin: Unmanaged<EventOrigin> { .passUnretained(origin) }

  /// What happened.
  public var kind: Kind { content.kind }
  /// When it happened, on the relay's clock.
  public var time: Duration { .nanoseconds(nanoseconds) }
  /// The relay's scope.
  public var scope: String { origin.scope }
  /// The feature, where it is about one.
  public var feature: String? { origin.feature }
  /// The command, where it is about one that has an id.
  public var id: CommandID? { subject.id(from: origin) }
  /// The type of the command, where it is about a typed one.
  public var command: String? { subject.type.map { "\($0)" } }
  /// The command's priority, where it is about one.
  public var priority: CommandPriority? { subject.priority }
  /// How long after its acceptance it happened to the command.
  public var age: Duration? {
    subject.acceptedAt == .min ? nil : .nanoseconds(nanoseconds - subject.acceptedAt)
  }
  /// Which attempt: 1 is the first.
  public var attempt: Int? { subject.attempt.map { Int($0) } }

  /// The event as a line, without anything of a command's payload.
  public var description: String {
    var words = [scope]
    if let feature { words.append(feature) }
    if let command { words.append(command) }
    if let id { words.append("[\(id)]") }
    words.append(kind.description)
    if let attempt, attempt > 1 { words.append("(attempt \(attempt))") }
    return words.joined(separator: " ")
  }

  /// Whether it is something that a developer should look at even when nobody watches the relay.
  public var isProblem: Bool { content.isProblem }

  /// Whether it holds an error.
  var isFailure: Bool { content.isFailure }
}

extension RelayEvent.Kind: CustomStringConvertible {
  /// What happened, in a few words. Of an error only the type: its text may hold what a person
  /// wrote.
  public var description: String {
    switch self {
    case .registered(let handler): "registered \(handler)"
    case .unregistered(let handler): "unregistered \(handler)"
    case .handlerDied(let handler, let unused):
      unused
        ? "handler \(handler) died before it received anything: does somebody own it?"
        : "handler \(handler) died"
    case .accepted: "accepted"
    case .refused(let reason): "refused: \(reason)"
    case .started(let handler): "started on \(handler)"
    case .delivered: "delivered"
    case .failed(let error): "failed: \(type(of: error))"
    case .willRetry(let delay): "again after \(delay)"
    case .dropped(let reason): "dropped: \(reason)"
    case .gateClosed(let reason): "gate closed: \(reason)"
    case .gateOpened(let reason): "gate opened: \(reason)"
    case .handlerUnderAnotherType(let handler, let feature):
      "waiting although \(handler) conforms: it is registered for \(feature)"
    case .undeclared(let name):
      "durable \"\(name)\" is not declared: name its type in restoring: or declare(_:)"
    case .died(let reason): "given up on: \(reason)"
    case .journal(let status): status.description
    case .reset: "reset"
    case .closed: "closed"
    }
  }
}

/// Sees each event of a relay, in order, without a delay.
public protocol RelayObserver: Sendable {
  /// Called once for each event, in the relay's order, on whichever thread is at it: never two at a
  /// time, and with no lock held, so that it may call the relay. A slow observer delays the thread
  /// that it is called on. What happens elsewhere meanwhile waits for it: at most 65,536 events,
  /// then the older half of them is dropped, which shows as a gap in their numbers.
  func observe(_ event: RelayEvent)
}
