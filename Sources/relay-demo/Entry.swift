// SPDX-License-Identifier: MIT

import FeatureRelay

/// Something that a line of a script has brought about, in the order in which it happened.
enum Entry: Equatable {
  case event(EventRecord, CommandLabel?)
  case deed(Deed)
  /// A command was accepted and still waits now that the line is done.
  case queued(CommandLabel, scope: String, feature: String, reason: String)
  case answer(CommandLabel, String)
  case note(String)
}

/// What people call a command: a running number, and what it says.
struct CommandLabel: Equatable {
  var number: Int
  var text: String
  /// What was said along with it.
  var details: [String] = []
}

/// What a handler did.
struct Deed: Equatable {
  let scope: String
  let feature: FeatureName
  let handler: String
  let action: String
}

/// A relay's event as plain values: what the printer prints, and the line of `--json`.
struct EventRecord: Encodable, Equatable {
  var event: String
  var number: UInt64 = 0
  /// In seconds on the demo's clock.
  var time: Double = 0
  var scope = "app"
  var feature: String?
  var id: String?
  var command: String?
  var priority: String?
  /// In seconds.
  var age: Double?
  var attempt: Int?
  var handler: String?
  var reason: String?
  /// What is to be known beyond that: an error's type, a delay in seconds, the type that a handler
  /// is registered for.
  var detail: String?
  /// The line of the script that it belongs to.
  var line: Int?
}

extension EventRecord {
  init(_ event: RelayEvent) {
    self.init(event: "")
    number = event.number
    time = event.time / .seconds(1)
    scope = event.scope
    feature = event.feature
    id = event.id?.description
    command = event.command
    priority = event.priority.map { "\($0)" }
    age = event.age.map { $0 / .seconds(1) }
    attempt = event.attempt
    describe(event.kind)
  }

  private mutating func describe(_ kind: RelayEvent.Kind) {
    switch kind {
    case .registered(let handler): (event, self.handler) = ("registered", handler)
    case .unregistered(let handler): (event, self.handler) = ("unregistered", handler)
    case .handlerDied(let handler, let unused):
      (event, self.handler) = ("handlerDied", handler)
      if unused { detail = "unused" }
    case .accepted: event = "accepted"
    case .refused(let reason): (event, self.reason) = ("refused", "\(reason)")
    case .started(let handler): (event, self.handler) = ("started", handler)
    case .delivered: event = "delivered"
    case .failed(let error): (event, detail) = ("failed", "\(type(of: error))")
    case .willRetry(let delay): (event, detail) = ("willRetry", seconds(delay))
    case .dropped(let reason): (event, self.reason) = ("dropped", "\(reason)")
    case .gateClosed(let reason): (event, self.reason) = ("gateClosed", reason)
    case .gateOpened(let reason): (event, self.reason) = ("gateOpened", reason)
    case .handlerUnderAnotherType(let handler, let feature):
      (event, self.handler, detail) = ("handlerUnderAnotherType", handler, feature)
    case .undeclared(let name): (event, detail) = ("undeclared", name)
    case .died(let reason): (event, self.reason) = ("died", "\(reason)")
    case .journal(let status): (event, detail) = ("journal", "\(status)")
    case .reset: event = "reset"
    case .closed: event = "closed"
    }
  }
}
