// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private struct Urgent: RelayCommand, Equatable {
  static let policy = CommandPolicy(priority: .high)
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

private struct Plain: RelayCommand {
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

private struct Parallel: AsyncRelayCommand {
  static let policy = CommandPolicy(lane: .concurrent)
  let latch: Latch
  var number: Int
  func execute(on ledger: any LedgerFeature) async throws {
    try ledger.write(number)
    await latch.wait()
  }
}

@MainActor
struct CommandPolicyTests {
  let relay = Relay(scope: "policy")
  let ledger = Ledger()

  @Test func theTypesPriorityIsTheDefaultAndTheCallsGoesBeforeIt() async {
    relay.dispatch(Plain(number: 1))
    relay.dispatch(Urgent(number: 2))
    relay.dispatch(Urgent(number: 3), priority: .low)
    relay.dispatch(Plain(number: 4), priority: .critical)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [4, 2, 1, 3])
  }

  @Test func closuresAndTypedCommandsOfOneFeatureAreOneQueue() async {
    relay.write(1)
    relay.dispatch(Plain(number: 2))
    relay.dispatch(LedgerFeature.self) { ledger async throws in try ledger.write(3) }
    relay.write(4)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3, 4])
  }

  @Test func concurrentCommandsStartBeforeTheOthersHaveEnded() async {
    let latches = (0..<3).map { _ in Latch() }
    relay.register(ledger, for: LedgerFeature.self)
    for (number, latch) in latches.enumerated() {
      relay.dispatch(Parallel(latch: latch, number: number))
    }
    for latch in latches { await latch.arrival() }
    #expect(ledger.numbers == [0, 1, 2])
    #expect(relay.counts.running == 3)
    // A synchronous one does not wait for them either.
    #expect(relay.write(3).outcome == .delivered)
    for latch in latches.reversed() { latch.open() }
    await relay.waitUntilIdle()
    #expect(relay.counts.running == 0)
    #expect(relay.counts.delivered == 4)
  }

  @Test func aConcurrentCommandStillWaitsForAnExclusiveOne() async {
    let (exclusive, parallel) = (Latch(), Latch())
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { _ async in await exclusive.wait() }
    relay.dispatch(Parallel(latch: parallel, number: 1))
    await exclusive.arrival()
    await mainTurn()
    #expect(ledger.numbers == [])
    exclusive.open()
    await parallel.arrival()
    parallel.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aTypesLimitsAreItsOwn() throws {
    let policy = try CommandPolicy(
      validating: .critical, timeToLive: .seconds(3), limit: 4, overflow: .dropNewest,
      retry: .later(.constant(.seconds(5))), executionLimit: .seconds(6), lane: .concurrent)
    #expect(policy.priority == .critical)
    #expect(policy.timeToLive == .seconds(3))
    #expect(policy.limit == 4)
    #expect(policy.overflow == .dropNewest)
    #expect(policy.retry == .later(.constant(.seconds(5))))
    #expect(policy.executionLimit == .seconds(6))
    #expect(policy.lane == .concurrent)
    #expect(CommandPolicy() == .standard)
  }
}
