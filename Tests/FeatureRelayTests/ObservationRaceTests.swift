// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Synchronization
import XCTest

private protocol SeenFeature: RelayFeature {
  func see()
}

private final class Seer: SeenFeature {
  private(set) var count = 0
  func see() { count += 1 }
}

private protocol EchoFeature: RelayFeature {
  func echo()
}

private final class Echo: EchoFeature {
  func echo() {}
}

/// What other threads do meanwhile has its place in the order, before or after a direct delivery.
@MainActor
final class ObservationRaceTests: XCTestCase {
  private let relay = Relay(scope: "race")
  private let seer = Seer()

  /// Reads the events of a race between main, which dispatches, and another thread.
  private func events(
    _ rounds: Int, _ other: @escaping @Sendable (Relay) -> Void
  ) async throws -> [RelayEvent] {
    let relay = Relay(
      scope: "race", configuration: try RelayConfiguration(eventBuffer: 64 * rounds + 64))
    relay.register(seer, for: SeenFeature.self)
    let events = relay.events
    let (start, end) = (SpinBarrier(parties: 2), SpinBarrier(parties: 2))
    startThread {
      for _ in 0..<rounds {
        start.meet()
        other(relay)
        end.meet()
      }
    }
    for round in 0..<rounds {
      start.meet()
      for _ in 0..<4 {
        relay.dispatch(SeenFeature.self) { $0.see() }
        spin(round % 8)
      }
      end.meet()
      await relay.waitUntilIdle()
    }
    relay.close()
    var all: [RelayEvent] = []
    for await event in events { all.append(event) }
    XCTAssertEqual(all.map(\.number), Array(1...UInt64(all.count)))
    return all
  }

  func testCommandsStartInTheOrderOfTheirAcceptance() async throws {
    var (accepted, started): ([CommandID], [CommandID]) = ([], [])
    let all = try await events(raceRounds(5_000)) { relay in
      for _ in 0..<3 { relay.dispatch(SeenFeature.self) { $0.see() } }
    }
    for event in all {
      if case .accepted = event.kind { accepted.append(event.id!) }
      if case .started = event.kind { started.append(event.id!) }
    }
    XCTAssertEqual(accepted, started)
    XCTAssertEqual(started.count, seer.count)
    let direct = accepted.filter { $0.description.contains("d") }.count
    requireMet(direct > 0, "nothing was delivered straight away")
    requireMet(direct < accepted.count, "nothing went through the queue")
  }

  func testNothingStartsBehindAGateThatIsClosed() async throws {
    var isClosed = false
    var (wrong, starts) = (0, 0)
    let all = try await events(raceRounds(5_000)) { relay in
      let gate = relay.gate(for: SeenFeature.self)
      gate.close(for: "race")
      spin(20)
      gate.open(for: "race")
    }
    for event in all {
      switch event.kind {
      case .gateClosed: isClosed = true
      case .gateOpened: isClosed = false
      case .started:
        starts += 1
        if isClosed { wrong += 1 }
      default: break
      }
    }
    XCTAssertEqual(wrong, 0)
    XCTAssertEqual(starts, seer.count)
  }

  func testAConsumerThatWaitsIsWokenByEveryEvent() async throws {
    let rounds = raceRounds(2_000)
    let relay = Relay(scope: "race")
    relay.register(seer, for: SeenFeature.self)
    let events = relay.events
    let read = Atomic<Int>(0)
    let reader = Task.detached {
      for await _ in events { read.add(1, ordering: .relaxed) }
    }
    for round in 1...rounds {
      relay.dispatch(SeenFeature.self) { $0.see() }
      // If it slept through one, it would never come to the last.
      while read.load(ordering: .relaxed) < 3 * round { await Task.yield() }
    }
    relay.close()
    await reader.value
    XCTAssertEqual(read.load(ordering: .relaxed), 3 * rounds + 1)
  }

