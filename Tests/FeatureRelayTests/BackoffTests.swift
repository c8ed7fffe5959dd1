// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import FeatureRelay

private struct Later: RelayCommand {
  static let policy = CommandPolicy(retry: .later(.constant(.seconds(1), attempts: 3)))
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

private struct InPlace: RelayCommand {
  static let policy = CommandPolicy(retry: .inPlace(.constant(.seconds(1), attempts: 3)))
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

private struct AtOnce: RelayCommand {
  static let policy = CommandPolicy(retry: .later(.constant(.zero, attempts: 3)))
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

private struct Spread: RelayCommand {
  static let policy = CommandPolicy(
    retry: .later(.exponential(base: .seconds(1), cap: .seconds(8), attempts: 8)))
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(0) }
}

@MainActor
struct BackoffTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "retry", configuration: try RelayConfiguration(clock: clock.relayClock, seed: 7))
    relay.register(ledger, for: LedgerFeature.self)
  }

  private func pass(_ duration: Duration) async {
    clock.advance(by: duration)
    await relay.waitUntilIdle()
  }

  @Test func theDefaultIsToDrop() {
    ledger.onWrite = { _ in throw Refusal() }
    #expect(relay.write(1).outcome == .failed)
    #expect(relay.counts.dropped(.failed) == 1)
    #expect(relay.pendingCount == 0)
  }

  @Test func laterGivesWayAndComesBackToTheEnd() async {
    var failures = 1
    ledger.onWrite = { number in
      if number == 1, failures > 0 {
        failures -= 1
        throw Refusal()
      }
    }
    relay.gate.close(for: "test")
    relay.dispatch(Later(number: 1))
    for number in 2...3 { relay.write(number) }
    relay.gate.open(for: "test")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2, 3])
    #expect(relay.write(4).outcome == .delivered)
    #expect(relay.pendingCount == 1)
    await pass(.milliseconds(999))
    #expect(ledger.numbers == [1, 2, 3, 4])
    await pass(.milliseconds(1))
    #expect(ledger.numbers == [1, 2, 3, 4, 1])
    #expect(relay.counts.retried == 1)
    #expect(relay.counts.delivered == 4)
    #expect(relay.counts.accepted == 4)
    #expect(relay.counts.isBalanced)
  }

  @Test func inPlaceHoldsBackItsPriorityAndWhatIsBelow() async {
    var failures = 1
    ledger.onWrite = { number in
      if number == 1, failures > 0 {
        failures -= 1
        throw Refusal()
      }
    }
    relay.gate.close(for: "test")
    relay.dispatch(InPlace(number: 1))
    relay.write(2)
    relay.write(3, priority: .low)
    relay.gate.open(for: "test")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1])
    #expect(relay.write(4).outcome == .waiting)
    #expect(relay.write(5, priority: .high).outcome == .delivered)
    #expect(ledger.numbers == [1, 5])
    await pass(.seconds(1))
    #expect(ledger.numbers == [1, 5, 1, 2, 4, 3])
  }

  @Test func inPlaceKeepsItsPlaceBeforeOneThatCameBackLater() async {
    var failing: Set = [1, 2]
    ledger.onWrite = { number in if failing.remove(number) != nil { throw Refusal() } }
    relay.dispatch(Later(number: 1))
    clock.advance(by: .milliseconds(500))
    relay.gate.close(for: "test")
    relay.dispatch(InPlace(number: 2))
    relay.gate.close(for: "test")
    clock.advance(by: .milliseconds(500))
    await mainTurn()
    relay.write(3)
    relay.gate.open(for: "test")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
    await pass(.seconds(1))
    #expect(ledger.numbers == [1, 2, 2, 1, 3])
  }

  @Test func attemptsCountTheFirstOne() async {
    ledger.onWrite = { _ in throw Refusal() }
    let id = relay.dispatch(Later(number: 1)).id!
    await pass(.seconds(1))
    #expect(relay.status(of: id) == .waiting)
    await pass(.seconds(1))
    #expect(relay.status(of: id) == .dropped(.failed))
    await pass(.seconds(100))
    #expect(ledger.numbers == [1, 1, 1])
    #expect(relay.counts.retried == 2)
    #expect(relay.counts.dropped(.failed) == 1)
  }

  @Test func attemptsWithoutADelayFollowAtOnce() {
    var failures = 2
    ledger.onWrite = { _ in
      if failures > 0 {
        failures -= 1
        throw Refusal()
      }
    }
    #expect(relay.dispatch(AtOnce(number: 1)).outcome == .delivered)
    #expect(ledger.numbers == [1, 1, 1])
  }

  @Test func aDirectlyDeliveredTypedCommandComesAgain() async {
    var failures = 1
    ledger.onWrite = { _ in
      if failures > 0 {
        failures -= 1
        throw Refusal()
      }
    }
    let acceptance = relay.dispatch(InPlace(number: 1))
    #expect(acceptance.outcome == .waiting)
    #expect(acceptance.id.flatMap { relay.status(of: $0) } == .waiting)
    #expect(relay.write(2).outcome == .waiting)
    await pass(.seconds(1))
    #expect(ledger.numbers == [1, 1, 2])
    #expect(acceptance.id.flatMap { relay.status(of: $0) } == .delivered)
    #expect(relay.counts.isBalanced)
  }

  @Test func anErrorMaySayThatThereIsNoPoint() async {
    ledger.onWrite = { _ in throw Advice(isTransient: false) }
    #expect(relay.dispatch(Later(number: 1)).outcome == .failed)
    relay.gate.close(for: "test")
    relay.dispatch(InPlace(number: 2))
    relay.gate.open(for: "test")
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
    #expect(relay.counts.dropped(.failed) == 2)
  }

  @Test func aTransientErrorFollowsThePolicy() async {
    ledger.onWrite = { _ in throw Advice(isTransient: true) }
    #expect(relay.write(1).outcome == .failed)
    #expect(relay.dispatch(Later(number: 2)).outcome == .waiting)
  }

  @Test func closuresFollowTheFeaturesRule() async throws {
    relay.configure(
      LedgerFeature.self, try FeatureConfiguration(retry: .later(.constant(.seconds(2)))))
    var failures = 1
    ledger.onWrite = { _ in
      if failures > 0 {
        failures -= 1
        throw Refusal()
      }
    }
    #expect(relay.write(1).outcome == .waiting)
    await pass(.seconds(2))
    #expect(ledger.numbers == [1, 1])
  }

  @Test func aWaitingAttemptExpiresCancelsAndClearsLikeAnyOther() async {
    ledger.onWrite = { _ in throw Refusal() }
    let expires = relay.dispatch(Later(number: 1), timeToLive: .milliseconds(500)).id!
    let cancelled = relay.dispatch(Later(number: 2), tags: ["t"]).id!
    let cleared = relay.dispatch(Later(number: 3)).id!
    await pass(.milliseconds(500))
    #expect(relay.cancel(tagged: "t") == 1)
    #expect(relay.clearQueue() == 1)
    await pass(.seconds(10))
    #expect(ledger.numbers == [1, 2, 3])
    let ends = [expires, cancelled, cleared].map { relay.status(of: $0)! }
    #expect(ends == [.dropped(.expired), .dropped(.cancelled), .dropped(.cleared)])
  }

  @Test func aHandlerThatResetsAndThenThrowsIsNotCalledAgain() async {
    let relay = relay
    ledger.onWrite = { _ in
      relay.reset()
      throw Refusal()
    }
    #expect(relay.dispatch(AtOnce(number: 1)).outcome != .delivered)
    relay.register(ledger, for: LedgerFeature.self)
    relay.gate.close(for: "test")
    relay.dispatch(AtOnce(number: 2))
    relay.gate.open(for: "test")
    await relay.waitUntilIdle()
    relay.register(ledger, for: LedgerFeature.self)
    await pass(.seconds(10))
    #expect(ledger.numbers == [1, 2])
    #expect(relay.pendingCount == 0)
    #expect(relay.counts.isBalanced)
  }

  @Test func aHandlerThatClosesAndThenThrowsLeavesNothingWaiting() async {
    let relay = relay
    ledger.onWrite = { _ in
      relay.close()
      throw Refusal()
    }
    relay.gate.close(for: "test")
    let id = relay.dispatch(AtOnce(number: 2)).id!
    relay.gate.open(for: "test")
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 0)
    #expect(relay.status(of: id)?.isFinal == true)
    #expect(relay.counts.isBalanced)
  }

  @Test func aPendingRetryDoesNotCountAsBusy() async {
    ledger.onWrite = { _ in throw Refusal() }
    relay.dispatch(Later(number: 1))
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 1)
  }

  @Test func jitterFollowsTheSeed() async throws {
    func delays(seed: UInt64) async throws -> [Duration] {
      let clock = ManualClock()
      let relay = Relay(
        scope: "jitter",
        configuration: try RelayConfiguration(
          timeToLive: .unlimited, clock: clock.relayClock, seed: seed))
      let ledger = Ledger { _ in throw Refusal() }
      relay.register(ledger, for: LedgerFeature.self)
      relay.dispatch(Spread())
      var times = [clock.now]
      while clock.advanceToNextDeadline() {
        await relay.waitUntilIdle()
        times.append(clock.now)
      }
      #expect(ledger.numbers.count == 8)
      return zip(times.dropFirst(), times).map { $0 - $1 }
    }
    let first = try await delays(seed: 1)
    #expect(try await delays(seed: 1) == first)
    #expect(try await delays(seed: 2) != first)
    for (delay, full) in zip(first, [1, 2, 4, 8, 8, 8, 8]) {
      #expect(delay >= .milliseconds(500 * full) && delay <= .seconds(full))
    }
  }

  @Test func delaysDoubleUpToTheCap() {
    let backoff = Backoff.exponential(
      base: .seconds(1), cap: .seconds(60), jitter: false, attempts: nil)
    let delays = (1...9).map { backoff.delay(afterAttempt: $0, random: 0)! / 1_000_000_000 }
    #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    #expect(backoff.delay(afterAttempt: 1_000_000, random: 0) == 60_000_000_000)
  }

  @Test func jitterTakesBetweenHalfAndAll() {
    let backoff = Backoff.exponential(base: .seconds(10), cap: .seconds(60), attempts: nil)
    #expect(backoff.delay(afterAttempt: 1, random: 0) == 5_000_000_000)
    #expect(backoff.delay(afterAttempt: 1, random: 0.5) == 7_500_000_000)
    #expect(backoff.delay(afterAttempt: 1, random: 0.999_999)! <= 10_000_000_000)
  }

  @Test func extremeBackoffsStayWithinBounds() {
    let huge = Backoff.exponential(
      base: .seconds(Int64.max), cap: .seconds(Int64.max), jitter: true, attempts: nil)
    #expect(huge.delay(afterAttempt: 70_000, random: 1)! > 0)
    let negative = Backoff.constant(.seconds(-5), attempts: 2)
    #expect(negative.delay(afterAttempt: 1, random: 0) == 0)
    #expect(negative.delay(afterAttempt: 2, random: 0) == nil)
    #expect(Backoff.constant(.zero, attempts: nil).delay(afterAttempt: 1, random: 0) == 1_000_000)
    #expect(Backoff.constant(.zero, attempts: -3).delay(afterAttempt: 1, random: 0) == nil)
  }
}
