// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// Two clocks that may tell different times.
private final class TwoClocks: Sendable {
  let exact = ManualClock()
  private let cheap = Latched<Duration>(.zero)

  var relayClock: RelayClock {
    RelayClock(
      now: { self.exact.now }, coarse: { self.cheap.value },
      schedule: { self.exact.schedule(at: $0, $1) })
  }

  func moveCoarse(by duration: Duration) { cheap.update { $0 += duration } }
}

/// How long commands live, by which clock.
@MainActor
struct ClockTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "clock",
      configuration: try RelayConfiguration(timeToLive: .seconds(60), clock: clock.relayClock))
  }

  @Test func atItsTimeToLiveACommandHasExpired() async {
    relay.write(1)
    clock.advance(by: .seconds(60))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func justBeforeItsTimeToLiveACommandIsDelivered() async {
    relay.write(1)
    clock.advance(by: .milliseconds(59_999))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func aNanosecondDecides() async {
    relay.write(1)
    clock.advance(by: .seconds(60) - .nanoseconds(1))
    relay.write(2)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func commandsExpireWithoutAnybodyAsking() async {
    let id = relay.write(1).id!
    relay.write(2, timeToLive: .seconds(90))
    clock.advance(by: .seconds(60))
    await mainTurn()
    #expect(relay.status(of: id) == .dropped(.expired))
    #expect(relay.counts.waiting == 1)
    clock.advance(by: .seconds(30))
    await mainTurn()
    #expect(relay.counts.waiting == 0)
    #expect(relay.counts.dropped(.expired) == 2)
  }

  @Test func timeGoesOnBehindAClosedGate() async {
    relay.register(ledger, for: LedgerFeature.self)
    relay.gate.close(for: "background")
    relay.write(1)
    clock.advance(by: .seconds(30))
    relay.write(2)
    clock.advance(by: .seconds(30))
    await mainTurn()
    #expect(relay.counts.dropped(.expired) == 1)
    relay.gate.open(for: "background")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [2])
  }

  @Test func timeGoesOnBehindABusyLane() async {
    let latch = Latch()
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self) { _ async in await latch.wait() }
    await latch.arrival()
    relay.write(1)
    clock.advance(by: .seconds(60))
    await mainTurn()
    #expect(relay.counts.dropped(.expired) == 1)
    latch.open()
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
  }

  @Test func oneWakeUpIsPlannedForManyCommands() {
    for number in 0..<100 { relay.write(number) }
    #expect(clock.plannedCount == 1)
    #expect(clock.nextDeadline == .seconds(60))
    relay.write(100, timeToLive: .seconds(10))
    #expect(clock.plannedCount == 2)
    #expect(clock.nextDeadline == .seconds(10))
  }

  @Test func shortLivedCommandsLeaveNoWakeUpsBehind() async {
    relay.write(0)
    for number in 0..<100 {
      relay.write(number, timeToLive: .milliseconds(1))
      clock.advance(by: .milliseconds(1))
      await mainTurn()
    }
    #expect(relay.counts.dropped(.expired) == 100)
    #expect(clock.plannedCount == 1)
    clock.advance(by: .seconds(60))
    await mainTurn()
    #expect(relay.counts.waiting == 0)
    #expect(clock.plannedCount == 0)
  }

  @Test func aWakeUpIsNotPlannedAgainBeforeMainHasLooked() {
    relay.write(1)
    clock.advance(by: .seconds(1_000))
    // Main has not had a turn yet: nothing may spin meanwhile.
    #expect(clock.plannedCount == 0)
  }

  @Test func ageIsLookedAtAgainBeforeEachCommandOfABatch() async {
    let clock = clock
    ledger.onWrite = { number in if number == 1 { clock.advance(by: .seconds(10)) } }
    relay.write(1)
    relay.write(2, timeToLive: .seconds(5))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.counts.delivered == 1)
    #expect(relay.counts.dropped(.expired) == 1)
    #expect(relay.counts.waiting == 0)
  }

  @Test func ageIsLookedAtAgainWithinOneCallAsWell() {
    let clock = clock
    ledger.onWrite = { number in if number == 1 { clock.advance(by: .seconds(10)) } }
    relay.write(1)
    relay.write(2, timeToLive: .seconds(5))
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(3)
    #expect(ledger.numbers == [1, 3])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  // QB-6: what counts is the time that has passed, whatever the wall shows.
  @Test(arguments: [Duration.seconds(-3_600), .seconds(86_400)])
  func aWallClockThatJumpsChangesNoAge(_ jump: Duration) async throws {
    let wall = WallClock()
    let relay = Relay(
      scope: "jump",
      configuration: try RelayConfiguration(
        timeToLive: .seconds(60), clock: clock.relayClock(wall: wall)))
    relay.write(1)
    clock.advance(by: .seconds(10))
    wall.now += jump
    #expect(relay.pendingCount == 1)
    relay.write(2)
    clock.advance(by: .seconds(49))
    #expect(relay.pendingCount == 2)
    clock.advance(by: .seconds(2))
    #expect(relay.pendingCount == 1)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [2])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func anUnlimitedTimeToLiveNeverExpires() async {
    relay.write(1, timeToLive: .unlimited)
    clock.advance(by: .seconds(1_000_000_000))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func anEnormousTimeToLiveDoesNotOverflow() async {
    clock.advance(by: .seconds(1_000))
    relay.write(1, timeToLive: .limited(.seconds(Int64.max)))
    clock.advance(by: .seconds(1_000))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
  }

  @Test func callFeatureAndRelaySettleTheTimeToLiveInThisOrder() async throws {
    struct Brief: RelayCommand {
      static let policy = CommandPolicy(timeToLive: .seconds(20))
      func execute(on ledger: any LedgerFeature) throws { try ledger.write(3) }
    }
    relay.configure(LedgerFeature.self, try FeatureConfiguration(timeToLive: .seconds(40)))
    relay.write(1)
    relay.write(2, timeToLive: .seconds(10))
    relay.dispatch(Brief())
    relay.dispatch(Brief(), timeToLive: .seconds(30))
    relay.show(4)
    var waiting: [UInt64] = []
    for _ in 0..<6 {
      clock.advance(by: .seconds(10))
      await mainTurn()
      waiting.append(relay.counts.waiting)
    }
    #expect(waiting == [4, 3, 2, 1, 1, 0])
  }

  @Test func aCoarseClockThatRunsAheadExpiresNothing() async throws {
    let clocks = TwoClocks()
    let relay = Relay(
      scope: "ahead",
      configuration: try RelayConfiguration(timeToLive: .seconds(60), clock: clocks.relayClock))
    ledger.onWrite = { number in if number == 1 { clocks.moveCoarse(by: .seconds(3_600)) } }
    for number in 1...3 { relay.write(number) }
    clocks.moveCoarse(by: .seconds(7_200))
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(4)
    #expect(ledger.numbers == [1, 2, 3, 4])
    #expect(relay.counts.dropped == 0)
  }

  @Test func aCoarseClockThatStoodStillSavesNothing() async throws {
    let clocks = TwoClocks()
    let relay = Relay(
      scope: "behind",
      configuration: try RelayConfiguration(timeToLive: .seconds(60), clock: clocks.relayClock))
    relay.write(1)
    clocks.exact.advance(by: .seconds(60))
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(2)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [2])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func inALaterTurnTheExactClockDecidesBetweenTwoCommands() async throws {
    let clocks = TwoClocks()
    let relay = Relay(
      scope: "behind",
      configuration: try RelayConfiguration(timeToLive: .seconds(60), clock: clocks.relayClock))
    ledger.onWrite = { number in if number == 1 { clocks.exact.advance(by: .seconds(60)) } }
    relay.write(1)
    relay.write(2)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func inALaterTurnTheExactClockDecidesWithinTheTurnsTimeToo() async throws {
    let exact = Latched<Duration>(.zero)
    // No wake-up comes in time, and the cheap clock stands still.
    let slow = RelayClock(now: { exact.value }, coarse: { .zero }, schedule: { _, _ in })
    let relay = Relay(
      scope: "briefly",
      configuration: try RelayConfiguration(timeToLive: .milliseconds(1), clock: slow))
    ledger.onWrite = { number in if number == 3 { exact.update { $0 = .milliseconds(1) } } }
    for number in 1...9 { relay.write(number) }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
    #expect(relay.counts.dropped(.expired) == 6)
  }
}
