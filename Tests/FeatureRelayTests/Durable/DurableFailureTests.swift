// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import RelayJournal
import Testing

@MainActor
struct DurableFailureTests {
  let box = Box()

  @Test func aFailedAttemptGivesWayAndComesBack() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = ContextLedger()
    ledger.onWrite = { [weak ledger] number in
      if number == 1, ledger?.numbers.count(where: { $0 == 1 }) == 1 { throw Refusal() }
    }
    relay.register(ledger, for: LedgerFeature.self)
    relay.note(1)
    relay.note(2)
    #expect(ledger.numbers == [1, 2])
    box.clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 1])
    #expect(ledger.contexts.map(\.attempt) == [1, 1, 2])
    #expect(!ledger.contexts[2].isRedelivery)
    #expect(relay.counts.isBalanced)
    #expect(try await box.left() == [])
  }

  @Test func whatGaveWayStandsBehindAfterARelaunchAndItsAttemptCounts() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { if $0 == 1 { throw Refusal() } }
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.note(1)
    registration.cancel()
    relay.note(2)
    box.kill()
    try box.launch()
    #expect(await box.relay.restore() == .restored(2))
    let next = ContextLedger()
    box.relay.register(next, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    // Its place is the one that it was given when it failed: before what came later.
    #expect(next.numbers == [1, 2])
    #expect(next.contexts.map(\.attempt) == [2, 1])
    #expect(next.contexts.map(\.isRedelivery) == [false, false])
  }

  @Test func whatGaveWayToOthersStandsBehindThemAfterARelaunch() async throws {
    let relay = try box.launch()
    await relay.restore()
    for number in 1...3 { relay.note(number) }
    let ledger = Ledger()
    ledger.onWrite = { [gate = relay.gate] number in
      if number == 1 {
        gate.close(for: "test")
        throw Refusal()
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(try await box.left() == [2, 3, 1])
  }

  @Test func whatHoldsItsPlaceHoldsItAfterARelaunch() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Refusal() }
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(WriteInPlace(number: 1))
    relay.note(2)
    #expect(ledger.numbers == [1])
    registration.cancel()
    #expect(try await box.left() == [1, 2])
  }

  @Test func withoutAFurtherAttemptItIsADeadLetterThatCanBeTriedAgain() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Refusal() }
    let registration = relay.register(ledger, for: LedgerFeature.self)
    let acceptance = relay.dispatch(WriteInPlace(number: 5), tags: ["t"])
    box.clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [5, 5])
    let letter = try #require(relay.deadLetters.first)
    #expect(letter.id == acceptance.id)
    #expect(letter.reason == .failed)
    #expect(letter.attempts == 2)
    #expect(letter.name == "number.in-place")
    #expect(letter.tags == ["t"])
    #expect(relay.counts.dropped(.dead) == 1)
    #expect(relay.counts.isBalanced)
    // It is there after a relaunch, too, and does not come back by itself.
    registration.cancel()
    #expect(try await box.relaunch() == .empty)
    let kept = try #require(box.relay.deadLetters.first)
    #expect(kept == letter)
    #expect(box.relay.retry(kept))
    #expect(!box.relay.retry(kept))
    #expect(box.relay.deadLetters.isEmpty)
    #expect(box.relay.counts.revived == 1)
    #expect(box.relay.counts.isBalanced)
    let next = ContextLedger()
    box.relay.register(next, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(next.numbers == [5])
    #expect(next.contexts.map(\.attempt) == [1])
    #expect(try await box.left() == [])
    #expect(box.relay.deadLetters.isEmpty)
  }

  @Test func aRevivedLetterIsCancelledOnceByItsTag() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Advice(isTransient: false) }
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(WriteInPlace(number: 5), tags: ["t"])
    registration.cancel()
    // It has its number again, and maybe its place in memory.
    relay.retry(try #require(relay.deadLetters.first))
    #expect(relay.cancel(tagged: "t") == 1)
    #expect(relay.pendingCount == 0)
    #expect(relay.counts.isBalanced)
    #expect(try await box.left() == [])
  }

  @Test func aRevivedLetterWaitsAlsoAfterARelaunch() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Advice(isTransient: false) }
    let registration = relay.register(ledger, for: LedgerFeature.self)
    relay.note(4)
    registration.cancel()
    relay.retry(try #require(relay.deadLetters.first))
    #expect(try await box.left() == [4])
  }

  @Test func aDiscardedLetterIsGone() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Advice(isTransient: false) }
    relay.register(ledger, for: LedgerFeature.self)
    relay.note(4)
    let letter = try #require(relay.deadLetters.first)
    #expect(relay.discard(letter))
    #expect(!relay.discard(letter))
    try await box.relaunch()
    #expect(box.relay.deadLetters.isEmpty)
  }

  @Test func deadLettersAreBounded() async throws {
    box.settings = try DurableConfiguration(deadLetters: 3)
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Advice(isTransient: false) }
    relay.register(ledger, for: LedgerFeature.self)
    for number in 0..<5 { relay.note(number) }
    #expect(relay.deadLetters.count == 3)
    #expect(relay.snapshot().problems.count { $0.contains("dead letters dropped") } == 2)
    try await box.relaunch()
    #expect(box.relay.deadLetters.count == 3)
  }

  @Test func aPolicyThatDropsKeepsNothing() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Refusal() }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.dispatch(WriteOnce(number: 1)).outcome == .failed)
    #expect(relay.deadLetters.isEmpty)
    #expect(try await box.relaunch() == .empty)
  }

  @Test func attemptsThatNeverEndAreLimited() async throws {
    try box.launch().note(1)
    box.relay.note(2)
    for attempt in 1...3 {
      try await box.relaunch()
      let ledger = ContextLedger()
      ledger.onWrite = { [box] _ in box.disk.kill() }
      box.relay.register(ledger, for: LedgerFeature.self)
      await box.relay.waitUntilIdle()
      #expect(ledger.contexts.first?.attempt == attempt)
      box.relay.close()
      // A launch without a delivery does not count.
      try box.launch()
      await box.relay.restore()
      box.kill()
      try box.launch()
    }
    #expect(await box.relay.restore() == .restored(1))
    #expect(box.relay.deadLetters.map(\.reason) == [.neverEnded])
    #expect(box.relay.deadLetters.map(\.attempts) == [3])
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [2])
    #expect(box.relay.counts.isBalanced)
  }

  @Test func anUnreadablePayloadIsADeadLetterAndTheRestGoesOn() async throws {
    box.types = [WriteNumber.self, RenamedField.self]
    let relay = try box.launch()
    relay.note(1)
    relay.dispatch(RenamedField(old: 2))
    relay.note(3)
    box.kill()
    box.types = [WriteNumber.self, RenamedField.Stricter.self]
    try box.launch()
    #expect(await box.relay.restore() == .restored(3))
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 3])
    #expect(box.relay.deadLetters.map(\.reason) == [.unreadable])
    // The build that can read it gives it another chance.
    box.kill()
    box.types = [RenamedField.Migrating.self]
    try box.launch()
    await box.relay.restore()
    let letter = try #require(box.relay.deadLetters.first)
    #expect(box.relay.retry(letter))
    let next = Ledger()
    box.relay.register(next, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(next.numbers == [2 + 100])
  }

  @Test func anAsynchronousCommandThatRunsOutOfTimeIsADeadLetter() async throws {
    box.types.append(WorkBriefly.self)
    let relay = try box.launch()
    await relay.restore()
    let latch = Latch()
    let worker = Worker()
    worker.onWork = { _ in await latch.wait() }
    relay.register(worker, for: PatientFeature.self)
    relay.dispatch(WorkBriefly(number: 1))
    await latch.arrival()
    box.clock.advance(by: .seconds(5))
    await mainTurn()
    #expect(relay.deadLetters.map(\.reason) == [.timedOut])
    latch.open()
    await relay.waitUntilIdle()
    #expect(relay.counts.isBalanced)
  }

  @Test func cancelledOrFailedInMemoryNeedsNoJournal() async {
    let relay = Relay(scope: "memory")
    let ledger = Ledger()
    ledger.onWrite = { _ in throw Advice(isTransient: false) }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.note(1).outcome == .failed)
    #expect(relay.deadLetters.isEmpty)
    #expect(await relay.restore() == .empty)
  }
}

/// Version 1 of a command, a build that cannot read it, and one that can.
struct RenamedField: RelayCommand, DurableCommand {
  static let commandName = "number.renamed"
  var old: Int
  func execute(on ledger: LedgerFeature) throws { try ledger.write(old) }

  struct Stricter: RelayCommand, DurableCommand {
    static let commandName = "number.renamed"
    static let version = 2
    var new: Int
    func execute(on ledger: LedgerFeature) throws { try ledger.write(new) }
  }

  struct Migrating: RelayCommand, DurableCommand {
    static let commandName = "number.renamed"
    static let version = 2
    var new: Int
    var offset: Int

    static func migrate(_ payload: Data, from version: Int) throws -> Migrating {
      let former = try coder.decode(RenamedField.self, from: payload)
      return Migrating(new: former.old, offset: 100)
    }

    func execute(on ledger: LedgerFeature) throws { try ledger.write(new + offset) }
  }
}

struct WorkBriefly: AsyncRelayCommand, DurableCommand {
  static let commandName = "number.briefly"
  static let policy = CommandPolicy(
    retry: .later(.constant(.zero, attempts: 1)), executionLimit: .seconds(5))
  var number: Int
  func execute(on worker: PatientFeature) async throws { try await worker.work(number) }
}
