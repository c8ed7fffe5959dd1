// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// Relays that serve what their children have no handler for.
@MainActor
struct ParentTests {
  let parent = Relay(scope: "parent")
  let child: Relay
  let ledger = Ledger()

  init() {
    child = Relay(scope: "child", parent: parent)
  }

  @Test func whatAChildDoesNotHandleItsParentDoes() {
    parent.register(ledger, for: LedgerFeature.self)
    #expect(child.write(1).outcome == .delivered)
    #expect(ledger.numbers == [1])
    #expect(child.counts.delivered == 1)
    #expect(parent.counts.offered == 0)
  }

  @Test func theNearestLiveHandlerIsLookedUpAtDelivery() async {
    let grandchild = Relay(scope: "grandchild", parent: child)
    let (own, middle) = (Ledger(), Ledger())
    parent.register(ledger, for: LedgerFeature.self)
    grandchild.write(1)
    let token = child.register(middle, for: LedgerFeature.self)
    grandchild.write(2)
    var brief: Ledger? = own
    grandchild.register(brief!, for: LedgerFeature.self)
    grandchild.write(3)
    brief = nil
    token.cancel()
    grandchild.unregister(LedgerFeature.self)
    grandchild.write(4)
    #expect(ledger.numbers == [1, 4])
    #expect(middle.numbers == [2])
    #expect(own.numbers == [3] && brief == nil)
  }

  @Test func withoutAnyHandlerACommandWaitsWhereItWasDispatched() async {
    child.write(1)
    #expect(child.pendingCount == 1 && parent.pendingCount == 0)
    parent.register(ledger, for: LedgerFeature.self)
    #expect(ledger.numbers == [])
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(child.pendingCount == 0)
  }

  @Test func aHandlerThatAppearsInTheChildGoesFirst() async {
    let own = Ledger()
    child.write(1)
    child.register(own, for: LedgerFeature.self)
    parent.register(ledger, for: LedgerFeature.self)
    await child.waitUntilIdle()
    #expect(own.numbers == [1] && ledger.numbers == [])
  }

