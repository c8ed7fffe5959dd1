// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private final class SelfCancelling: LedgerFeature {
  private let registration = Latched<Registration?>(nil)
  private let onDeinit: @Sendable () -> Void

  init(in relay: Relay, onDeinit: @escaping @Sendable () -> Void = {}) {
    self.onDeinit = onDeinit
    registration.update { $0 = nil }
    let mine = relay.register(self, for: LedgerFeature.self)
    registration.update { $0 = mine }
  }

  func write(_ number: Int) {}

  deinit {
    registration.value?.cancel()
    onDeinit()
  }
}

/// How registrations come, go and are replaced.
@MainActor
struct LifecycleTests {
  let relay = Relay(scope: "lifecycle")

  private var registrationCount: Int {
    relay.snapshot().features.reduce(0) { $0 + $1.registrations.count }
  }

  @Test func cancellingAnOldRegistrationLeavesTheNewOneActive() {
    let (first, second) = (Ledger(), Ledger())
    let older = relay.register(first, for: LedgerFeature.self)
    relay.register(second, for: LedgerFeature.self)
    older.cancel()
    relay.write(1)
    older.cancel()
    relay.write(2)
    #expect(first.numbers == [])
    #expect(second.numbers == [1, 2])
    #expect(relay.pendingCount == 0)
  }

  @Test func aHandlerMayCancelItsRegistrationInItsDeinit() {
    let deaths = ReleaseTally()
    var handler: SelfCancelling? = SelfCancelling(in: relay) { deaths.add(1) }
    #expect(relay.isRegistered(LedgerFeature.self))
    handler = nil
    #expect(handler == nil && deaths.count == 1)
    #expect(registrationCount == 0)
  }

  @Test func aDyingHandlerDoesNotTakeItsSuccessorAlong() {
    var old: SelfCancelling? = SelfCancelling(in: relay)
    let next = Ledger()
    relay.register(next, for: LedgerFeature.self)
    old = nil
    #expect(old == nil)
    relay.write(1)
    #expect(next.numbers == [1])
    #expect(registrationCount == 1)
  }

  @Test func aHandlerThatNobodyOwnsIsNamedAndItsCommandsWait() {
    relay.register(Ledger(), for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .waiting)
    #expect(!relay.isRegistered(LedgerFeature.self))
    #expect(relay.pendingCount(LedgerFeature.self) == 1)
    let problems = relay.snapshot().problems
    #expect(problems.count == 1)
    #expect(problems.first?.contains("LedgerFeature") == true)
    #expect(problems.first?.contains("died before it received anything") == true)
    relay.write(2)
    #expect(relay.snapshot().problems.count == 1)
  }

  @Test func aHandlerThatWasUsedDiesWithoutComplaint() {
    var ledger: Ledger? = Ledger()
    relay.register(ledger!, for: LedgerFeature.self)
    relay.write(1)
    ledger = nil
    #expect(relay.write(2).outcome == .waiting)
    #expect(relay.snapshot().problems.isEmpty && ledger == nil)
  }

  @Test func aForgottenUnregisterKeepsNothingAlive() {
    var ledger: Ledger? = Ledger()
    weak let reference = ledger
    relay.register(ledger!, for: LedgerFeature.self)
    relay.gate.close(for: "test")
    for number in 1...3 { relay.write(number, tags: ["screen"]) }
    ledger = nil
    #expect(reference == nil)
    relay.gate.open(for: "test")
    relay.write(4)
    #expect(relay.pendingCount == 4)
  }

  @Test func theSameObjectRegisteredThriceIsOneHandler() {
    let ledger = Ledger()
    let tokens = (0..<3).map { _ in relay.register(ledger, for: LedgerFeature.self) }
    relay.write(1)
    #expect(ledger.numbers == [1])
    #expect(registrationCount == 1)
    tokens[0].cancel()
    tokens[1].cancel()
    #expect(relay.isRegistered(LedgerFeature.self))
    tokens[2].cancel()
    #expect(!relay.isRegistered(LedgerFeature.self))
  }

  @Test func theSameObjectRegisteredAgainComesToTheTop() {
    let (first, second) = (Ledger(), Ledger())
    relay.register(first, for: LedgerFeature.self)
    let upper = relay.register(second, for: LedgerFeature.self)
    relay.register(first, for: LedgerFeature.self)
    relay.write(1)
    #expect(first.numbers == [1])
    upper.cancel()
    relay.write(2)
    #expect(first.numbers == [1, 2])
    #expect(second.numbers == [])
  }

  @Test func aHandledCommandIsNotRepeatedWhenTheHandlerReturns() async {
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    for _ in 0..<5 {
      relay.unregister(ledger, for: LedgerFeature.self)
      relay.register(ledger, for: LedgerFeature.self)
      await relay.waitUntilIdle()
    }
    #expect(ledger.numbers == [1])
  }

