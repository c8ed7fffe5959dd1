// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayJournal
import Testing

@testable import FeatureRelay

@MainActor
struct DurableRaceTests {
  let box = Box()

  @Test func registeringAgainstDispatchingDeliversEachOnce() async throws {
    let relay = try box.launch()
    await relay.restore()
    let rounds = raceRounds(2_000, atLeast: 100)
    let rival = Rival(rounds: rounds)
    let tuner = RaceTuner()
    for number in 0..<rounds {
      let ledger = Ledger()
      rival.start(tuner) { relay.note(number) }
      let registration = relay.register(ledger, for: LedgerFeature.self)
      rival.finish()
      await relay.waitUntilIdle()
      if ledger.numbers != [number] || relay.pendingCount != 0 {
        Issue.record("round \(number): \(ledger.numbers), \(relay.pendingCount) wait")
        return
      }
      registration.cancel()
    }
    #expect(relay.counts.delivered == UInt64(rounds))
    #expect(try await box.relaunch() == .empty)
  }

  @Test func resetsAgainstDispatchesLeaveMemoryAndDiskAgreed() async throws {
    let rounds = raceRounds(400, atLeast: 50)
    let rival = Rival(rounds: rounds)
    for round in 0..<rounds {
      let box = Box()
      let relay = try box.launch()
      await relay.restore()
      relay.note(-1)
      rival.start(RaceTuner(), lag: round % 97 * 40) { for number in 0..<4 { relay.note(number) } }
      relay.reset()
      rival.finish()
      let inMemory = relay.waitingNotes
      box.kill()
      try box.launch()
      await box.relay.restore()
      let onDisk = box.relay.waitingNotes
      if inMemory != onDisk {
        Issue.record("round \(round): memory \(inMemory), disk \(onDisk)")
        return
      }
      box.relay.close()
    }
  }

  /// The moment in which the race above may let it happen: after the journal has been told of the
  /// reset, before the queue has.
  @Test func whatIsDispatchedWhileAResetBeginsEndsWithItOnDiskAsWell() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    let store = try #require(relay.core.existingStore)
    store.beginReset()
    relay.note(2)
    for slot in relay.core.slots {
      slot.update(onMain: true) { state, effects in state.reset(.reset, &effects) }
    }
    relay.note(3)
    store.endReset()
    #expect(relay.waitingNotes.count == 1)
    #expect(try await box.relaunch() == .restored(1))
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [3])
  }

  @Test func cancelsAgainstDispatchesLeaveMemoryAndDiskAgreed() async throws {
    let relay = try box.launch()
    await relay.restore()
    let rounds = raceRounds(1_000, atLeast: 50)
    let rival = Rival(rounds: rounds)
    for round in 0..<rounds {
      rival.start(RaceTuner(), lag: round % 61 * 20) { relay.note(round, tags: ["t"]) }
      relay.cancel(tagged: "t")
      rival.finish()
    }
    let inMemory = relay.waitingNotes
    let counts = relay.counts
    #expect(counts.isBalanced)
    #expect(try await box.relaunch().count == Int(counts.waiting))
    #expect(box.relay.waitingNotes == inMemory)
  }

  @Test func eightThreadsKeepTheirOrderOnDiskAndInDelivery() async throws {
    let relay = try box.launch()
    await relay.restore()
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          await besideMain { for number in 0..<200 { relay.note(thread * 1_000 + number) } }
        }
      }
    }
    let ids = relay.waitingNotes
    try await box.relaunch()
    #expect(box.relay.waitingNotes == ids)
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers.count == 1_600)
    for thread in 0..<8 {
      let own = ledger.numbers.filter { $0 / 1_000 == thread }
      #expect(own == own.sorted() && own.count == 200)
    }
    #expect(box.relay.counts.isBalanced)
  }

  @Test func drainsFromFourPlacesDeliverEachOnce() async throws {
    let relay = try box.launch()
    for number in 0..<10 { relay.note(number) }
    box.kill()
    try box.launch()
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    let relay2 = box.relay!
    async let first = relay2.restore()
    async let second = relay2.didResume()
    async let third = relay2.restore()
    async let fourth: Void = relay2.waitUntilIdle()
    _ = await (first, second, third, fourth)
    await relay2.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<10))
  }

  @Test func aHandlerMayDoAnythingWithTheRelayWhileAnotherThreadDoesToo() async throws {
    let relay = try box.launch()
    await relay.restore()
    let mirror = Mirror()
    let ledger = Ledger()
    ledger.onWrite = { [box] number in
      let relay = box.relay!
      relay.register(mirror, for: MirrorFeature.self)
      relay.dispatch(ShowNumber(number: number))
      relay.cancel(tagged: "none")
      _ = relay.pendingCount
      relay.unregister(MirrorFeature.self)
      if number < 200 { relay.note(number + 1) }
    }
    let busy = Task.detached {
      await besideMain {
        for _ in 0..<200 {
          relay.dispatch(ShowNumber(number: -1), tags: ["x"])
          relay.cancel(tagged: "x")
          _ = relay.pendingCount
        }
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    relay.note(0)
    await busy.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0...200))
    #expect(relay.counts.isBalanced)
  }

  @Test func suspensionsAgainstDispatchesLoseNothing() async throws {
    let relay = try box.launch()
    await relay.restore()
    let sending = Task.detached {
      await besideMain { for number in 0..<500 { relay.note(number) } }
    }
    for _ in 0..<5 {
      await relay.willSuspend()
      await relay.didResume()
    }
    await sending.value
    #expect(await relay.didResume().count >= 0)
    #expect(try await box.left() == Array(0..<500))
  }
}

extension Relay {
  /// The ledger's commands that wait, in their order.
  fileprivate var waitingNotes: [CommandID] {
    snapshot().features.first { $0.name == "LedgerFeature" }?.waiting.map(\.id) ?? []
  }
}
