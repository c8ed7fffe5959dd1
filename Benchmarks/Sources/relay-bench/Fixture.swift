// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import FeatureRelay

/// A relay with a handler, and the floor's delegate, which is the same handler.
@MainActor
struct Fixture {
  let relay: Relay
  let handler: any TickFeature
  let sender = Sender()

  init(
    _ scope: String, ownership: HandlerOwnership = .weak,
    configuration: RelayConfiguration = .standard, isRegistered: Bool = true
  ) {
    relay = Relay(scope: scope, configuration: configuration)
    handler = makeTicker()
    sender.delegate = handler
    if isRegistered { relay.register(handler, for: TickFeature.self, ownership: ownership) }
  }

  /// The unit of everything: one method call through a weak delegate.
  var floor: Subject {
    Subject(
      Subject.floorName, "weak delegate", role: .floor,
      .loop { [sender, handler] count in
        for _ in 0..<count { sender.delegate?.tick(1) }
        withExtendedLifetime(handler) {}
      })
  }

  /// A call through a reference that is held strongly.
  var strongCall: Subject {
    .peer("strong", "strong call") { [handler] count in
      for _ in 0..<count { handler.tick(1) }
    }
  }

  /// A dispatch without captures: what others are compared with.
  func closure(_ bounds: Bound...) -> Subject {
    Subject(
      "closure", "closure without captures", bounds: bounds,
      .loop { [relay, handler] count in
        for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } }
        withExtendedLifetime(handler) {}
      })
  }

  /// A dispatch whose closure captures a number.
  func capture(_ bounds: Bound...) -> Subject {
    Subject(
      "capture", "closure with a number", bounds: bounds,
      .loop { [relay, handler] count in
        for number in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(number) } }
        withExtendedLifetime(handler) {}
      })
  }

  /// A dispatch whose closure captures a string.
  func string(_ bounds: Bound...) -> Subject {
    let text = makeText()
    return Subject(
      "string", "closure with a string", bounds: bounds,
      .loop { [relay, handler] count in
        for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.note(text) } }
        withExtendedLifetime(handler) {}
      })
  }

  /// A dispatch of a typed command.
  func typed(_ bounds: Bound...) -> Subject {
    Subject(
      "typed", "typed command", bounds: bounds,
      .loop { [relay, handler] count in
        for number in 0..<count { relay.dispatch(Tick(number: number)) }
        withExtendedLifetime(handler) {}
      })
  }
}

struct Tick: RelayCommand {
  var number: Int
  func execute(on ticker: any TickFeature) { ticker.tick(number) }
}

extension RelayConfiguration {
  /// Room for a million commands, and delivery before `register` returns, so that a replay can be timed.
  static func roomy(
    _ limit: Int = 2_000_000, clock: RelayClock = .continuous
  ) -> RelayConfiguration {
    do {
      return try RelayConfiguration(limit: limit, replay: .immediate, clock: clock)
    } catch {
      preconditionFailure("A limit above zero is refused: \(error)")
    }
  }
}
