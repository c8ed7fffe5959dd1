// SPDX-License-Identifier: MIT

import RaceSupport
import RelayTesting
import Synchronization
import Testing

@testable import FeatureRelay

/// A handler, if only by its type.
private final class Somebody {}
private final class SomebodyElse {}

struct EventBufferTests {
  private let log = EventLog()

  private func origin() -> EventOrigin { log.origin(relay: 1, scope: "buffer") }

  private func event(_ number: UInt64, _ origin: EventOrigin) -> RelayEvent {
    RelayEvent(.accepted, EventCommand(), number: number, at: 0, from: origin)
  }

  private func rest(_ buffer: EventBuffer) -> [UInt64] {
    var numbers: [UInt64] = []
    while let event = buffer.next() ?? nil { numbers.append(event.number) }
    return numbers
  }

  @Test(arguments: [1, 7, 16, 100, 1_000])
  func theNewestAreKeptInOrder(limit: Int) {
    let origin = origin()
    for count in [0, 1, limit - 1, limit, limit + 1, 3 * limit + 5] {
      let buffer = EventBuffer(limit: limit)
      for number in 0..<count { buffer.append(event(UInt64(number), origin)) }
      #expect(rest(buffer) == (max(0, count - limit)..<max(0, count)).map { UInt64($0) })
    }
  }

  @Test func readingAndWritingInTurnWrapsAround() {
    let origin = origin()
    let buffer = EventBuffer(limit: 20)
    var (written, read): (UInt64, UInt64) = (0, 0)
    for round in 0..<500 {
      for _ in 0..<(round % 17) {
        buffer.append(event(written, origin))
        written += 1
      }
      for _ in 0..<(round % 13) {
        guard let event = buffer.next() ?? nil else { break }
        #expect(event.number >= read)
        read = event.number + 1
      }
    }
    #expect(rest(buffer).last == written - 1)
  }

  /// Begins to wait, as a consumer does, while an event is on its way.
  private final class WaitingReader: RelayObserver {
    let log: EventLog
    let buffer: EventBuffer
    let reader: EventBuffer.Reader

    init(_ log: EventLog, _ buffer: EventBuffer, _ reader: EventBuffer.Reader) {
      self.log = log
      self.buffer = buffer
      self.reader = reader
    }

    func observe(_ event: RelayEvent) {
      buffer.wait(1, reader)
      log.wantEvents()
      #expect(buffer.wakeReaders())
    }
  }

  @Test func whoBeginsToWaitWhileAnEventIsOnItsWayIsWoken() async {
    let log = log
    let event = await withUnsafeContinuation { reader in
      let buffer = EventBuffer(limit: 4)
      // The observer comes first: the event is not in the buffer yet.
      let waiting = log.addObserver(WaitingReader(log, buffer, reader))
      let token = log.addConsumer(buffer)
      let entry = RegistrationEntry(Somebody(), ownership: .owned, id: 1)
      let observation = UnsafeMutablePointer<Observation>.allocate(capacity: 1)
      observation.initialize(to: Observation(entry.pointer, origin()))
      log.recordEnd(observation)
      observation.deinitialize(count: 1)
      observation.deallocate()
      // The reader has it: it was woken.
      if case .some = buffer.next() { Issue.record("It slept through the event.") }
      buffer.finish()
      log.remove(waiting)
      log.remove(token)
    }
    #expect(event?.number == 1)
  }

  @Test func whatIsLeftIsReadBeforeTheEnd() {
    let origin = origin()
    let buffer = EventBuffer(limit: 4)
    if case .some = buffer.next() { Issue.record("It has ended already.") }
    buffer.append(event(1, origin))
    buffer.finish()
    #expect(rest(buffer) == [1])
    if case .some(.none) = buffer.next() {} else { Issue.record("It has not ended.") }
  }

  @Test func displacedErrorsAreLetGoOf() {
    final class Payload: Error {
      let token: Token
      init(_ token: Token) { self.token = token }
    }
    let origin = origin()
    let released = ReleaseTally()
    let buffer = EventBuffer(limit: 2)
    for number in 0..<5 {
      let error = Payload(Token { released.add(number) })
      buffer.append(
        RelayEvent(
          EventContent(.failed(error)), EventCommand(), number: UInt64(number), at: 0,
          from: origin))
    }
    #expect(released.numbers == [0, 1, 2])
    _ = buffer.next()
    #expect(released.numbers == [0, 1, 2, 3])
  }
}

/// Direct deliveries in one piece against a list of all events.
struct EventBufferModelTests {
  private enum First {}

  /// A slot that somebody looks at: what it runs, and the buffer's equal.
  private final class Source {
    let observation = UnsafeMutablePointer<Observation>.allocate(capacity: 1)
    let origin: EventOrigin
    let entries = [
      RegistrationEntry(Somebody(), ownership: .owned, id: 1),
      RegistrationEntry(SomebodyElse(), ownership: .owned, id: 2),
    ]
    var isRunning = false
    var count: UInt64 = 0