  @Test func aDeepLinkOfAColdStartArrivesOnceAndInOrder() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "cold", configuration: try RelayConfiguration(clock: clock.relayClock))
    relay.write(1)
    relay.writeElsewhere(2)
    relay.write(3)
    clock.advance(by: .milliseconds(2_500))
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
  }

  @Test func oneLaunchReportedTwiceIsHandledOnce() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "push", configuration: try RelayConfiguration(clock: clock.relayClock))
    relay.write(7, unique: .keepFirst("n1"))
    let second = relay.write(7, unique: .keepFirst("n1"))
    relay.write(7, unique: .keepFirst("n2"))
    guard case .refused(.duplicate) = second.outcome else {
      Issue.record("not refused: \(second.outcome)")
      return
    }
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [7, 7])
    clock.advance(by: .seconds(59))
    relay.write(7, unique: .keepFirst("n1"))
    #expect(ledger.numbers == [7, 7])
    clock.advance(by: .seconds(1))
    relay.write(7, unique: .keepFirst("n1"))
    #expect(ledger.numbers == [7, 7, 7])
  }

  @Test func behindAClosedGateARegisteredHandlerGetsNothing() async {
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    relay.gate.close(for: "login")
    relay.write(1)
    relay.writeElsewhere(2)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(relay.pendingCount == 2)
    relay.gate.open(for: "login")
    #expect(ledger.numbers == [])
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func theHandlerAtTheTimeOfOpeningGetsWhatWaited() async {
    let (splash, home) = (Ledger(), Ledger())
    relay.register(splash, for: LedgerFeature.self)
    relay.gate.close(for: "login")
    relay.write(1)
    relay.write(2)
    relay.register(home, for: LedgerFeature.self)
    relay.gate.open(for: "login")
    await relay.waitUntilIdle()
    #expect(splash.numbers == [])
    #expect(home.numbers == [1, 2])
  }

  @Test func modulesShareNothing() async {
    let (ride, food) = (Relay(scope: "ride"), Relay(scope: "food"))
    let (rider, courier) = (Ledger(), Ledger())
    ride.register(rider, for: LedgerFeature.self)
    food.register(courier, for: LedgerFeature.self)
    ride.write(1)
    #expect(rider.numbers == [1])
    #expect(courier.numbers == [])
    ride.gate.close(for: "test")
    food.write(2)
    ride.close()
    food.write(3)
    #expect(courier.numbers == [2, 3])
  }

  @Test func closingOneWindowsRelayChangesNothingInTheOther() async {
    let (first, second) = (Relay(scope: "window 1"), Relay(scope: "window 2"))
    let handler = Ledger()
    first.register(handler, for: LedgerFeature.self)
    second.write(1)
    first.write(2)
    second.close()
    await first.waitUntilIdle()
    #expect(handler.numbers == [2])
    #expect(second.pendingCount == 0)
    first.write(3)
    #expect(handler.numbers == [2, 3])
  }

  @Test func aRelayMadeAgainUnderTheSameNameStartsEmpty() {
    var old: Relay? = Relay(scope: "checkout")
    old?.write(1)
    old?.write(2)
    weak let reference = old
    old = nil
    #expect(reference == nil)
    #expect(Relay(scope: "checkout").pendingCount == 0)
  }

  @Test func whatWasIdleBeforeAResetIsDelivered() async {
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    relay.writeElsewhere(1)
    relay.writeElsewhere(2)
    await relay.waitUntilIdle()
    relay.reset()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func afterAResetNothingFromBeforeIsDelivered() async {
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    relay.writeElsewhere(1)
    relay.writeElsewhere(2)
    relay.reset()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(relay.pendingCount == 0)
    #expect(relay.counts.dropped(.reset) == 2)
    #expect(relay.counts.isBalanced)
  }

  @Test func oneUsersCommandsDoNotReachTheNext() async {
    for number in 1...3 { relay.write(number, tags: [.user("a")]) }
    relay.write(4)
    #expect(relay.cancel(tagged: .user("a")) == 3)
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [4])
    #expect(relay.counts.dropped(.cancelled) == 3)
  }

  @Test func aConcreteHandlerServesItsProtocol() {
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .delivered)
  }

  @Test func aHandlerUnderAnotherTypeIsNamedOnce() {
    let ledger = Ledger()
    relay.register(ledger, for: Ledger.self)
    relay.write(1)
    relay.write(2)
    let problems = relay.snapshot().problems
    #expect(problems.count == 1)
    #expect(problems.first?.contains("Ledger conforms: it is registered for Ledger") == true)
    #expect(relay.pendingCount(LedgerFeature.self) == 2)
  }

  @Test func aHandlerOfAParentUnderAnotherTypeIsNamedToo() {
    let child = Relay(scope: "child", parent: relay)
    let ledger = Ledger()
    relay.register(ledger, for: Ledger.self)
    child.write(1)
    #expect(child.snapshot().problems.count == 1)
  }

  @Test func screensThatReplaceEachOtherLeaveNothingBehind() {
    var current = Ledger()
    // Objects that take the place of dead ones, so that no address comes twice.
    var fillers: [Ledger] = []
    relay.register(current, for: LedgerFeature.self)
    for number in 0..<1_000 {
      let next = Ledger()
      relay.register(next, for: LedgerFeature.self)
      current = next
      relay.write(number)
      fillers.append(Ledger())
    }
    #expect(current.numbers == [999])
    #expect(fillers.count == 1_000)
    #expect(registrationCount < 20)
  }

  @Test func handlersThatDieUncalledLeaveNothingBehind() {
    for _ in 0..<1_000 { relay.register(Ledger(), for: LedgerFeature.self) }
    #expect(registrationCount < 20)
    #expect(relay.snapshot().problems.count <= 32)
  }

  @Test func sweepingDeadHandlersLeavesLiveOnesInTheirOrder() {
    let live = (0..<20).map { _ in Ledger() }
    for ledger in live {
      relay.register(ledger, for: LedgerFeature.self)
      for _ in 0..<5 { relay.register(Ledger(), for: LedgerFeature.self) }
    }
    for ledger in live.reversed() {
      relay.write(1)
      #expect(ledger.numbers == [1])
      relay.unregister(ledger, for: LedgerFeature.self)
    }
    #expect(!relay.isRegistered(LedgerFeature.self))
  }
}
