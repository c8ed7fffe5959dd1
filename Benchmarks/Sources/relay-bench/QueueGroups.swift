// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import FeatureRelay

/// What is queued is one of these.
enum Shape: String, CaseIterable {
  case closure
  case capture
  case typed

  var title: String {
    switch self {
    case .closure: "without captures"
    case .capture: "with a number"
    case .typed: "typed"
    }
  }
}

/// A relay whose handler comes and goes, so that commands wait and are replayed.
@MainActor
struct Backlog {
  let fixture: Fixture
  var relay: Relay { fixture.relay }

  init(_ scope: String, configuration: RelayConfiguration = .roomy()) {
    fixture = Fixture(scope, configuration: configuration, isRegistered: false)
  }

  func fill(_ shape: Shape, _ count: Int) {
    switch shape {
    case .closure: for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } }
    case .capture: for number in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(number) } }
    case .typed: for number in 0..<count { relay.dispatch(Tick(number: number)) }
    }
  }

  /// The time that it takes to accept so many commands.
  func enqueue(_ shape: Shape, _ count: Int) -> Int64 {
    let elapsed = time { fill(shape, count) }
    precondition(relay.clearQueue(TickFeature.self) == count)
    return elapsed
  }

  /// The time that it takes to deliver so many commands to a handler that has just come.
  func replay(_ shape: Shape, _ count: Int) -> Int64 {
    fill(shape, count)
    let elapsed = time { relay.register(fixture.handler, for: TickFeature.self) }
    precondition(relay.pendingCount(TickFeature.self) == 0)
    relay.unregister(TickFeature.self)
    return elapsed
  }
}

private let million = 1_000_000
private let sizes = [(100, "100"), (1_000, "1,000"), (10_000, "10,000"), (million, "1,000,000")]

/// Accepting commands that nobody handles yet. The array keeps its memory from run to run; a queue that was longer than
/// ten thousand commands gives it back when it is empty, and has to get it again.
let enqueueGroup = Group("enqueue", "nothing registered; per command") {
  let backlog = Backlog("enqueue")
  var rows = [backlog.fixture.floor]
  for (size, title) in sizes where size < million {
    for shape in Shape.allCases {
      var bounds: [Bound] = []
      if size >= 1_000 {
        bounds = [shape == .closure ? .floors(3, aim: 2) : .floors(4, aim: 3)]
      }
      rows.append(
        Subject(
          "\(shape)-\(size)", "\(title) × \(shape.title)", count: size, bounds: bounds,
          .timed { backlog.enqueue(shape, $0) }))
    }
  }
  let array = ClosureArray()
  rows.append(
    .timedPeer("append", "10,000 × Array.append, without captures", count: 10_000) {
      array.append($0, capturing: false)
    })
  rows.append(
    .timedPeer("append-capture", "10,000 × Array.append, with a number", count: 10_000) {
      array.append($0, capturing: true)
    })
  return rows
}

/// Accepting a million, by itself: a virtual machine has to be given the memory back that it lets go of.
let enqueueMillionGroup = Group("enqueue-million", "nothing registered; per command") {
  let backlog = Backlog("enqueue-million")
  return [
    backlog.fixture.floor,
    .timed("closure-1000", "1,000 × without captures", count: 1_000) {
      backlog.enqueue(.closure, $0)
    },
    .timed(
      "closure-1000000", "1,000,000 × without captures", count: million,
      .times(2.5, of: "closure-1000")
    ) { backlog.enqueue(.closure, $0) },
  ]
}

/// Delivering what waits to a handler that comes, within the call that registers it.
let replayGroup = Group("replay", "a handler comes; per command") {
  let backlog = Backlog("replay")
  var rows = [backlog.fixture.floor]
  for (size, title) in sizes {
    for shape in Shape.allCases where size < million || shape == .closure {
      var bounds: [Bound] = []
      if size == 1_000 || size == 10_000 {
        bounds = [shape == .closure ? .floors(1.5, aim: 1) : .floors(2, aim: 1.8)]
      } else if size == million {
        bounds = [.times(2.5, of: "closure-1000")]
      }
      rows.append(
        Subject(
          "\(shape)-\(size)", "\(title) × \(shape.title)", count: size, bounds: bounds,
          .timed { backlog.replay(shape, $0) }))
    }
  }
  let array = ClosureArray()
  let handler = backlog.fixture.handler
  rows.append(
    .timedPeer("loop", "10,000 × for over an Array, without captures", count: 10_000) {
      array.replay($0, capturing: false, on: handler)
    })
  rows.append(
    .timedPeer("loop-capture", "10,000 × for over an Array, with a number", count: 10_000) {
      array.replay($0, capturing: true, on: handler)
    })
  return rows
}

/// What a queue is at the least: closures in an array.
@MainActor
private final class ClosureArray {
  private var bodies: [@MainActor @Sendable (any TickFeature) -> Void] = []

  func append(_ count: Int, capturing: Bool) -> Int64 {
    let elapsed = time { fill(count, capturing: capturing) }
    bodies.removeAll(keepingCapacity: true)
    return elapsed
  }

  func replay(_ count: Int, capturing: Bool, on handler: any TickFeature) -> Int64 {
    fill(count, capturing: capturing)
    return time {
      for body in bodies { body(handler) }
      bodies.removeAll(keepingCapacity: true)
    }
  }

  private func fill(_ count: Int, capturing: Bool) {
    if capturing {
      for number in 0..<count { bodies.append { $0.tick(number) } }
    } else {
      for _ in 0..<count { bodies.append { $0.tick(1) } }
    }
  }
}
