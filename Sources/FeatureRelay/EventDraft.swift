// SPDX-License-Identifier: MIT

internal import Synchronization

/// An event before it has a number: what the state machine knows of it.
struct EventDraft {
  var content: EventContent
  var command = EventCommand()

  var kind: RelayEvent.Kind { content.kind }

  init(_ content: EventContent, command: EventCommand = EventCommand()) {
    self.content = content
    self.command = command
  }

  init(kind: RelayEvent.Kind, command: EventCommand = EventCommand()) {
    self.init(EventContent(kind), command: command)
  }
}

/// What happened, as an event keeps it: one word. The kinds that every command has are plain, the
/// others shared.
enum EventContent: Sendable {
  /// Any other kind; what it names is put into words when somebody asks.
  final class Kind: Sendable {
    private enum Form: Sendable {
      case ready(RelayEvent.Kind)
      case started(Any.Type)
      case died(Any.Type, unused: Bool)
    }

    private let form: Form

    var kind: RelayEvent.Kind {
      switch form {
      case .ready(let kind): kind
      case .started(let type): .started(handler: "\(type)")
      case .died(let type, let unused): .handlerDied(handler: "\(type)", unused: unused)
      }
    }

    fileprivate var isProblem: Bool {
      switch form {
      case .ready(.failed), .ready(.handlerUnderAnotherType), .ready(.undeclared),
        .ready(.died), .ready(.refused(.encoding)):
        true
      case .ready(.journal(let status)): status.isProblem
      case .ready(.handlerDied(_, let unused)), .died(_, let unused): unused
      case .ready, .started: false
      }
    }

    fileprivate var isFailure: Bool { if case .ready(.failed) = form { true } else { false } }

    private init(_ form: Form) {
      self.form = form
    }

    convenience init(_ kind: RelayEvent.Kind) { self.init(.ready(kind)) }
    convenience init(started type: Any.Type) { self.init(.started(type)) }
    fileprivate convenience init(died type: Any.Type, unused: Bool) {
      self.init(.died(type, unused: unused))
    }
  }

  case accepted
  case delivered
  case other(Kind)

  init(_ kind: RelayEvent.Kind) {
    switch kind {
    case .accepted: self = .accepted
    case .delivered: self = .delivered
    default: self = .other(Kind(kind))
    }
  }

  static func started(_ handler: Any.Type) -> EventContent { .other(Kind(started: handler)) }

  static func died(_ handler: Any.Type, unused: Bool) -> EventContent {
    .other(Kind(died: handler, unused: unused))
  }

  /// Whether a developer should look at it.
  var isProblem: Bool { if case .other(let kind) = self { kind.isProblem } else { false } }

  /// Whether it holds an error.
  var isFailure: Bool { if case .other(let kind) = self { kind.isFailure } else { false } }

  var kind: RelayEvent.Kind {
    switch self {
    case .accepted: .accepted
    case .delivered: .delivered
    case .other(let other): other.kind
    }
  }
}

/// What an event says of a command: plain bits, which are copied without counting references and
/// become words when somebody asks.
struct EventCommand {
  /// Zero where it has no id.
  var sequence: UInt64 = 0
  /// `.min` where it was not accepted.
  var acceptedAt = Int64.min
  /// Its type, where it has one of its own.
  var type: Any.Type?
  var index: UInt32 = 0
  var attempt: UInt16?
  var priority: CommandPriority?

  func id(from origin: EventOrigin) -> CommandID? {
    guard sequence != 0 else { return nil }
    return CommandID(
      relay: origin.relay, slot: origin.slot, index: index, sequence: sequence)
  }
}

/// Where a relay's events happen: the relay and, for most, one of its features. Made once and
/// shared by all events of the place, so that an event copies no text.
final class EventOrigin: Sendable {
  let relay: UInt32
  let slot: UInt32
  let scope: String
  let feature: String?
  /// Empty for the relay itself.
  var featureName: String { feature ?? "" }

  init(relay: UInt32, slot: UInt32, scope: String, feature: String?) {
    self.relay = relay
    self.slot = slot
    self.scope = scope
    self.feature = feature
  }
}

/// Where an origin is kept that is made when it is needed first: most places have no events.
///
/// Safe: an origin is kept from the first time on that it is asked for until the place goes.
struct EventOriginPlace: ~Copyable {
  private let place = Atomic<UnsafeMutableRawPointer?>(nil)

  deinit {
    if let origin = place.load(ordering: .acquiring) {
      Unmanaged<EventOrigin>.fromOpaque(origin).release()
    }
  }

  @inline(__always)
  borrowing func origin(_ make: () -> EventOrigin) -> EventOrigin {
    if let origin = place.load(ordering: .acquiring) {
      return Unmanaged<EventOrigin>.fromOpaque(origin).takeUnretainedValue()
    }
    return keep(make())
  }

  /// Of two that are made at once the first one is kept.
  @inline(never)
  private borrowing func keep(_ origin: EventOrigin) -> EventOrigin {
    let new = Unmanaged.passRetained(origin)
    let (isKept, other) = place.compareExchange(
      expected: nil, desired: new.toOpaque(), ordering: .acquiringAndReleasing)
    if isKept { return origin }
    new.release()
    return Unmanaged<EventOrigin>.fromOpaque(other!).takeUnretainedValue()
  }
}

/// A problem that is remembered although nobody looked.
enum RememberedProblem: Sendable {
  case event(RelayEvent)
  /// A failure: the release of its error would be foreign code under a lock.
  case text(String)

  var description: String {
    switch self {
    case .event(let event): event.description
    case .text(let text): text
    }
  }
}
