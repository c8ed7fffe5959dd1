// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// What queued closures hold is let go of when their command ends, whichever way, and outside any
/// lock.
@MainActor
struct CaptureTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()
  let released = ReleaseTally()

  init() throws {
    relay = Relay(
      scope: "captures",
      configuration: try RelayConfiguration(
        limit: 2, timeToLive: .seconds(60), clock: clock.relayClock))
  }

  /// Dispatches a closure that holds a value whose deinit uses every part of the relay.
  @discardableResult
  private func hold(
    _ number: Int = 1, tags: [CommandTag] = [], unique: Uniqueness? = nil, fails: Bool = false
  ) -> Acceptance {
    let token = makeToken(number)
    return relay.dispatch(LedgerFeature.self, tags: tags, unique: unique) { ledger in
      withExtendedLifetime(token) {}
      try ledger.write(number)
      if fails { throw Refusal() }
    }
  }

  private func makeToken(_ number: Int) -> Token {
    Token { [weak relay, released] in
      released.add(number)
      // Would hang if a lock were held.
      guard let relay else { return }
      _ = relay.pendingCount
      relay.dispatch(MirrorFeature.self) { try $0.show(number) }
      relay.cancel(tagged: "nobody")
      _ = relay.snapshot()
      _ = relay.isRegistered(LedgerFeature.self)
      relay.gate(for: LedgerFeature.self).close(for: "deinit")
      relay.gate(for: LedgerFeature.self).open(for: "deinit")
      relay.dispatch(LedgerFeature.self, timeToLive: .milliseconds(1)) { _ in }
    }
  }

  @Test func afterADirectDelivery() {
    relay.register(ledger, for: LedgerFeature.self)
    hold()
    #expect(released.numbers == [1])
  }

  @Test func afterADeliveryFromTheQueue() async {
    hold()
    relay.register(ledger, for: LedgerFeature.self)
    #expect(released.count == 0)
    await relay.waitUntilIdle()
    #expect(released.numbers == [1] && ledger.numbers == [1])
  }

  @Test func afterAFailure() async {
    hold(1, fails: true)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    hold(2, fails: true)
    #expect(released.numbers == [1, 2])
  }

  @Test func whenAQueueOverflows() {
    for number in 1...3 { hold(number) }
    #expect(released.numbers.first == 1)
    #expect(relay.counts.dropped(.overflow) >= 1)
  }

  @Test func whenItIsRefused() throws {
    let relay = Relay(
      scope: "refuses", configuration: try RelayConfiguration(limit: 1, overflow: .dropNewest))
    let released = released
    relay.write(0)
    do {
      let token = Token { released.add(1) }
      #expect(!relay.dispatch(LedgerFeature.self) { _ in _ = token }.isAccepted)
    }
    #expect(released.numbers == [1])
  }

  @Test func whenItExpires() async {
    hold()
    clock.advance(by: .seconds(60))
    await mainTurn()
    #expect(released.numbers == [1])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func whenItIsCancelled() {
    hold(1, tags: ["t"])
    let id = hold(2).id!
    #expect(relay.cancel(tagged: "t") == 1)
    #expect(released.numbers == [1])
    #expect(relay.cancel(id))
    #expect(released.numbers == [1, 2])
  }

  @Test func whenManyAreCancelledTheyGoInTheirOrder() async throws {
    relay.configure(LedgerFeature.self, try FeatureConfiguration(limit: 1_000))
    for number in 0..<500 {
      // Those with a key are ended one by one, between the others.
      hold(number, tags: ["t"], unique: number % 7 == 3 ? .keepFirst("\(number)") : nil)
      relay.write(number)
    }
    #expect(relay.cancel(tagged: "t") == 500)
    #expect(released.numbers == Array(0..<500))
    #expect(relay.counts.dropped(.cancelled) == 500)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<500))
    #expect(relay.counts.isBalanced)
  }

  @Test func whenTheQueueIsCleared() {
    hold(1)
    hold(2)
    relay.clearQueue(LedgerFeature.self)
    #expect(released.numbers == [1, 2])
  }

  @Test func whenTheRelayIsReset() {
    hold()
    relay.reset()
    #expect(released.numbers == [1])
  }

  @Test func whenTheRelayIsClosed() {
    hold()
    relay.close()
    #expect(released.numbers == [1])
  }

  @Test func whenTheRelayGoes() {
    var brief: Relay? = Relay(scope: "brief")
    let released = released
    do {
      let token = Token { released.add(1) }
      brief!.dispatch(LedgerFeature.self) { _ in _ = token }
    }
    brief = nil
    #expect(released.numbers == [1] && brief == nil)
  }

  @Test func whenItIsReplaced() {
    hold(1, unique: .keepLatest("k"))
    hold(2, unique: .keepLatest("k"))
    #expect(released.numbers == [1])
    #expect(relay.counts.dropped(.coalesced) == 1)
  }

  @Test func whenItsOwnerIsGone() async {
    let released = released
    var owner: Mirror? = Mirror()
    do {
      let token = makeToken(1)
      relay.dispatch(LedgerFeature.self, owner: owner!) { ledger, _ in
        withExtendedLifetime(token) {}
        try ledger.write(1)
      }
    }
    owner = nil
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(released.numbers == [1] && ledger.numbers == [] && owner == nil)
    #expect(relay.counts.dropped(.ownerGone) == 1)
  }

  @Test func afterAnAsynchronousDelivery() async {
    do {
      let token = makeToken(1)
      relay.dispatch(LedgerFeature.self) { ledger async throws in
        withExtendedLifetime(token) {}
        try ledger.write(1)
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(released.numbers == [1] && ledger.numbers == [1])
  }

  @Test func afterAnAsynchronousCommandThatIsResetBeforeItStarts() async {
    do {
      let token = makeToken(1)
      relay.dispatch(LedgerFeature.self) { _ async in withExtendedLifetime(token) {} }
    }
    relay.reset()
    #expect(released.numbers == [1])
  }

  @Test func afterTheLateEndOfACommandThatTimedOut() async {
    let latch = Latch()
    do {
      let token = makeToken(1)
      relay.dispatch(LedgerFeature.self, executionLimit: .seconds(1)) { _ async in
        await latch.wait()
        withExtendedLifetime(token) {}
      }
    }
    relay.register(ledger, for: LedgerFeature.self)
    await latch.arrival()
    clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    latch.open()
    while released.count == 0 { await mainTurn() }
    #expect(relay.counts.dropped(.timedOut) == 1)
  }

  @Test func capturesThatGoElsewhereMayUseTheRelayToo() {
    hold()
    let relay = relay
    onAnotherThread { relay.clearQueue() }
    #expect(released.numbers == [1])
  }

  @Test func aHandlersDeinitMayUseTheRelayWhileItIsCalled() {
    final class Short: LedgerFeature {
      nonisolated(unsafe) weak var relay: Relay?
      func write(_ number: Int) {}
      deinit {
        relay?.dispatch(MirrorFeature.self) { try $0.show(1) }
        relay?.dispatch(LedgerFeature.self) { _ in }
        _ = relay?.snapshot()
        relay?.unregisterAll()
      }
    }
    let handler = Latched<Short?>(Short())
    handler.value!.relay = relay
    relay.register(handler.value!, for: LedgerFeature.self)
    // Its last reference goes while it runs, so that the relay's is the last one.
    relay.dispatch(LedgerFeature.self) { _ in handler.update { $0 = nil } }
    #expect(relay.counts(of: MirrorFeature.self).accepted == 1)
    #expect(relay.pendingCount == 2)
    #expect(!relay.isRegistered(LedgerFeature.self))
  }

  @Test func aSenderIsNotKept() {
    var sender: Mirror? = Mirror()
    weak let reference = sender
    relay.dispatch(LedgerFeature.self, owner: sender!) { _, _ in }
    sender = nil
    #expect(reference == nil && sender == nil)
  }

  @Test func aLongQueueIsLetGoWithoutRecursion() throws {
    let relay = Relay(scope: "long", configuration: try RelayConfiguration(limit: 1_000_000))
    for number in 0..<50_000 { relay.write(number) }
    #expect(relay.clearQueue() == 50_000)
    for number in 0..<50_000 { relay.write(number) }
    relay.close()
    #expect(relay.counts.dropped == 100_000)
  }
}
