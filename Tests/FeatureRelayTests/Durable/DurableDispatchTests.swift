// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

@MainActor
struct DurableDispatchTests {
  let box = Box()

  @Test func aWaitingCommandIsWrittenByOneCallAndSurvivesAKill() async throws {
    let relay = try box.launch()
    await relay.restore()
    let before = box.disk.count(.write)
    let acceptance = relay.note(1)
    #expect(acceptance.outcome == .waiting)
    #expect(acceptance.durability == .survivesProcessDeath)
    #expect(box.disk.count(.write) == before + 1)
    #expect(try await box.left() == [1])
  }

  @Test func withAHandlerThereAreTwoCallsAndItHasRunWhenDispatchReturns() async throws {
    let relay = try box.launch()
    await relay.restore()
    let ledger = ContextLedger()
    relay.register(ledger, for: LedgerFeature.self)
    relay.note(0)
    let before = box.disk.count(.write)
    var atStart = 0
    ledger.onWrite = { [disk = box.disk] _ in atStart = disk.count(.write) }
    let acceptance = relay.note(1)
    #expect(acceptance.outcome == .delivered)
    #expect(ledger.numbers == [0, 1])
    #expect(atStart == before + 1)
    #expect(box.disk.count(.write) == before + 2)
    #expect(try await box.left() == [])
    #expect(box.relay.counts.restored == 0)
  }

  @Test func theHandlerCanTellWhichCommandItIs() async throws {
    let relay = try box.launch()
    let ledger = ContextLedger()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.restore()
    let acceptance = relay.note(1)
    let context = try #require(ledger.contexts.first)
    #expect(context.id == acceptance.id)
    #expect(context.attempt == 1)
    #expect(!context.isRedelivery)
    #expect(context.acceptedAt == box.wall.now)
    #expect(CommandContext.current == nil)
    relay.dispatch(LedgerFeature.self) { try $0.write(2) }
    #expect(ledger.contexts.count == 1)
  }

  @Test func aKilledAttemptComesAgainWithTheSameIdAndSaysSo() async throws {
    let relay = try box.launch()
    await relay.restore()
    let first = ContextLedger()
    first.onWrite = { [box] _ in box.disk.kill() }
    relay.register(first, for: LedgerFeature.self)
    let acceptance = relay.note(7)
    relay.close()
    try box.launch()
    #expect(await box.relay.restore() == .restored(1))
    let second = ContextLedger()
    box.relay.register(second, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(second.numbers == [7])
    #expect(second.contexts.first?.id == acceptance.id)
    #expect(second.contexts.first?.attempt == 2)
    #expect(second.contexts.first?.isRedelivery == true)
    #expect(try await box.left() == [])
  }

  @Test func asynchronousCommandsAreWrittenStartedAndAcknowledged() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = Latch()
    let worker = Worker()
    worker.onWork = { _ in await latch.wait() }
    relay.register(worker, for: PatientFeature.self)
    let acceptance = relay.dispatch(WorkOn(number: 3))
    #expect(acceptance.durability == .survivesProcessDeath)
    await latch.arrival()
    #expect(worker.contexts.map(\.attempt) == [1])
    latch.open()
    await relay.waitUntilIdle()
    #expect(worker.numbers == [3])
    #expect(try await box.relaunch() == .empty)
  }

  @Test func offMainAndThroughGenericsAndExistentialsItIsDurableAllTheSame() async throws {
    let relay = try box.launch()
    await relay.restore()
    func send(_ command: some RelayCommand) -> Acceptance { relay.dispatch(command) }
    #expect(send(WriteNumber(number: 1)).durability == .survivesProcessDeath)
    let any: any RelayCommand = WriteNumber(number: 2)
    #expect(relay.dispatch(any).durability == .survivesProcessDeath)
    let elsewhere = await besideMain { relay.note(3).durability }
    #expect(elsewhere == .survivesProcessDeath)
    #expect(try await box.left() == [1, 2, 3])
  }

  @Test func aPayloadThatCannotBeEncodedIsRefusedAtOnceAndStoresNothing() async throws {
    box.types.append(WriteFraction.self)
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    let refused = relay.dispatch(WriteFraction(number: .nan))
    #expect(refused.outcome == .refused(.encoding))
    relay.note(3)
    #expect(relay.counts.refusedEncoding == 1)
    #expect(relay.snapshot().problems.contains { $0.contains("cannot be encoded") })
    #expect(try await box.left() == [1, 3])
  }

