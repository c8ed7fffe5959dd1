// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// Keeps what it saw as text, and can be told to do something about it.
private final class Witness: RelayObserver {
  let seen = Latched<[String]>([])
  let numbers = Latched<[UInt64]>([])
  private let onEvent: @Sendable (RelayEvent) -> Void

  init(onEvent: @escaping @Sendable (RelayEvent) -> Void = { _ in }) {
    self.onEvent = onEvent
  }

  func observe(_ event: RelayEvent) {
    seen.update { $0.append(event.kind.description) }
    numbers.update { $0.append(event.number) }
    onEvent(event)
  }
}

@MainActor
struct RelayEventsTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "events",
      configuration: try RelayConfiguration(limit: 3, eventBuffer: 8, clock: clock.relayClock))
  }

  private func rest(_ events: AsyncStream<RelayEvent>) async -> [RelayEvent] {
    var all: [RelayEvent] = []
    for await event in events { all.append(event) }
    return all
  }

  @Test func everyStepOfACommandIsTold() {
    let witness = Witness()
    relay.observe(witness)
    relay.write(1)
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(2)
    relay.unregister(ledger, for: LedgerFeature.self)
    relay.gate.close(for: "a")
    relay.gate.open(for: "a")
    relay.gate(for: LedgerFeature.self).close(for: "b")
    relay.gate(for: LedgerFeature.self).open(for: "b")
    relay.reset()
    relay.close()
    #expect(
      witness.seen.value == [
        "accepted", "registered Ledger", "accepted", "started on Ledger", "delivered",
        "started on Ledger", "delivered", "unregistered Ledger", "gate closed: a",
        "gate opened: a", "gate closed: b", "gate opened: b", "reset", "closed",
      ])
    #expect(witness.numbers.value == Array(1...14))
  }

  @Test func anEventSaysWhichCommandWhereAndHowOld() async {
    struct Named: RelayCommand {
      static let policy = CommandPolicy(
        priority: .high, retry: .later(.constant(.seconds(1), attempts: 2)))
      func execute(on ledger: any LedgerFeature) throws { try ledger.write(1) }
    }
    let last = Latched<RelayEvent?>(nil)
    relay.observe(
      Witness { event in
        if case .delivered = event.kind { last.update { $0 = event } }
      })
    var fails = true
    ledger.onWrite = { _ in
      if fails {
        fails = false
        throw Refusal()
      }
    }
    let id = relay.dispatch(Named()).id
    clock.advance(by: .seconds(2))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    let event = last.value
    #expect(event?.id == id)
    #expect(event?.scope == "events")
    #expect(event?.feature?.contains("LedgerFeature") == true)
    #expect(event?.command?.contains("Named") == true)
    #expect(event?.priority == .high)
    #expect(event?.attempt == 2)
    #expect(event?.age == .seconds(3))
    #expect(event?.time == .seconds(3))
    #expect(event?.description.hasSuffix("delivered (attempt 2)") == true)
  }

  @Test func allConsumersSeeOneOrder() async {
    let streams = (0..<3).map { _ in relay.events }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    relay.write(2)
    relay.close()
    var all: [[UInt64]] = []
    for stream in streams { all.append(await rest(stream).map(\.number)) }
    #expect(all[0] == Array(1...8))
    #expect(all[1] == all[0] && all[2] == all[0])
  }

  @Test func aSlowConsumerLosesItsOwnOldestEventsOnly() async {
    let slow = relay.events
    var quick = relay.events.makeAsyncIterator()
    relay.register(ledger, for: LedgerFeature.self)
    var numbers: [UInt64] = []
    numbers.append(await quick.next()!.number)
    for number in 0..<10 {
      relay.write(number)
      for _ in 0..<3 { numbers.append(await quick.next()!.number) }
    }
    #expect(numbers == Array(1...31))
    #expect(ledger.numbers.count == 10)
    relay.close()
    let late = await rest(slow).map(\.number)
    #expect(late == Array(25...32))
  }

  @Test func aConsumerThatComesLaterSeesTheRestOnly() async {
    let early = relay.events
    relay.write(1)
    let late = relay.events
    relay.write(2)
    relay.close()
    #expect(await rest(early).map(\.number).first == 1)
    #expect(await rest(late).map(\.number).first == 2)
  }

  @Test func eventsEndWithTheRelayAndAreEmptyAfterwards() async {
    let events = relay.events
    relay.close()
    let all = await rest(events).map(\.kind.description)
    #expect(all == ["closed"])
    #expect(await rest(relay.events).isEmpty)
    let witness = Witness()
    relay.observe(witness)
    relay.write(1)
    #expect(witness.seen.value.isEmpty)
  }

  @Test func aConsumerThatStopsFreesTheDirectPath() async {
    var events: AsyncStream<RelayEvent>? = relay.events
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    events = nil
    await mainTurn()
    relay.write(2)
    #expect(events == nil)
    #expect(ledger.numbers == [1, 2])
    // Registered, accepted, started, delivered; nobody has numbered anything since.
    let late = relay.events
    relay.close()
    #expect(await rest(late).map(\.number) == [5])
  }

  @Test func anObserverMayDispatchAndRegisterFromInside() {
    let relay = relay
    let ledger = ledger
    let witness = Witness { event in
      if case .accepted = event.kind, event.feature?.contains("Ledger") == true {
        relay.show(7)
        relay.register(ledger, for: LedgerFeature.self)
        _ = relay.snapshot()
        _ = relay.pendingCount
      }
    }
    relay.observe(witness)
    relay.write(1)
    #expect(relay.pendingCount(MirrorFeature.self) == 1)
    #expect(witness.numbers.value == Array(1...UInt64(witness.numbers.value.count)))
    #expect(relay.write(2).outcome == .delivered)
    #expect(ledger.numbers == [1, 2])
    #expect(witness.numbers.value == Array(1...UInt64(witness.numbers.value.count)))
  }

  @Test func anObserverMayCloseTheRelayFromInside() async {
    let relay = relay
    let events = relay.events
    let witness = Witness { event in if case .accepted = event.kind { relay.close() } }
    relay.observe(witness)
    relay.write(1)
    #expect(witness.seen.value == ["accepted", "dropped: closed", "closed"])
    #expect(await rest(events).map(\.kind.description) == witness.seen.value)
  }

  @Test func aCancelledObserverSeesNothingFurther() {
    let witness = Witness()
    let observation = relay.observe(witness)
    relay.write(1)
    observation.cancel()
    observation.cancel()
    relay.write(2)
    #expect(witness.seen.value == ["accepted"])
  }

  @Test func anObserverThatEndsItsOwnObservationSeesNothingFurther() {
    let observation = Latched<RelayObservation?>(nil)
    let witness = Witness { event in
      if case .dropped = event.kind { observation.value?.cancel() }
    }
    let mine = relay.observe(witness)
    observation.update { $0 = mine }
    for number in 1...3 { relay.write(number) }
    // Three events are taken down at once and handed out one by one.
    relay.clearQueue()
    #expect(witness.seen.value == ["accepted", "accepted", "accepted", "dropped: cleared"])
  }

  @Test func anObserverSeesWhatHappensFromNowOn() {
    let relay = relay
    let late = Witness()
    let isFirst = Latched(true)
    relay.observe(
      Witness { event in
        guard case .dropped = event.kind,
          isFirst.update({ value in
            defer { value = false }; return value
          })
        else { return }
        relay.observe(late)
        relay.show(1)
      })
    for number in 1...3 { relay.write(number) }
    relay.clearQueue(LedgerFeature.self)
    #expect(late.seen.value == ["accepted"])
  }

  @Test func anObserverIsKeptUntilItsObservationEnds() {
    var witness: Witness? = Witness()
    weak let reference = witness
    let observation = relay.observe(witness!)
    witness = nil
    #expect(reference != nil)
    observation.cancel()
    #expect(reference == nil && witness == nil)
    var second: Witness? = Witness()
    weak let secondReference = second
    relay.observe(second!)
    second = nil
    relay.close()
    #expect(secondReference == nil && second == nil)
  }

  @Test func observersDoNotReorderCommands() async {
    let relay = relay
    relay.observe(Witness())
    relay.register(ledger, for: LedgerFeature.self)
    for number in 0..<50 {
      relay.writeElsewhere(2 * number)
      relay.write(2 * number + 1)
    }
    #expect(ledger.numbers == Array(0..<100))
  }

  @Test func aSlowObserverDelaysOnlyTheThreadThatCallsIt() {
    let relay = relay
    let ledger = ledger
    let (entered, leave) = (ThreadLatch(), ThreadLatch())
    let isFirst = Latched(true)
    relay.observe(
      Witness { _ in
        guard
          isFirst.update({ value in
            defer { value = false }; return value
          })
        else { return }
        entered.open()
        leave.wait("the slow observer's end")
      })
    let done = ThreadLatch()
    startThread {
      relay.show(1)
      done.open()
    }
    entered.wait()
    // Main is not held up while the observer sits in the other thread.
    relay.register(ledger, for: LedgerFeature.self)
    #expect(relay.write(1).outcome == .delivered)
    leave.open()
    done.wait()
  }

  /// Law 10: while an observer holds up one thread, what happens elsewhere does not pile up for it.
  @Test func whatWaitsForASlowObserverIsBoundedAndTheNewestIsKept() async {
    let (entered, leave, done) = (ThreadLatch(), ThreadLatch(), ThreadLatch())
    let isFirst = Latched(true)
    let witness = Witness { _ in
      let isNow = isFirst.update { value in
        defer { value = false }
        return value
      }
      guard isNow else { return }
      entered.open()
      leave.wait("the slow observer's end")
    }
    relay.observe(witness)
    startThread { [relay] in
      relay.show(1)
      done.open()
    }
    entered.wait()
    let farewells = Tally()
    final class Load: Error, Sendable {
      let farewells: Tally
      init(_ farewells: Tally) { self.farewells = farewells }
      deinit { farewells.add() }
    }
    ledger.onWrite = { number in if number % 100 == 0 { throw Load(farewells) } }
    relay.register(ledger, for: LedgerFeature.self)
    for number in 0..<50_000 { relay.write(number) }
    // What is dropped is let go of, outside all locks, although the observer still sits there.
    #expect(farewells.current > 100)
    leave.open()
    done.wait()
    await relay.waitUntilIdle()
    relay.clearQueue()
    let numbers = witness.numbers.value
    #expect(numbers == numbers.sorted())
    #expect(numbers.count > 65_536 / 2 && numbers.count <= 65_536 + 100)
    #expect(Int(numbers.last!) > 150_000)
    let kinds = witness.seen.value
    #expect(kinds.last == "dropped: cleared", "\(kinds.suffix(3))")
    // None is left over, neither of those that were shown nor of those that were dropped.
    #expect(farewells.current == 500)
    #expect(ledger.numbers.count == 50_000)
  }

  @Test func problemsAreRememberedAlthoughNobodyLooks() {
    ledger.onWrite = { _ in throw Refusal() }
    relay.register(ledger, for: LedgerFeature.self)
    for number in 0..<40 { relay.write(number) }
    let problems = relay.snapshot().problems
    #expect(problems.count == 32)
    #expect(problems.last?.contains("failed: Refusal") == true)
  }

  @Test func payloadsOfErrorsAreNotWritten() {
    struct Secret: Error { let password = "12345" }
    ledger.onWrite = { _ in throw Secret() }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    #expect(relay.dump().contains("Secret"))
    #expect(!relay.dump().contains("12345"))
  }

  @Test func refusalsAndDropsAreTold() {
    let witness = Witness()
    relay.observe(witness)
    let first = relay.write(1, unique: .keepFirst("k")).id!
    relay.write(2, unique: .keepFirst("k"))
    relay.clearQueue()
    #expect(
      witness.seen.value == ["accepted", "refused: duplicate of \(first)", "dropped: cleared"])
  }

  // QB-4
  @Test(arguments: [OverflowRule.dropOldest, .dropNewest])
  func whoGivesWayInAFullQueueIsToldOnce(_ rule: OverflowRule) throws {
    relay.configure(LedgerFeature.self, try FeatureConfiguration(limit: 3, overflow: rule))
    let witness = Witness()
    relay.observe(witness)
    for number in 1...4 { relay.write(number) }
    let told = witness.seen.value.filter { $0 != "accepted" }
    #expect(told == [rule == .dropOldest ? "dropped: overflow" : "refused: full"])
  }

  @Test func aRelayWithoutALogWritesNothing() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let relay = Relay(scope: "silent")
        let ledger = Ledger { _ in throw Refusal() }
        relay.register(ledger, for: LedgerFeature.self)
        relay.write(1)
        relay.close()
        relay.write(2)
      }
    }
    #expect(result?.standardErrorContent.isEmpty == true)
  }

  @Test func observedAndUnobservedDeliveriesCountTheSame() {
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    let observation = relay.observe(Witness())
    relay.write(2)
    observation.cancel()
    relay.write(3)
    #expect(relay.counts.delivered == 3)
    #expect(relay.counts.accepted == 3)
  }

  @Test func theLogHasALineForEachEventAndNoPayload() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      await MainActor.run {
        let relay = Relay(scope: "logged")
        relay.observe(RelayLog(subsystem: "com.example.shop"))
        let ledger = Ledger { if $0 == 222_222 { throw Refusal() } }
        relay.register(ledger, for: LedgerFeature.self)
        relay.write(111_111)
        relay.write(222_222)
      }
    }
    let lines = text(result.standardErrorContent).split(separator: "\n")
    #expect(lines.count == 9)
    #expect(lines.filter { $0.contains("com.example.shop warning logged") }.count == 1)
    #expect(lines.filter { $0.contains("failed: Refusal") }.count == 1)
    #expect(!lines.contains { $0.contains("111111") || $0.contains("222222") })
  }
}
