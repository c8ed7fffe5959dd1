// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Synchronization
import XCTest

// Races of registering and dispatching. Each is run until both outcomes have been seen; who wins is
// steered by a tuner, so that the two sides meet within nanoseconds (Race.swift).

private protocol LogFeature: RelayFeature {
  func log(_ number: Int)
}

private final class Log: LogFeature {
  var all: [Int] = []

  func log(_ number: Int) {
    MainActor.assertIsolated()
    all.append(number)
  }
}

/// A handler whose end is told.
private final class MortalLog: LogFeature {
  let calls: Tally
  let onDeath: @Sendable () -> Void

  init(_ calls: Tally, onDeath: @escaping @Sendable () -> Void) {
    self.calls = calls
    self.onDeath = onDeath
  }

  deinit { onDeath() }

  func log(_ number: Int) {
    MainActor.assertIsolated()
    calls.add()
    // Long enough for the last reference elsewhere to go meanwhile, now and then also where there
    // is one core only.
    spin(number % 16 == 0 ? 5_000 : 100)
  }
}

/// One round: a relay of its own, who is to be registered, and how long the other thread is to spin
/// first.
private struct Round: Sendable {
  var relay: Relay
  var handlers: [Log]
  var delay: Int
}

private let roomy = try? RelayConfiguration(limit: 1_000_000, timeToLive: .unlimited)

@MainActor
final class RaceTests: XCTestCase {
  // MARK: register and dispatch

  func testDispatchOnMainMeetsOneRegistrarElsewhere() async {
    await dispatchOnMainMeetsRegistrars(1)
  }

  func testDispatchOnMainMeetsTwoRegistrarsElsewhere() async {
    await dispatchOnMainMeetsRegistrars(2)
  }

