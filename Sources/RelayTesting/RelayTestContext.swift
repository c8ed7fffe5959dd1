// SPDX-License-Identifier: MIT

internal import FeatureRelay

/// What the kit keeps with a relay that it made; it goes with the relay.
final class RelayTestContext: Sendable {
  /// All that a relay is made of: the next process makes the same one again.
  struct Plan: Sendable {
    let scope: String
    let parent: Relay?
    let configuration: RelayConfiguration
    let clock: ManualClock
    let place: TestJournalPlace?
    let types: [any DurableCommand.Type]
  }

  let plan: Plan
  /// Through which the relay stands in for `Relay.shared`, if it does.
  weak let standIn: SharedRelayStandIn?
  private let kept = SeenMutex<RelayRecorder?>(nil)

  private init(_ plan: Plan, standIn: SharedRelayStandIn?) {
    self.plan = plan
    self.standIn = standIn
  }

  /// The recorder that has been there from the beginning.
  var recorder: RelayRecorder { kept.withLock { $0! } }

  /// Makes a relay.
  static func makeRelay(_ plan: Plan, standIn: SharedRelayStandIn?) -> Relay {
    let context = RelayTestContext(plan, standIn: standIn)
    var configuration = plan.configuration
    configuration.attachment = context
    let relay: Relay
    if let place = plan.place {
      do {
        relay = try Relay(
          scope: plan.scope, parent: plan.parent, configuration: configuration,
          journal: place.location, declaring: plan.types)
      } catch {
        fatalError(
          "Relay.testing: nobody else can have the directory \(place.path), and yet: \(error)")
      }
    } else {
      relay = Relay(scope: plan.scope, parent: plan.parent, configuration: configuration)
    }
    let recorder = RelayRecorder(relay)
    context.kept.withLock { $0 = recorder }
    standIn?.relay = relay
    return relay
  }

  /// The context of a relay made for a test; traps where it was made otherwise.
  static func of(_ relay: Relay, for what: String) -> RelayTestContext {
    guard let context = relay.configuration.attachment as? RelayTestContext else {
      fatalError(
        "\(what): the relay \"\(relay.scope)\" was not made by Relay.testing or the trait .relay: use RelayRecorder(relay), and a clock of your own."
      )
    }
    return context
  }
}
