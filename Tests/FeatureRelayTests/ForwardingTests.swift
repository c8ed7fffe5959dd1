// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// Counts what is asked of it, and throws at its end when told to.
private struct Numbers: AsyncSequence, Sendable {
  let count: Int
  var fails = false
  let asked = ReleaseTally()

  struct Iterator: AsyncIteratorProtocol {
    let numbers: Numbers
    var next = 0

    mutating func next() async throws -> Int? {
      if next == numbers.count {
        if numbers.fails { throw Refusal() }
        return nil
      }
      defer { next += 1 }
      numbers.asked.add(next)
      return next
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(numbers: self) }
}

@MainActor
struct ForwardingTests {
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(scope: "streams", configuration: try RelayConfiguration(limit: 3))
  }

  private func forward(_ numbers: Numbers) -> Task<Void, any Error> {
    let relay = relay
    return Task.detached {
      try await numbers.forward(to: LedgerFeature.self, in: relay) { ledger, number in
        try ledger.write(number)
      }
    }
  }

  private func full() async {
    while relay.pendingCount(LedgerFeature.self) < 3 { await Task.yield() }
  }

  @Test func elementsArriveInOrderAndItEndsWithTheSequence() async throws {
    relay.register(ledger, for: LedgerFeature.self)
    try await Numbers(count: 1_000).forward(to: LedgerFeature.self, in: relay) { ledger, number in
      try ledger.write(number)
    }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<1_000))
    #expect(relay.counts.dropped == 0)
  }

  @Test func fromElsewhereNothingIsLostEither() async throws {
    relay.register(ledger, for: LedgerFeature.self)
    try await forward(Numbers(count: 1_000)).value
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<1_000))
    #expect(relay.counts.dropped == 0 && relay.counts.refusedFull == 0)
  }

  @Test func aFullQueueHoldsTheStreamBack() async throws {
    let numbers = Numbers(count: 10)
    let task = forward(numbers)
    await full()
    while numbers.asked.count < 4 { await Task.yield() }
    for _ in 0..<10 { await mainTurn() }
    #expect(relay.pendingCount == 3)
    #expect(numbers.asked.numbers == [0, 1, 2, 3])
    relay.register(ledger, for: LedgerFeature.self)
    try await task.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<10))
    #expect(relay.counts.dropped == 0 && relay.counts.refusedFull == 0)
    #expect(relay.counts.accepted == 10)
  }

  @Test func twoStreamsShareAFullQueueWithoutLoss() async throws {
    let (first, second) = (forward(Numbers(count: 50)), forward(Numbers(count: 50)))
    await full()
    relay.register(ledger, for: LedgerFeature.self)
    try await first.value
    try await second.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers.sorted() == (0..<100).map { $0 / 2 })
  }

  @Test func cancellationEndsTheWaitForRoom() async throws {
    let task = forward(Numbers(count: 10))
    await full()
    for _ in 0..<3 { await mainTurn() }
    task.cancel()
    try await task.value
    #expect(relay.pendingCount == 3)
    #expect(relay.counts.accepted == 3)
  }

  @Test func clearingMakesRoom() async throws {
    let numbers = Numbers(count: 6)
    let task = forward(numbers)
    await full()
    while numbers.asked.count < 4 { await Task.yield() }
    relay.clearQueue()
    try await task.value
    #expect(relay.pendingCount == 3)
    #expect(relay.counts.dropped(.cleared) == 3)
  }

  @Test func cancellingByTagMakesRoom() async throws {
    for number in 0..<3 { relay.write(number, tags: ["other"]) }
    let numbers = Numbers(count: 3)
    let task = forward(numbers)
    while numbers.asked.count < 1 { await Task.yield() }
    for _ in 0..<3 { await mainTurn() }
    #expect(relay.cancel(tagged: "other") == 3)
    try await task.value
    #expect(relay.pendingCount == 3)
    #expect(relay.counts.dropped(.cancelled) == 3)
  }

  @Test func aHigherLimitMakesRoom() async throws {
    let numbers = Numbers(count: 6)
    let task = forward(numbers)
    await full()
    while numbers.asked.count < 4 { await Task.yield() }
    for _ in 0..<3 { await mainTurn() }
    relay.configure(LedgerFeature.self, try FeatureConfiguration(limit: 6))
    try await task.value
    #expect(relay.pendingCount == 6)
  }

  @Test func anOpeningGateLetsTheStreamGoOn() async throws {
    relay.register(ledger, for: LedgerFeature.self)
    relay.gate.close(for: "test")
    let task = forward(Numbers(count: 10))
    await full()
    relay.gate.open(for: "test")
    try await task.value
    await relay.waitUntilIdle()
    #expect(ledger.numbers == Array(0..<10))
  }

  @Test func aClosedRelayEndsTheStream() async throws {
    let task = forward(Numbers(count: 1_000_000))
    await full()
    relay.close()
    try await task.value
    #expect(relay.pendingCount == 0)
    try await forward(Numbers(count: 1_000_000)).value
  }

  @Test func aResetLetsTheStreamGoOn() async throws {
    let numbers = Numbers(count: 6)
    let task = forward(numbers)
    await full()
    while numbers.asked.count < 4 { await Task.yield() }
    relay.reset()
    try await task.value
    #expect(relay.counts.dropped(.reset) == 3)
    #expect(relay.pendingCount == 3)
  }

  @Test func whatTheSequenceThrowsIsThrown() async {
    relay.register(ledger, for: LedgerFeature.self)
    await #expect(throws: Refusal.self) {
      try await forward(Numbers(count: 2, fails: true)).value
    }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [0, 1])
  }

  @Test func aSequenceThatCannotThrowNeedsNoTry() async {
    relay.register(ledger, for: LedgerFeature.self)
    let stream = AsyncStream { continuation in
      for number in 0..<3 { continuation.yield(number) }
      continuation.finish()
    }
    await stream.forward(to: LedgerFeature.self, in: relay, priority: .high, tags: ["stream"]) {
      ledger, number in try ledger.write(number)
    }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [0, 1, 2])
  }

  @Test func tagsReachWhatWasForwarded() async throws {
    let stream = AsyncStream { continuation in
      for number in 0..<3 { continuation.yield(number) }
      continuation.finish()
    }
    await stream.forward(to: LedgerFeature.self, in: relay, tags: ["stream"]) { ledger, number in
      try ledger.write(number)
    }
    #expect(relay.cancel(tagged: "stream") == 3)
  }
}
