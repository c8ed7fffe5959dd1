// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private struct WriteOneNumber: RelayCommand {
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

/// In which order commands reach their handler, wherever they come from.
@MainActor
struct OrderTests {
  let relay = Relay(scope: "order")
  let ledger = Ledger()

  @Test func aCallerOnMainNeverOvertakesAnEarlierOneFromElsewhere() {
    relay.register(ledger, for: LedgerFeature.self)
    for run in 0..<1_000 {
      relay.writeElsewhere(2 * run)
      let acceptance = relay.write(2 * run + 1)
      #expect(acceptance.outcome == .delivered)
    }
    #expect(ledger.numbers == Array(0..<2_000))
  }

  @Test func oneProducersTasksOfDifferentPrioritiesKeepTheirOrder() async {
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    await Task.detached {
      for number in 0..<1_000 {
        let priority: TaskPriority = number.isMultiple(of: 2) ? .background : .high
        await Task.detached(priority: priority) { _ = relay.write(number) }.value
      }
    }.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<1_000))
  }

  @Test func eightProducersWithFiveHundredCommandsEachKeepTheOrderOfAcceptance() async throws {
    let relay = Relay(scope: "producers")
    relay.register(ledger, for: LedgerFeature.self)
    let recorder = RelayRecorder(relay)
    await withTaskGroup(of: Void.self) { group in
      for producer in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            relay.dispatch(WriteOneNumber(number: producer * 1_000 + number))
          }
        }
      }
    }
    await relay.waitUntilIdle()
    #expect(ledger.numbers.count == 4_000)
    #expect(Set(ledger.numbers).count == 4_000)
    for producer in 0..<8 {
      let own = ledger.numbers.filter { $0 / 1_000 == producer }
      #expect(own == (0..<500).map { producer * 1_000 + $0 })
    }
    #expect(relay.counts.delivered == 4_000)
    #expect(relay.counts.isBalanced)
    #expect(recorder.commands(of: WriteOneNumber.self).map(\.number) == ledger.numbers)
  }

  @Test func whatAHandlerSendsToItsOwnFeatureComesAfterWhatWaits() {
    let (a, b, c) = (1, 2, 3)
    var log: [String] = []
    ledger.onWrite = { [relay] number in
      log.append("\(number) starts")
      if number == a {
        relay.writeElsewhere(c)
        #expect(relay.write(b).outcome == .waiting)
      }
      log.append("\(number) ends")
    }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(a)
    #expect(log == ["1 starts", "1 ends", "3 starts", "3 ends", "2 starts", "2 ends"])
  }

  @Test func aChainOfTenThousandCommandsUsesOneStackFrame() {
    var deepest = UInt.max
    ledger.onWrite = { [relay] number in
      deepest = min(deepest, stackAddress())
      if number < 10_000 { relay.write(number + 1) }
    }
    relay.register(ledger, for: LedgerFeature.self)
    let start = stackAddress()
    relay.write(1)
    #expect(ledger.numbers == Array(1...10_000))
    #expect(start - deepest < 64 * 1_024)
  }

  @Test func whatAHandlerSendsToAnotherFeatureIsDeliveredAtOnce() {
    let mirror = Mirror()
    relay.register(mirror, for: MirrorFeature.self)
    ledger.onWrite = { [relay] number in
      #expect(relay.show(number).outcome == .delivered)
      #expect(mirror.numbers.last == number)
    }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    relay.write(2)
    #expect(mirror.numbers == [1, 2])
  }

  @Test func aHandlerMayFloodItsOwnFeatureBeyondTheLimit() throws {
    let relay = Relay(scope: "flood", configuration: try RelayConfiguration(limit: 3))
    ledger.onWrite = { number in
      guard number == 0 else { return }
      for next in 1...500 { #expect(relay.write(next).isAccepted) }
    }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(0)
    #expect(ledger.numbers == Array(0...500))
    #expect(relay.counts.dropped == 0)
  }

  @Test func aBurstWhileMainIsBusyIsDeliveredWhole() async {
    relay.register(ledger, for: LedgerFeature.self)
    let relay = relay
    onAnotherThread { for number in 1...3 { relay.write(number) } }
    #expect(ledger.numbers == [])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
  }

  @Test func withoutAHandlerCommandsWaitAndAreDeliveredOnce() async {
    relay.write(1)
    relay.write(2)
    #expect(relay.pendingCount(LedgerFeature.self) == 2)
    relay.register(ledger, for: LedgerFeature.self)
    #expect(ledger.numbers == [])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
    #expect(relay.pendingCount == 0)
  }

  @Test func aNewCommandDoesNotOvertakeTheBacklogDuringReplay() async {
    for number in 1...3 { relay.write(number) }
    ledger.onWrite = { [relay] number in if number == 1 { relay.write(4) } }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3, 4])
  }

  @Test func aMoreUrgentCommandGoesNextDuringReplayWithoutInterrupting() async {
    for number in 1...3 { relay.write(number) }
    var finished: [Int] = []
    ledger.onWrite = { [relay] number in
      if number == 1 { relay.write(4, priority: .high) }
      finished.append(number)
    }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 4, 2, 3])
    #expect(finished == [1, 4, 2, 3])
  }

  @Test func aDispatchOnMainDeliversTheBacklogFirstAndReturnsWhenAllIsDone() {
    for number in 1...3 { relay.write(number) }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(4).outcome == .delivered)
    #expect(ledger.numbers == [1, 2, 3, 4])
  }

  @Test func prioritiesOrderWhatWaitsAndKeepTheOrderAmongEquals() async {
    relay.write(1, priority: .low)
    relay.write(2)
    relay.write(3, priority: .critical)
    relay.write(4, priority: .high)
    relay.write(5)
    relay.write(6, priority: .critical)
    relay.write(7, priority: .low)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [3, 6, 4, 2, 5, 1, 7])
  }

  @Test func aCommandThatThrowsBlocksNothingBehindIt() async {
    var failures = 0
    ledger.onWrite = { number in if number == 1 { failures += 1; throw Refusal() } }
    for number in 1...3 { relay.write(number) }
    relay.register(ledger, for: LedgerFeature.self)
    await mainTurn()
    #expect(ledger.numbers == [1, 2, 3])
    #expect(failures == 1)
    #expect(relay.counts.dropped(.failed) == 1)
    #expect(relay.counts.delivered == 2)
    #expect(relay.snapshot().problems.count == 1)
  }

  @Test func aReplacedHandlerKeepsWhatItGotAndTheNewOneGetsTheRest() {
    let (first, second) = (Ledger(), Ledger())
    relay.register(first, for: LedgerFeature.self)
    relay.write(1)
    relay.register(second, for: LedgerFeature.self)
    relay.write(2)
    #expect(first.numbers == [1])
    #expect(second.numbers == [2])
  }

  @Test func anAsynchronousCommandInTheBacklogEndsInlineDelivery() async {
    relay.write(1)
    relay.dispatch(LedgerFeature.self) { ledger async throws in try ledger.write(2) }
    relay.write(3)
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(4).outcome == .waiting)
    #expect(ledger.numbers == [1])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3, 4])
  }

  @Test func afterManyIntermixedFailuresAndPrioritiesOrderHolds() async {
    var generator = SeededGenerator(seed: SeededGenerator.freshSeed())
    var expected: [CommandPriority: [Int]] = [:]
    for number in 0..<90 {
      let priority = CommandPriority.allCases.randomElement(using: &generator)!
      expected[priority, default: []].append(number)
      relay.write(number, priority: priority)
    }
    ledger.onWrite = { if $0.isMultiple(of: 3) { throw Refusal() } }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    let order = CommandPriority.allCases.reversed().flatMap { expected[$0] ?? [] }
    #expect(ledger.numbers == order, "seed \(generator.seed)")
  }
}

/// Roughly where the stack ends at the moment; it grows downwards.
@inline(never)
func stackAddress() -> UInt {
  withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { UInt(bitPattern: $0.baseAddress!) }
}