  private func dispatchOnMainMeetsRegistrars(_ count: Int) async {
    let rounds = raceRounds(10_000)
    let start = SpinBarrier(parties: count + 1)
    let end = SpinBarrier(parties: count + 1)
    let place = Handover<Round>()
    for number in 0..<count {
      startThread {
        for _ in 0..<rounds {
          start.meet()
          let round = place.current!
          spin(round.delay)
          round.relay.register(round.handlers[number], for: LogFeature.self)
          end.meet()
        }
      }
    }
    var tuner = RaceTuner()
    var wrong: [String] = []
    for number in 0..<rounds {
      let handlers = (0..<count).map { _ in Log() }
      let relay = Relay(scope: "race")
      place.current = Round(relay: relay, handlers: handlers, delay: tuner.delays.second)
      start.meet()
      spin(tuner.delays.first)
      let acceptance = relay.dispatch(LogFeature.self) { $0.log(number) }
      end.meet()
      tuner.record(firstWon: acceptance.outcome == .waiting)
      await relay.waitUntilIdle()
      if handlers.flatMap(\.all) != [number] || relay.pendingCount != 0 || !isBalanced(relay) {
        wrong.append("\(acceptance), \(handlers.map(\.all)), \(relay.counts)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  func testDispatchElsewhereMeetsRegisterOnMain() async {
    let rounds = raceRounds(10_000)
    let start = SpinBarrier(parties: 2)
    let end = SpinBarrier(parties: 2)
    let place = Handover<Round>()
    startThread {
      for _ in 0..<rounds {
        start.meet()
        let round = place.current!
        spin(round.delay)
        round.relay.dispatch(LogFeature.self) { $0.log(7) }
        end.meet()
      }
    }
    var tuner = RaceTuner()
    var wrong: [String] = []
    for _ in 0..<rounds {
      let handler = Log()
      let relay = Relay(scope: "race")
      place.current = Round(relay: relay, handlers: [handler], delay: tuner.delays.second)
      start.meet()
      spin(tuner.delays.first)
      // A witness that is right whenever it speaks: what waits now was dispatched before the
      // registration.
      let dispatchWasFirst = relay.pendingCount == 1
      relay.register(handler, for: LogFeature.self)
      let registrationWasFirst = relay.pendingCount == 0
      end.meet()
      if dispatchWasFirst {
        tuner.record(firstWon: false)
      } else if registrationWasFirst {
        tuner.record(firstWon: true)
      } else {
        tuner.recordUndecided()
      }
      await relay.waitUntilIdle()
      if handler.all != [7] || relay.pendingCount != 0 || !isBalanced(relay) {
        wrong.append("\(handler.all), \(relay.counts)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(tuner.sawBoth, "\(tuner)")
  }

  func testDispatchAndRegisterMeetElsewhereWhileMainDelivers() async {
    let rounds = raceRounds(10_000)
    let relays = (0..<rounds).map { _ in Relay(scope: "race") }
    let handlers = (0..<rounds).map { _ in (Log(), Log()) }
    let start = SpinBarrier(parties: 3)
    let registeredFirst = Atomic<Int>(0)
    let dispatchedFirst = Atomic<Int>(0)
    startThread {
      for (number, relay) in relays.enumerated() {
        start.meet()
        spin(number * 7_919 % 600)
        if relay.pendingCount == 1 { dispatchedFirst.add(1, ordering: .relaxed) }
        relay.register(handlers[number].0, for: LogFeature.self)
      }
      start.meet()
    }
    startThread {
      for (number, relay) in relays.enumerated() {
        start.meet()
        spin(number * 6_007 % 600)
        relay.register(handlers[number].1, for: LogFeature.self)
      }
      start.meet()
    }
    await besideMain {
      for (number, relay) in relays.enumerated() {
        start.meet()
        spin(number * 104_729 % 600)
        if relay.isRegistered(LogFeature.self) { registeredFirst.add(1, ordering: .relaxed) }
        relay.dispatch(LogFeature.self) { $0.log(number) }
      }
      start.meet()
    }
    var wrong: [String] = []
    for (number, relay) in relays.enumerated() {
      await relay.waitUntilIdle()
      let (one, other) = handlers[number]
      if one.all + other.all != [number] || relay.pendingCount != 0 || !isBalanced(relay) {
        wrong.append("\(one.all), \(other.all), \(relay.counts)")
      }
    }
    XCTAssertEqual(wrong.first, nil, "wrong in \(wrong.count) of \(rounds) rounds")
    requireMet(registeredFirst.load(ordering: .relaxed) > 0, "nobody registered first")
    requireMet(dispatchedFirst.load(ordering: .relaxed) > 0, "nobody dispatched first")
  }

  // MARK: Order

  func testWhatWasDispatchedElsewhereBeforeIsNeverOvertakenOnMain() async {
    for _ in 0..<raceRounds(1_000) {
      let relay = Relay(scope: "race")
      let log = Log()
      relay.register(log, for: LogFeature.self)
      onAnotherThread { relay.dispatch(LogFeature.self) { $0.log(1) } }
      relay.dispatch(LogFeature.self) { $0.log(2) }
      XCTAssertEqual(log.all, [1, 2])
    }
  }

  func testEightProducersKeepTheirOrderAndTheOrderOfAcceptance() async {
    let relay = Relay(scope: "race")
    let log = Log()
    relay.register(log, for: LogFeature.self)
    let ids = await withTaskGroup(of: [(Int, CommandID)].self) { group in
      for producer in 0..<8 {
        group.addTask {
          var ids: [(Int, CommandID)] = []
          for number in 0..<500 {
            let mark = producer * 1_000 + number
            ids.append((mark, relay.dispatch(LogFeature.self) { $0.log(mark) }.id!))
            if number % 16 == 0 { await Task.yield() }
          }
          return ids
        }
      }
      var all: [(Int, CommandID)] = []
      for await some in group { all += some }
      return all
    }
    await relay.waitUntilIdle()
    XCTAssertEqual(log.all.count, 4_000)
    for producer in 0..<8 {
      XCTAssertEqual(
        log.all.filter { $0 / 1_000 == producer }, Array(producer * 1_000..<producer * 1_000 + 500))
    }
    XCTAssertEqual(log.all, ids.sorted { order($0.1) < order($1.1) }.map(\.0))
    var switches = 0
    for (one, next) in zip(log.all, log.all.dropFirst()) where one / 1_000 != next / 1_000 {
      switches += 1
    }
    requireMet(switches > 7, "the producers never met")
  }

  // MARK: Handlers that die

  func testHandlersReleasedElsewhereDuringDelivery() async {
    let relay = Relay(scope: "race")
    await handlersDie(relay, relay)
  }

  func testParentsHandlersReleasedElsewhereDuringDelivery() async {
    let parent = Relay(scope: "parent")
    await handlersDie(Relay(scope: "child", parent: parent), parent)
  }

  /// - Parameter home: where the handlers are registered.
  private func handlersDie(_ relay: Relay, _ home: Relay) async {
    let rounds = raceRounds(10_000)
    let base = Log()
    home.register(base, for: LogFeature.self)
    let deaths = Atomic<Int>(0)
    let deathsOnMain = Atomic<Int>(0)
    let main = pthread_self()
    let start = SpinBarrier(parties: 2)
    let end = SpinBarrier(parties: 2)
    let place = Handover<MortalLog>()
    let delay = Atomic<Int>(0)
    startThread {
      for _ in 0..<rounds {
        start.meet()
        spin(delay.load(ordering: .acquiring))
        place.current = nil
        end.meet()
      }
    }
    var tuner = RaceTuner()
    let mortalCalls = Tally()
    for number in 0..<rounds {
      let registration = Handover<Registration>()
      place.current = MortalLog(mortalCalls) {
        deaths.add(1, ordering: .relaxed)
        if pthread_equal(pthread_self(), main) != 0 { deathsOnMain.add(1, ordering: .relaxed) }
        registration.current?.cancel()
      }
      registration.current = home.register(place.current!, for: LogFeature.self)
      delay.store(tuner.delays.second, ordering: .releasing)
      let before = base.all.count
      start.meet()
      spin(tuner.delays.first)
      relay.dispatch(LogFeature.self) { $0.log(number) }
      relay.dispatch(LogFeature.self) { $0.log(number) }
      end.meet()
      await relay.waitUntilIdle()
      tuner.record(firstWon: base.all.count == before)
      // The one that died is gone, whatever the outcome.
      if deaths.load(ordering: .relaxed) != number + 1 { break }
    }
    XCTAssertEqual(deaths.load(ordering: .relaxed), rounds)
    XCTAssertEqual(relay.pendingCount, 0)
    XCTAssertEqual(relay.counts.delivered, UInt64(2 * rounds))
    XCTAssertEqual(relay.counts.accepted, UInt64(2 * rounds))
    XCTAssertEqual(home.snapshot().features[0].registrations.count, 1)
    // Each command came to one of the two handlers.
    XCTAssertEqual(base.all.count + mortalCalls.current, 2 * rounds)
    requireMet(tuner.sawBoth, "\(tuner)")
    let onMain = deathsOnMain.load(ordering: .relaxed)
    requireMet(onMain > 0, "no handler died within its own delivery")
    requireMet(onMain < rounds, "every handler died within its own delivery")
  }

  // MARK: Gates

  func testFeatureGateThatMovesElsewhereNeitherLosesNorReordersWhatMainDispatches() async throws {
    let relay = Relay(scope: "race", configuration: try XCTUnwrap(roomy))
    await gateMovesElsewhere(relay, relay)
  }

  func testParentsGateThatMovesElsewhereNeitherLosesNorReordersWhatMainDispatches() async throws {
    let parent = Relay(scope: "parent", configuration: try XCTUnwrap(roomy))
    let child = Relay(scope: "child", parent: parent, configuration: parent.configuration)
    await gateMovesElsewhere(child, parent)
  }

  /// - Parameter home: where the handler is registered, and the gate moves.
  private func gateMovesElsewhere(_ relay: Relay, _ home: Relay) async {
    let rounds = raceRounds(20_000)
    let log = Log()
    home.register(log, for: LogFeature.self)
    let isOver = Atomic<Bool>(false)
    let start = SpinBarrier(parties: 2)
    let end = SpinBarrier(parties: 2)
    startThread {
      let gate = home.gate(for: LogFeature.self)
      start.meet()
      var number = 0
      while !isOver.load(ordering: .acquiring) {
        number += 1
        gate.close(for: "race")
        spin(number * 7_919 % 400)
        gate.open(for: "race")
        spin(number * 104_729 % 400)
      }
      end.meet()
    }
    start.meet()
    var outcomes: [Acceptance.Outcome: Int] = [:]
    // On a busy machine one thread may do all of its rounds before the other one comes.
    var number = 0
    while number < rounds || outcomes.count < 2 && number < 50 * rounds {
      outcomes[
        relay.dispatch(LogFeature.self) { [number] in $0.log(number) }.outcome, default: 0] += 1
      if number % 64 == 0 { await mainTurn() }
      number += 1
    }
    isOver.store(true, ordering: .releasing)
    end.meet()
    await home.waitUntilIdle()
    await relay.waitUntilIdle()
    XCTAssertEqual(log.all, Array(0..<number))
    requireMet(outcomes[.delivered] ?? 0 > 0, "nothing was delivered straight away")
    requireMet(outcomes[.waiting] ?? 0 > 0, "nothing waited")
    XCTAssert(outcomes.keys.allSatisfy { $0 == .delivered || $0 == .waiting }, "\(outcomes)")
    XCTAssert(isBalanced(relay))
  }

  func testRelayGateHoldsForWhoeverClosedItWhileOthersMoveIt() async throws {
    let rounds = raceRounds(10_000)
    let relay = Relay(scope: "race", configuration: try XCTUnwrap(roomy))
    // Many features before the one that is asked: the gate needs a while to go round.
    for feature in SomeFeature.make(60) { _ = feature.register(relay) }
    let log = Log()
    relay.register(log, for: LogFeature.self)
    let isOver = Atomic<Bool>(false)
    let end = SpinBarrier(parties: 3)
    for reason in ["one", "other"] {
      startThread {
        while !isOver.load(ordering: .acquiring) {
          relay.gate.close(for: reason)
          relay.gate.open(for: reason)
        }
        end.meet()
      }
    }
    var leaks = 0
    var openOutcomes: [Acceptance.Outcome: Int] = [:]
    for number in 0..<rounds {
      relay.gate.close(for: "main")
      spin(number * 7_919 % 200)
      let isHeld = relay.dispatch(LogFeature.self) { $0.log(2 * number) }.outcome == .waiting
      if !isHeld { leaks += 1 }
      relay.gate.open(for: "main")
      let outcome = relay.dispatch(LogFeature.self) { $0.log(2 * number + 1) }.outcome
      openOutcomes[outcome, default: 0] += 1
      if number % 64 == 0 { await mainTurn() }
    }
    isOver.store(true, ordering: .releasing)
    end.meet()
    await relay.waitUntilIdle()
    XCTAssertEqual(leaks, 0, "delivered through a gate that the caller had closed")
    XCTAssertEqual(log.all, Array(0..<2 * rounds))
    requireMet(openOutcomes[.delivered] ?? 0 > 0, "nothing was delivered straight away")
    requireMet(openOutcomes[.waiting] ?? 0 > 0, "nothing waited")
    XCTAssert(isBalanced(relay))
  }
}

private func isBalanced(_ relay: Relay) -> Bool {
  relay.snapshot().features.allSatisfy(\.counts.isBalanced)
}

/// The place of a command in its slot's order of acceptance, as its id's text ends with it.
private func order(_ id: CommandID) -> Int {
  id.description.split(separator: ".").last.flatMap { Int($0) } ?? -1
}