  @Test func whenTheChildsHandlerDiesTheParentsServesTheBacklog() async {
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    var own: Ledger? = Ledger()
    child.register(own!, for: LedgerFeature.self)
    child.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    child.write(1)
    own = nil
    latch.open()
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1] && own == nil)
  }

  @Test func whenTheChildsHandlerIsCancelledTheParentsServesTheBacklog() async {
    parent.register(ledger, for: LedgerFeature.self)
    let own = Ledger()
    let token = child.register(own, for: LedgerFeature.self)
    child.writeElsewhere(1)
    token.cancel()
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1] && own.numbers == [])
  }

  @Test func whenTheParentsNewestIsCancelledTheOneBelowServesTheChild() async {
    let top = Ledger()
    parent.register(ledger, for: LedgerFeature.self)
    let token = parent.register(top, for: LedgerFeature.self)
    child.writeElsewhere(1)
    token.cancel()
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1] && top.numbers == [])
  }

  @Test func aParentThatComesToAFeatureLaterServesItsGrandchildren() async {
    let grandchild = Relay(scope: "grandchild", parent: child)
    grandchild.writeElsewhere(1)
    await grandchild.waitUntilIdle()
    parent.register(ledger, for: LedgerFeature.self)
    await grandchild.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aChildsCommandTakesTheOwnersLane() async {
    let latch = Latch()
    let parent = parent
    parent.register(ledger, for: LedgerFeature.self)
    child.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    #expect(parent.write(2).outcome == .waiting)
    #expect(child.write(3).outcome == .waiting)
    latch.open()
    await parent.waitUntilIdle()
    await child.waitUntilIdle()
    #expect(ledger.numbers.first == 1)
    #expect(ledger.numbers.sorted() == [1, 2, 3])
  }

  @Test func aChildsCommandWaitsForTheOwnersLane() async {
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    parent.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }
    await latch.arrival()
    #expect(child.write(2).outcome == .waiting)
    child.writeElsewhere(3)
    let other = Relay(scope: "other", parent: parent)
    other.write(4)
    await mainTurn()
    #expect(ledger.numbers == [])
    latch.open()
    await child.waitUntilIdle()
    await other.waitUntilIdle()
    #expect(ledger.numbers.first == 1)
    #expect(ledger.numbers.filter { $0 == 2 || $0 == 3 } == [2, 3])
    #expect(ledger.numbers.sorted() == [1, 2, 3, 4])
  }

  @Test func aChildWithAHandlerOfItsOwnIsFreeOfTheParentsLane() async {
    let latch = Latch()
    let own = Ledger()
    parent.register(ledger, for: LedgerFeature.self)
    child.register(own, for: LedgerFeature.self)
    parent.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    #expect(child.write(1).outcome == .delivered)
    latch.open()
    await parent.waitUntilIdle()
  }

  @Test func aChildWaitingForALaneIsServedByItsOwnNewHandler() async {
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    parent.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    child.write(1)
    let own = Ledger()
    child.register(own, for: LedgerFeature.self)
    await mainTurn()
    await mainTurn()
    #expect(own.numbers == [1])
    latch.open()
    await parent.waitUntilIdle()
  }

  @Test func aTimeoutOfAChildsCommandFreesBothLanes() async throws {
    let clock = ManualClock()
    let child = Relay(
      scope: "timed", parent: parent, configuration: try RelayConfiguration(clock: clock.relayClock)
    )
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    child.dispatch(LedgerFeature.self, executionLimit: .seconds(1)) { _ async in
      await latch.wait()
    }
    await latch.arrival()
    parent.write(1)
    child.write(2)
    clock.advance(by: .seconds(1))
    await child.waitUntilIdle()
    await parent.waitUntilIdle()
    #expect(ledger.numbers.sorted() == [1, 2])
    #expect(child.counts.dropped(.timedOut) == 1)
    latch.open()
  }

  @Test func aResetOfAChildFreesTheOwnersLane() async {
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    child.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    parent.write(1)
    child.reset()
    await parent.waitUntilIdle()
    #expect(ledger.numbers == [1])
    latch.open()
  }

  @Test func aChildThatGoesFreesTheOwnersLane() async {
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    var brief: Relay? = Relay(scope: "brief", parent: parent)
    brief!.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    parent.write(1)
    brief = nil
    await mainTurn()
    await parent.waitUntilIdle()
    #expect(ledger.numbers == [1] && brief == nil)
    latch.open()
  }

  @Test func aResetOfTheParentLeavesTheChildsCommandAlone() async {
    let latch = Latch()
    parent.register(ledger, for: LedgerFeature.self)
    let id = child.dispatch(LedgerFeature.self) { ledger async throws in
      await latch.wait()
      try ledger.write(1)
    }.id!
    await latch.arrival()
    parent.reset()
    latch.open()
    await child.waitUntilIdle()
    #expect(child.status(of: id) == .delivered)
    parent.register(ledger, for: LedgerFeature.self)
    #expect(parent.write(2).outcome == .delivered)
    #expect(child.write(3).outcome == .delivered)
  }

  @Test func aClosedParentServesNobody() async {
    parent.register(ledger, for: LedgerFeature.self)
    parent.close()
    #expect(child.write(1).outcome == .waiting)
    let own = Ledger()
    child.register(own, for: LedgerFeature.self)
    await child.waitUntilIdle()
    #expect(own.numbers == [1])
  }

  @Test func aHandlerThatDispatchesBackToTheChildRunsItAfterItself() {
    let child = child
    var log: [String] = []
    ledger.onWrite = { number in
      log.append("\(number) starts")
      if number == 1 { child.write(2) }
      log.append("\(number) ends")
    }
    parent.register(ledger, for: LedgerFeature.self)
    child.write(1)
    #expect(log == ["1 starts", "1 ends", "2 starts", "2 ends"])
  }

  @Test func aHandlerThatDispatchesToTheOwnerRunsItAfterItself() {
    let parent = parent
    var log: [String] = []
    ledger.onWrite = { number in
      log.append("\(number) starts")
      if number == 1 { parent.write(2) }
      log.append("\(number) ends")
    }
    parent.register(ledger, for: LedgerFeature.self)
    child.write(1)
    #expect(log == ["1 starts", "1 ends", "2 starts", "2 ends"])
  }

  @Test func aDirectDeliveryInTheParentHoldsTheChildBack() {
    let child = child
    var log: [String] = []
    ledger.onWrite = { number in
      log.append("\(number) starts")
      if number == 1 { #expect(child.write(2).outcome == .waiting) }
      log.append("\(number) ends")
    }
    parent.register(ledger, for: LedgerFeature.self)
    parent.write(1)
    #expect(log == ["1 starts", "1 ends", "2 starts", "2 ends"])
  }

  /// Lets each command dispatch the next one, to each of the relays in turn.
  private func chain(_ relays: [Relay]) async {
    var deepest = UInt.max
    var most = 0
    var now = 0
    ledger.onWrite = { number in
      deepest = min(deepest, stackAddress())
      now += 1
      most = max(most, now)
      if number < 10_000 { relays[number % relays.count].write(number + 1) }
      now -= 1
    }
    parent.register(ledger, for: LedgerFeature.self)
    let start = stackAddress()
    relays[0].write(1)
    for relay in relays { await relay.waitUntilIdle() }
    #expect(ledger.numbers == Array(1...10_000))
    #expect(most == 1)
    #expect(start - min(start, deepest) < 64 * 1_024)
  }

  @Test func aChainOfTenThousandFromAChildToItselfUsesOneFrame() async {
    await chain([child])
  }

  @Test func aChainOfTenThousandBetweenChildAndParentUsesOneFrame() async {
    await chain([child, parent])
  }

  @Test func aChainOfTenThousandBetweenTwoChildrenUsesOneFrame() async {
    await chain([child, Relay(scope: "second", parent: parent)])
  }

  @Test func aChainOfTenThousandBetweenThreeGenerationsUsesOneFrame() async {
    let grandchild = Relay(scope: "grandchild", parent: child)
    await chain([grandchild, child, parent, Relay(scope: "second", parent: parent)])
  }

  @Test func aHundredChildrenShareOneHandlerWithoutLoss() async {
    let parent = parent
    let children = (0..<100).map { Relay(scope: "child \($0)", parent: parent) }
    parent.register(ledger, for: LedgerFeature.self)
    await withTaskGroup(of: Void.self) { group in
      for (place, child) in children.enumerated() {
        group.addTask { for number in 0..<20 { child.write(place * 100 + number) } }
      }
      group.addTask { for number in 0..<20 { parent.write(1_000_000 + number) } }
    }
    for child in children { await child.waitUntilIdle() }
    await parent.waitUntilIdle()
    #expect(ledger.numbers.count == 2_020)
    for place in 0..<100 {
      let own = ledger.numbers.filter { $0 / 100 == place }
      #expect(own == (0..<20).map { place * 100 + $0 })
    }
  }

  @Test func retriesOfAChildsCommandFindTheParentsHandlerAgain() async throws {
    struct Again: RelayCommand {
      static let policy = CommandPolicy(retry: .inPlace(.constant(.seconds(1))))
      func execute(on ledger: any LedgerFeature) throws { try ledger.write(1) }
    }
    let clock = ManualClock()
    let child = Relay(
      scope: "retry", parent: parent, configuration: try RelayConfiguration(clock: clock.relayClock)
    )
    var fails = true
    ledger.onWrite = { number in if number == 1, fails { fails = false; throw Refusal() } }
    parent.register(ledger, for: LedgerFeature.self)
    child.dispatch(Again())
    child.write(2)
    #expect(parent.write(3).outcome == .delivered)
    clock.advance(by: .seconds(1))
    await child.waitUntilIdle()
    #expect(ledger.numbers == [1, 3, 1, 2])
  }
}