  @Test func anUndeclaredTypeIsToldOnceAndIsDurableAllTheSame() async throws {
    box.types = []
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    relay.note(2)
    #expect(relay.snapshot().problems.count { $0.contains("number.write") } == 1)
    box.kill()
    try box.launch()
    #expect(await box.relay.restore() == .empty)
    let ledger = Ledger()
    box.relay.register(ledger, for: LedgerFeature.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    box.relay.declare(WriteNumber.self)
    await box.relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func withoutAJournalItLivesInMemoryUnderItsOwnLimits() {
    let relay = Relay(scope: "memory")
    for number in 0..<150 {
      #expect(relay.note(number).durability == .inMemory)
    }
    #expect(relay.pendingCount == 150)
    #expect(relay.counts.isBalanced)
  }

  @Test func aFullQueueRefusesTheNewcomer() async throws {
    box.settings = try DurableConfiguration(limit: 3)
    let relay = try box.launch()
    await relay.restore()
    for number in 1...5 { relay.note(number) }
    #expect(relay.counts.refusedFull == 2)
    #expect(try await box.left() == [1, 2, 3])
  }

  @Test func aFeaturesSettingsStandBetweenTheTypesAndTheRelays() async throws {
    box.settings = try DurableConfiguration(limit: 4)
    let relay = try box.launch()
    await relay.restore()
    relay.configure(
      LedgerFeature.self,
      try FeatureConfiguration(
        limit: 1, timeToLive: .seconds(1),
        durable: .init(limit: 2, timeToLive: .seconds(60), overflow: .dropOldest, retry: .drop)))
    for number in 1...3 { relay.note(number) }
    #expect(relay.pendingCount(LedgerFeature.self) == 2)
    #expect(relay.counts.dropped(.overflow) == 1)
    // Another feature follows the relay, a call comes before both.
    for number in 1...5 { relay.dispatch(ShowNumber(number: number)) }
    #expect(relay.counts.refusedFull == 1)
    relay.note(4, timeToLive: .unlimited)
    // The settings for what is not durable do not end it, the time of its own does.
    box.clock.advance(by: .seconds(59))
    #expect(relay.pendingCount(LedgerFeature.self) == 2)
    box.clock.advance(by: .seconds(1))
    #expect(relay.pendingCount(LedgerFeature.self) == 1)
    let ledger = Ledger { _ in throw Refusal() }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    // The relay's rule would have tried it again.
    #expect(ledger.numbers == [4])
    #expect(relay.counts.dropped(.failed) == 1)
    // A type's own policy counts for more than the feature's.
    relay.dispatch(WriteInPlace(number: 5))
    #expect(relay.counts.running + relay.counts.waiting == 1 + 4)
    // What is taken back follows the relay again.
    relay.configure(LedgerFeature.self, try FeatureConfiguration())
    relay.unregister(LedgerFeature.self)
    for number in 6...10 { relay.note(number) }
    #expect(relay.pendingCount(LedgerFeature.self) == 4)
  }

  @Test func restoredCommandsFailAfterTheirFeaturesSettings() async throws {
    try box.launch()
    await box.relay.restore()
    box.relay.note(1)
    box.kill()
    let relay = try box.launch()
    relay.configure(LedgerFeature.self, try FeatureConfiguration(durable: .init(retry: .drop)))
    await relay.restore()
    let ledger = Ledger { _ in throw Refusal() }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.counts.dropped(.dead) + relay.counts.dropped(.failed) == 1)
    #expect(relay.counts.isBalanced)
  }

  @Test func whatIsDispatchedIsWhatItWasThen() async throws {
    let relay = try box.launch()
    await relay.restore()
    var command = WriteNumber(number: 1)
    relay.dispatch(command)
    command.number = 2
    #expect(try await box.left() == [1])
  }

  @Test func twoRelaysOfAProcessCannotHaveOneDirectory() throws {
    let relay = try box.launch()
    #expect(throws: RelayError.self) { try box.make() }
    relay.close()
    #expect(throws: Never.self) { try box.make().close() }
  }
}

/// A payload that JSON has no word for.
struct WriteFraction: RelayCommand, DurableCommand {
  static let commandName = "fraction.write"
  var number: Double
  func execute(on ledger: LedgerFeature) throws { try ledger.write(Int(number)) }
}
