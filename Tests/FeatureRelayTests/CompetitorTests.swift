// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// What another relay was seen to do wrong, with the right values.
@MainActor
struct CompetitorTests {
  let ledger = Ledger()

  @Test func tenCommandsOfOnePriorityAreReplayedInOrder() async {
    for priority in CommandPriority.allCases {
      let relay = Relay(scope: "ten")
      let ledger = Ledger()
      for number in 1...10 { relay.write(number, priority: priority) }
      relay.register(ledger, for: LedgerFeature.self)
      await relay.waitUntilIdle()
      #expect(ledger.numbers == Array(1...10))
    }
  }

  @Test func plainCommandsStandBetweenLowAndHigh() async {
    let relay = Relay(scope: "plain")
    relay.write(1, priority: .low)
    relay.write(2)
    relay.write(3, priority: .high)
    relay.write(4)
    relay.write(5, priority: .normal)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [3, 2, 4, 5, 1])
  }

  @Test func aPlainCommandDoesNotEvictAnUrgentOne() async throws {
    let relay = Relay(scope: "full", configuration: try RelayConfiguration(limit: 3))
    relay.write(1, priority: .critical)
    relay.write(2, priority: .low)
    relay.write(3, priority: .low)
    relay.write(4)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 4, 3])
  }

  @Test func aLowCommandIsRefusedByAQueueOfCriticalOnes() async throws {
    let relay = Relay(scope: "full", configuration: try RelayConfiguration(limit: 100))
    for number in 1...100 { relay.write(number, priority: .critical) }
    #expect(relay.write(101, priority: .low).outcome == .refused(.full))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(1...100))
  }

  @Test func aHandlerRegisteredElsewhereLetsNoNewCommandOvertakeTheQueue() async {
    let ledger = ledger
    for _ in 0..<2_000 {
      let relay = Relay(scope: "register elsewhere")
      for number in 1...3 { relay.write(number) }
      onAnotherThread { relay.register(ledger, for: LedgerFeature.self) }
      relay.write(4)
    }
    #expect(ledger.numbers == Array(repeating: [1, 2, 3, 4], count: 2_000).flatMap(\.self))
  }

  @Test func aDispatchElsewhereComesBeforeALaterOneOnMain() {
    let relay = Relay(scope: "elsewhere")
    relay.register(ledger, for: LedgerFeature.self)
    relay.writeElsewhere(1)
    relay.write(2)
    #expect(ledger.numbers == [1, 2])
  }

  @Test func aHandlerUnregisteredBeforeItsReplayGetsNothing() async {
    let relay = Relay(scope: "brief")
    let ledger = ledger
    relay.write(1)
    onAnotherThread {
      relay.register(ledger, for: LedgerFeature.self)
      relay.unregister(ledger, for: LedgerFeature.self)
    }
    await relay.waitUntilIdle()
    await mainTurn()
    #expect(ledger.numbers == [])
    #expect(relay.pendingCount == 1)
  }

  @Test func anErrorDuringReplayIsToldAndTheRestGoesOn() async {
    let relay = Relay(scope: "throws")
    let recorder = RelayRecorder(relay)
    for number in 1...3 { relay.write(number) }
    ledger.onWrite = { if $0 == 2 { throw Refusal() } }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
    #expect(recorder.all.map(\.outcome) == [.delivered, .dropped(.failed), .delivered])
    #expect(recorder.all[1].errors.first is Refusal)
  }

  @Test func clearedCommandsDoNotComeBack() async {
    let relay = Relay(scope: "cleared")
    relay.write(1)
    relay.show(2)
    #expect(relay.clearQueue(LedgerFeature.self) == 1)
    #expect(relay.pendingCount == 1)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(relay.clearQueue() == 1)
    #expect(relay.counts.dropped(.cleared) == 2)
  }

  @Test func cancellingReachesEverythingInMemoryUnderTheTag() async {
    let relay = Relay(scope: "tagged")
    relay.write(1, tags: ["a", "b"])
    relay.write(2, tags: ["b"])
    relay.show(3)
    relay.dispatch(MirrorFeature.self, tags: ["b"]) { try $0.show(4) }
    #expect(relay.cancel(tagged: "b") == 3)
    #expect(relay.cancel(tagged: "a") == 0)
    #expect(relay.pendingCount == 1)
  }
}
