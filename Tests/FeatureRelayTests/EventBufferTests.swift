// SPDX-License-Identifier: MIT

import RaceSupport
import Synchronization
import Testing

@testable import FeatureRelay

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

  private final class Somebody {}

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
