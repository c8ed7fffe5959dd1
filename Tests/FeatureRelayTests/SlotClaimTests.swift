// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Synchronization
import Testing

/// What a drain claims is as if it had not been claimed: whatever happens between two commands,
/// here or on another thread, finds everything as it is.
@MainActor
@Suite
struct SlotClaimTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "claim",
      configuration: try RelayConfiguration(
        limit: 1_000, replay: .immediate, clock: clock.relayClock))
  }

  /// Lets a backlog of 200 commands be delivered and does something within the 100th.
  private func deliver(
    tags: (Int) -> [CommandTag] = { _ in [] }, during action: @escaping @MainActor () -> Void
  ) {
    for number in 0..<200 { relay.write(number, tags: tags(number)) }
    ledger.onWrite = { number in if number == 99 { action() } }
    relay.register(ledger, for: LedgerFeature.self)
  }

  @Test func countsAreExactWithinEachCommand() {
    for number in 0..<200 { relay.write(number) }
    var wrong: [Int] = []
    ledger.onWrite = { [relay] number in
      // Not in each: the first look ends a claim.
      guard number % 7 == 3 else { return }
      let counts = relay.counts
      if counts.delivered != number || counts.running != 1 || counts.waiting != 199 - number
        || !counts.isBalanced
      {
        wrong.append(number)
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(wrong == [])
    #expect(ledger.numbers == Array(0..<200))
    #expect(relay.counts.delivered == 200)
  }

  @Test func anotherThreadSeesBalancedCountsWithinEachCommand() {
    for number in 0..<200 { relay.write(number) }
    var wrong: [Int] = []
    ledger.onWrite = { [relay] number in
      guard number % 29 == 17 else { return }
      let seen = Mutex(RelayCounts())
      onAnotherThread { seen.withLock { $0 = relay.counts } }
      let counts = seen.withLock { $0 }
      if counts.delivered != number || counts.running != 1 || !counts.isBalanced {
        wrong.append(number)
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(wrong == [])
    #expect(ledger.numbers == Array(0..<200))
  }

  @Test func statusesAreExactWithinACommand() {
    var ids: [CommandID] = []
    for number in 0..<200 { ids.append(relay.write(number).id!) }
    var seen: [CommandStatus?] = []
    ledger.onWrite = { [relay] number in
      if number == 99 { seen = (98...100).map { relay.status(of: ids[$0]) } }
    }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(seen == [.delivered, .running, .waiting])
  }

  @Test func whatIsCancelledWithinACommandDoesNotRun() {
    let tag = CommandTag()
    var count = 0
    deliver(tags: { $0 > 120 ? [tag] : [] }) { count = relay.cancel(tagged: tag) }
    #expect(count == 79)
    #expect(ledger.numbers == Array(0...120))
  }

  @Test func whatIsCancelledByATagThatRunsAsWellDoesNotRun() {
    let tag = CommandTag()
    var count = 0
    deliver(tags: { _ in [tag] }) { count = relay.cancel(tagged: tag, includingRunning: true) }
    #expect(count == 100)
    #expect(ledger.numbers == Array(0...99))
    #expect(relay.counts.dropped(.cancelled) == 100 && relay.counts.isBalanced)
  }

  @Test func whatAnotherThreadClearsWithinACommandDoesNotRun() {
    let count = Tally()
    deliver { [relay] in
      onAnotherThread { count.add(relay.clearQueue(LedgerFeature.self)) }
    }
    #expect(count.current == 100)
    #expect(ledger.numbers == Array(0...99))
    #expect(relay.counts.dropped(.cleared) == 100)
  }

  @Test func aGateThatClosesWithinACommandHoldsTheNextOne() {
    deliver { relay.gate(for: LedgerFeature.self).close(for: "test") }
    #expect(ledger.numbers == Array(0...99))
    relay.gate(for: LedgerFeature.self).open(for: "test")
    #expect(ledger.numbers == Array(0..<200))
  }

  @Test func aNewerHandlerGetsTheNextCommand() {
    let other = Ledger()
    deliver { relay.register(other, for: LedgerFeature.self) }
    #expect(ledger.numbers == Array(0...99))
    #expect(other.numbers == Array(100..<200))
  }

  @Test func aHigherPriorityGoesFirstAndALowerOneLast() {
    deliver {
      relay.write(-1, priority: .low)
      relay.write(-2)
      relay.write(-3, priority: .high)
    }
    #expect(ledger.numbers == Array(0...99) + [-3] + Array(100..<200) + [-2, -1])
  }

  @Test func whatBecomesTooOldWithinACommandDoesNotRun() {
    deliver { clock.advance(by: .seconds(300)) }
    #expect(ledger.numbers == Array(0...99))
    #expect(relay.counts.dropped(.expired) == 100)
  }

  @Test func aNewcomersOwnTimeToLiveCountsFromThenOn() {
    deliver {
      relay.write(-1, timeToLive: .limited(.seconds(1)))
      ledger.onWrite = { [clock] number in if number == 150 { clock.advance(by: .seconds(1)) } }
    }
    #expect(ledger.numbers == Array(0..<200))
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func aHandlerThatLosesItsLastReferenceGetsNoFurtherCommand() {
    // What a caller passes lives as long as the call: nothing is delivered within `register`.
    relay.gate.close(for: "test")
    for number in 0..<200 { relay.write(number) }
    final class Box { var ledger: Ledger? }
    let box = Box()
    let numbers = Tally()
    box.ledger = Ledger { number in
      numbers.add()
      if number == 99 { box.ledger = nil }
    }
    relay.register(box.ledger!, for: LedgerFeature.self)
    relay.gate.open(for: "test")
    #expect(numbers.current == 100)
    #expect(relay.pendingCount(LedgerFeature.self) == 100)
  }

  @Test func aFailureAmongManyIsTheOneCommands() {
    for number in 0..<200 { relay.write(number) }
    ledger.onWrite = { number in if number % 50 == 49 { throw Refusal() } }
    relay.register(ledger, for: LedgerFeature.self)
    #expect(ledger.numbers == Array(0..<200))
    #expect(relay.counts.delivered == 196 && relay.counts.dropped(.failed) == 4)
    #expect(relay.counts.isBalanced)
  }

  @Test func resetWithinACommandLetsItFinishAndEndsTheRest() {
    deliver { relay.reset() }
    #expect(ledger.numbers == Array(0...99))
    #expect(relay.counts.delivered == 100 && relay.counts.dropped(.reset) == 100)
  }

  @Test func threadsThatCancelWhileABacklogIsDeliveredAndItsEndAgree() {
    for round in 0..<raceRounds(200) {
      let relay = Relay(scope: "claim")
      let ledger = Ledger()
      let tag = CommandTag()
      let numbers = 90
      for number in 0..<numbers { relay.write(number, tags: number > 80 ? [tag] : []) }
      let imbalances = Tally()
      let cancelled = Tally()
      let latch = ThreadLatch()
      ledger.onWrite = { number in
        guard number == 3 else { return }
        startThread {
          spin(round * 7)
          if !relay.counts.isBalanced { imbalances.add() }
          cancelled.add(relay.cancel(tagged: tag))
          cancelled.add(relay.clearQueue(LedgerFeature.self))
          latch.open()
        }
      }
      relay.register(ledger, for: LedgerFeature.self)
      relay.write(numbers)
      latch.wait("the other thread")
      #expect(imbalances.current == 0)
      let accepted = relay.counts.accepted
      #expect(ledger.numbers.count + cancelled.current == Int(accepted))
      #expect(ledger.numbers == ledger.numbers.sorted())
    }
  }
}