  /// Reads while main dispatches, from inside of commands as well, and another thread does
  /// something else.
  private func eventsReadMeanwhile(_ rounds: Int, buffer: Int) async throws -> [RelayEvent] {
    let relay = Relay(scope: "race", configuration: try RelayConfiguration(eventBuffer: buffer))
    let second = Echo()
    relay.register(seer, for: SeenFeature.self)
    relay.register(second, for: EchoFeature.self)
    let events = relay.events
    let reader = Task.detached {
      var all: [RelayEvent] = []
      for await event in events { all.append(event) }
      return all
    }
    let end = SpinBarrier(parties: 2)
    startThread {
      for round in 0..<(rounds / 8) {
        relay.gate.close(for: "race")
        spin(round % 100)
        relay.gate.open(for: "race")
        spin(400)
      }
      end.meet()
    }
    for round in 0..<rounds {
      relay.dispatch(SeenFeature.self) { seer in
        seer.see()
        if round % 3 == 0 { relay.dispatch(EchoFeature.self) { $0.echo() } }
      }
      if round % 64 == 0 { await mainTurn() }
    }
    end.meet()
    await relay.waitUntilIdle()
    relay.close()
    return await reader.value
  }

  func testADeliveryThatIsReadMeanwhileIsThreeEventsInTheirOrder() async throws {
    let rounds = raceRounds(20_000)
    let all = try await eventsReadMeanwhile(rounds, buffer: 16 * rounds + 64)
    XCTAssertEqual(all.map(\.number), Array(1...UInt64(all.count)))
    var running: [CommandID: RelayEvent] = [:]
    var (accepted, direct, ended) = (0, 0, 0)
    for event in all {
      guard let id = event.id else { continue }
      switch event.kind {
      case .accepted:
        XCTAssertNil(running.updateValue(event, forKey: id))
        accepted += 1
      case .started:
        guard let first = running[id] else { return XCTFail("\(event) was not accepted") }
        if first.number + 1 == event.number, first.time == event.time { direct += 1 }
        XCTAssertGreaterThanOrEqual(event.time, first.time)
      case .delivered, .dropped:
        guard let first = running.removeValue(forKey: id) else {
          return XCTFail("\(event) was not accepted")
        }
        XCTAssertGreaterThanOrEqual(event.time, first.time)
        XCTAssertEqual(event.feature, first.feature)
        ended += 1
      default: break
      }
    }
    XCTAssertTrue(running.isEmpty)
    XCTAssertEqual(ended, accepted)
    XCTAssertGreaterThanOrEqual(accepted, rounds)
    requireMet(direct > 0, "nothing was delivered straight away")
  }

  func testWhoReadsTooSlowlyMissesTheOldestAndSeesTheRestInOrder() async throws {
    let all = try await eventsReadMeanwhile(raceRounds(20_000), buffer: 7)
    for (event, next) in zip(all, all.dropFirst()) {
      XCTAssertLessThan(event.number, next.number)
    }
    XCTAssertEqual(all.last?.kind.description, "closed")
  }

  func testAStartIsReadWhileTheHandlerStillRuns() async throws {
    let relay = Relay(scope: "race")
    relay.register(seer, for: SeenFeature.self)
    let events = relay.events
    let hasStarted = ThreadLatch()
    let reader = Task.detached {
      for await event in events { if case .started = event.kind { hasStarted.open() } }
    }
    for _ in 0..<raceRounds(500) {
      relay.dispatch(SeenFeature.self) { _ in hasStarted.wait("that the start is read") }
    }
    relay.close()
    await reader.value
  }

  func testWhoFollowsADirectDeliveryHearsOfItsEnd() async throws {
    let rounds = raceRounds(2_000)
    let relay = Relay(scope: "race")
    relay.register(seer, for: SeenFeature.self)
    let ids = LastID()
    relay.observe(ids)
    let (start, end) = (SpinBarrier(parties: 2), SpinBarrier(parties: 2))
    let streams = Handover<[AsyncStream<CommandStatus>]>()
    startThread {
      var all: [AsyncStream<CommandStatus>] = []
      for _ in 0..<rounds {
        start.meet()
        spin(50)
        if let id = ids.last { all.append(relay.statusUpdates(of: id)) }
        end.meet()
      }
      streams.current = all
    }
    for round in 0..<rounds {
      start.meet()
      for _ in 0..<4 { relay.dispatch(SeenFeature.self) { _ in spin(round % 40) } }
      end.meet()
    }
    var running = 0
    while true {
      guard let all = streams.take() else {
        await Task.yield()
        continue
      }
      for stream in all {
        var last: CommandStatus?
        for await status in stream {
          if status == .running { running += 1 }
          last = status
        }
        XCTAssertEqual(last, .delivered)
      }
      break
    }
    print("followed \(running) while they ran")
  }
}

/// The id of the latest event.
private final class LastID: RelayObserver {
  private let id = Handover<CommandID>()
  var last: CommandID? { id.current }
  func observe(_ event: RelayEvent) {
    if let new = event.id { id.current = new }
  }
}
