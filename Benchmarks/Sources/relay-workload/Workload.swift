// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import FeatureRelay

/// Something that is done a number of times while somebody counts.
struct Workload {
  let name: String
  /// Prepares so many operations and returns what does them.
  let prepare: @MainActor (Int) -> @MainActor () -> Void

  init(_ name: String, prepare: @escaping @MainActor (Int) -> @MainActor () -> Void) {
    self.name = name
    self.prepare = prepare
  }
}

struct Tick: RelayCommand {
  var number: Int
  func execute(on ticker: any TickFeature) { ticker.tick(number) }
}

@MainActor
final class Sender {
  weak var delegate: (any TickFeature)?
}

/// A relay with room for everything, and a handler that is registered when it is wanted.
@MainActor
struct Bench {
  let relay: Relay
  let handler = makeTicker()

  init(
    _ ownership: HandlerOwnership? = nil, parent: Relay? = nil, limit: Int = 2_000_000,
    replay: RelayConfiguration.Replay = .immediate
  ) {
    do {
      let configuration = try RelayConfiguration(limit: limit, replay: replay)
      relay = Relay(scope: "workload", parent: parent, configuration: configuration)
    } catch {
      preconditionFailure("A limit above zero is refused: \(error)")
    }
    if let ownership { relay.register(handler, for: TickFeature.self, ownership: ownership) }
  }

  func closures(_ count: Int) {
    for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } }
  }

  func captures(_ count: Int) {
    for number in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(number) } }
  }

  func strings(_ count: Int, _ text: String) {
    for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.note(text) } }
  }

  func commands(_ count: Int) {
    for number in 0..<count { relay.dispatch(Tick(number: number)) }
  }

  /// With a handler, and the limit that a relay has by default: what is in transit goes beyond it.
  func registeredWithUsualLimit() -> Bench {
    do {
      let configuration = try FeatureConfiguration(limit: RelayConfiguration.standard.limit)
      relay.configure(TickFeature.self, configuration)
    } catch {
      preconditionFailure("The usual limit is refused: \(error)")
    }
    relay.register(handler, for: TickFeature.self)
    return self
  }

  nonisolated func closuresFromNowhere(_ count: Int) {
    for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } }
  }

  /// Lets the queue grow to a length and delivers what waits, so that all memory is there.
  func warmed(_ count: Int) -> Bench {
    closures(count)
    relay.register(handler, for: TickFeature.self)
    relay.unregister(TickFeature.self)
    return self
  }
}