    init(_ log: EventLog, _ slot: UInt32) {
      origin = log.origin(relay: 1, slot: slot, scope: "model", feature: "Feature \(slot)")
      observation.initialize(to: Observation(entries[0].pointer, origin))
    }

    deinit {
      observation.deinitialize(count: 1)
      observation.deallocate()
    }
  }

  private func text(_ event: RelayEvent) -> String {
    """
    \(event.number) \(event) \(event.time) \(String(describing: event.age)) \
    \(String(describing: event.attempt)) \(String(describing: event.priority))
    """
  }

  private func check(
    _ limit: Int, _ steps: Int, using generator: inout SeededGenerator
  ) -> Bool {
    let log = EventLog(relay: 1, scope: "model")
    let sources = (0..<3).map { Source(log, $0) }
    let buffer = EventBuffer(limit: limit)
    var expected: [String] = []
    var (number, time): (UInt64, Int64) = (0, 1)
    /// Mostly the next one, as where nothing happens in between; sometimes far away.
    func pass() {
      number += Int.random(in: 0..<20, using: &generator) == 0 ? .random(in: 1...(1 << 25)) : 1
      time += Int.random(in: 0..<20, using: &generator) == 0 ? .random(in: 1...(1 << 41)) : 7
    }
    func put(_ event: RelayEvent) {
      expected.append(text(event))
      if expected.count > limit { expected.removeFirst() }
    }
    for _ in 0..<steps {
      let source = sources.randomElement(using: &generator)!
      let observation = source.observation
      pass()
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<6 where !source.isRunning:
        source.isRunning = true
        source.count += 1
        let isPlain = Int.random(in: 0..<4, using: &generator) > 0
        let entry = source.entries[isPlain ? 0 : 1]
        observation.pointee.begin(
          on: entry.pointer, source.origin, CommandID.directSequence(source.count),
          isPlain ? nil : First.self, isPlain ? .normal : .high, at: time)
        observation.pointee.accepted.number = number
        number += 1
        observation.pointee.started.number = number
        buffer.appendStart(of: observation)
        put(observation.pointee.accepted)
        put(observation.pointee.started)
      case 0..<6:
        source.isRunning = false
        observation.pointee.end(at: time)
        observation.pointee.delivered.number = number
        buffer.appendEnd(of: observation)
        put(observation.pointee.delivered)
      case 6:
        let event = RelayEvent(
          EventContent(.gateClosed(reason: "\(number)")), EventCommand(), number: number,
          at: time, from: source.origin)
        buffer.append(event)
        put(event)
      default:
        for _ in 0..<Int.random(in: 0..<6, using: &generator) {
          let event = buffer.next() ?? nil
          guard event.map(text) == expected.first else { return false }
          if !expected.isEmpty { expected.removeFirst() }
        }
      }
    }
    for text in expected {
      guard let event = buffer.next() ?? nil, self.text(event) == text else { return false }
    }
    if case .some = buffer.next() { return false }
    return true
  }

  @Test(arguments: [1, 2, 3, 5, 16, 1_000])
  func aDeliveryInOnePieceIsThreeEventsInTheirOrder(limit: Int) {
    let seed = SeededGenerator.freshSeed()
    print("RELAY_TEST_SEED=\(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      #expect(check(limit, 400, using: &generator), "limit \(limit), seed \(seed)")
    }
  }

  @Test func theEndIsReadWhenItComes() {
    let log = EventLog(relay: 1, scope: "model")
    let (outer, inner) = (Source(log, 0), Source(log, 1))
    let buffer = EventBuffer(limit: 100)
    func start(_ source: Source, _ number: UInt64) {
      source.observation.pointee.begin(
        on: source.entries[0].pointer, source.origin, 1, nil, .low, at: Int64(number))
      source.observation.pointee.accepted.number = number
      source.observation.pointee.started.number = number + 1
      buffer.appendStart(of: source.observation)
    }
    func end(_ source: Source, _ number: UInt64) {
      source.observation.pointee.end(at: Int64(number))
      source.observation.pointee.delivered.number = number
      buffer.appendEnd(of: source.observation)
    }
    func read() -> UInt64? { (buffer.next() ?? nil)?.number }
    start(outer, 1)
    #expect([read(), read(), read()] == [1, 2, nil])
    start(inner, 3)
    #expect(read() == 3)
    end(inner, 5)
    end(outer, 6)
    #expect([read(), read(), read(), read()] == [4, 5, 6, nil])
    start(outer, 7)
    #expect([read(), read(), read()] == [7, 8, nil])
    end(outer, 9)
    #expect([read(), read()] == [9, nil])
  }
}
