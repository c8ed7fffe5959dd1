// SPDX-License-Identifier: MIT

import AllocationCounter
import FeatureRelay
import RaceSupport
import Synchronization
import Testing

/// Keeps what it saw, and can be told to do something about it.
private final class Watcher: RelayObserver {
  let events = Latched<[RelayEvent]>([])
  private let onEvent: @Sendable (RelayEvent) -> Void

  var kinds: [String] { events.value.map(\.kind.description) }
  var ids: [CommandID] { events.value.compactMap(\.id) }

  init(onEvent: @escaping @Sendable (RelayEvent) -> Void = { _ in }) {
    self.onEvent = onEvent
  }

  func observe(_ event: RelayEvent) {
    events.update { $0.append(event) }
    onEvent(event)
  }
}

/// Sees everything and keeps nothing.
private final class Bystander: RelayObserver {
  let count = Atomic<Int>(0)
  func observe(_ event: RelayEvent) { count.add(1, ordering: .relaxed) }
}

private struct Write: RelayCommand {
  static let policy = CommandPolicy(priority: .high)
  let number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

private struct WriteAgain: RelayCommand {
  static let policy = CommandPolicy(retry: .inPlace(.constant(.zero, attempts: 2)))
  let number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

@MainActor
private final class OtherLedger: LedgerFeature {
  func write(_ number: Int) throws {}
}

@MainActor
struct SlotObservationTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "observed", configuration: try RelayConfiguration(clock: clock.relayClock))
    relay.register(ledger, for: LedgerFeature.self)
  }

  @Test func aStartNamesTheHandlerThatIsThereNow() throws {
    let relay = Relay(scope: "renamed")
    let watcher = Watcher()
    let watch = relay.observe(watcher)
    defer { withExtendedLifetime(watch) {} }
    let (one, other) = (Ledger(), OtherLedger())
    for number in 0..<200 {
      // Memory of the one before is likely to be given out again.
      let token =
        number % 2 == 0
        ? relay.register(one, for: LedgerFeature.self)
        : relay.register(other, for: LedgerFeature.self)
      relay.write(number)
      token.cancel()
    }
    let started = watcher.kinds.filter { $0.hasPrefix("started") }
    #expect(started.count == 200)
    let isRight = started.enumerated().allSatisfy { number, text in
      text.contains("OtherLedger") == (number % 2 == 1)
    }
    #expect(isRight, "\(started.prefix(4))")
  }

  private func all<Element: Sendable>(_ stream: AsyncStream<Element>) async -> [Element] {
    var all: [Element] = []
    for await element in stream { all.append(element) }
    return all
  }

  @Test func aDeliveryThatIsSeenAllocatesNothing() async {
    let relay = Relay(scope: "seen")
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    let bystander = Bystander()
    relay.observe(bystander)
    let events = relay.events
    let count = 400
    func run() { for number in 0..<count { relay.dispatch(Write(number: number)) } }
    run()
    guard allocation_counter_get() >= 0 else { return }
    ledger.onWrite = nil
    let before = allocation_counter_get()
    run()
    // The ledger's own array grows.
    #expect(allocation_counter_get() - before < 8)
    #expect(bystander.count.load(ordering: .relaxed) == 2 * 3 * count)
    withExtendedLifetime(events) {}
  }

  @Test func everyDeliveryHasAnIDOfItsOwn() {
    let watcher = Watcher()
    relay.observe(watcher)
    for number in 0..<3 { relay.write(number) }
    #expect(
      watcher.kinds == (0..<3).flatMap { _ in ["accepted", "started on Ledger", "delivered"] })
    #expect(Set(watcher.ids).count == 3)
    for id in watcher.ids { #expect(relay.status(of: id) == .delivered) }
    #expect(watcher.ids.first?.description.contains(".d") == true)
    #expect(relay.counts.delivered == 3 && relay.counts.isBalanced)
  }

  @Test func anEventSaysWhatAnEventOfTheQueueSays() {
    let watcher = Watcher()
    relay.observe(watcher)
    ledger.onWrite = { [clock] _ in clock.advance(by: .seconds(2)) }
    relay.dispatch(Write(number: 1))
    relay.write(2, priority: .low)
    let direct = watcher.events.value
    #expect(direct.map(\.time) == [0, 0, 2, 2, 2, 4].map { .seconds($0) })
    #expect(direct.map(\.age) == [0, 0, 2, 0, 0, 2].map { .seconds($0) })
    #expect(direct.map(\.attempt) == [0, 1, 1, 0, 1, 1])
    #expect(direct.map(\.priority) == [.high, .high, .high, .low, .low, .low])
    #expect(direct.map(\.command) == ["Write", "Write", "Write", nil, nil, nil])
    relay.gate.close(for: "queue")
    relay.dispatch(Write(number: 1))
    let queued = watcher.events.value.last!
    #expect(
      [queued.scope, queued.feature, queued.command]
        == [direct[0].scope, direct[0].feature, direct[0].command])
    #expect(queued.priority == direct[0].priority && queued.attempt == direct[0].attempt)
  }

  @Test func whileItRunsItIsSaidToRun() async {
    let relay = relay
    let statuses = Latched<[CommandStatus?]>([])
    let updates = Latched<[AsyncStream<CommandStatus>]>([])
    relay.observe(
      Watcher { event in
        guard let id = event.id else { return }
        let status = relay.status(of: id)
        let stream = relay.statusUpdates(of: id)
        statuses.update { $0.append(status) }
        updates.update { $0.append(stream) }
      })
    ledger.onWrite = { [relay] _ in #expect(relay.counts.running == 1) }
    relay.write(1)
    #expect(statuses.value == [.running, .running, .delivered])
    #expect(await all(updates.value[0]) == [.running, .delivered])
    #expect(await all(updates.value[1]) == [.running, .delivered])
    #expect(await all(updates.value[2]) == [.delivered])
  }

  @Test func whoFollowsOneHearsOfItsEndAlthoughNobodyLooksAnyMore() async {
    let relay = relay
    let updates = Latched<AsyncStream<CommandStatus>?>(nil)
    let observation = Latched<RelayObservation?>(nil)
    let mine = relay.observe(
      Watcher { event in
        guard let id = event.id, updates.value == nil else { return }
        let stream = relay.statusUpdates(of: id)
        updates.update { $0 = stream }
        observation.value?.cancel()
      })
    observation.update { $0 = mine }
    relay.write(1)
    #expect(await all(updates.value!) == [.running, .delivered])
    #expect(relay.write(2).outcome == .delivered)
    #expect(relay.counts.delivered == 2)
  }

  @Test func aFailureIsToldWithItsID() async {
    let watcher = Watcher()
    relay.observe(watcher)
    ledger.onWrite = { if $0 < 2 { throw Refusal() } }
    #expect(relay.write(0).outcome == .failed)
    #expect(relay.dispatch(Write(number: 1)).outcome == .failed)
    #expect(relay.write(2).outcome == .delivered)
    let failure = ["accepted", "started on Ledger", "failed: Refusal", "dropped: failed"]
    #expect(watcher.kinds == failure + failure + ["accepted", "started on Ledger", "delivered"])
    let ids = Array(Set(watcher.ids)).sorted { $0.description < $1.description }
    #expect(ids.map { relay.status(of: $0) } == [.dropped(.failed), .dropped(.failed), .delivered])
    #expect(relay.counts.delivered == 1 && relay.counts.dropped(.failed) == 2)
    #expect(relay.counts.isBalanced)
  }

  @Test func theLast1024AreRemembered() {
    let watcher = Watcher()
    relay.observe(watcher)
    ledger.onWrite = { if $0 == 0 { throw Refusal() } }
    for number in 0..<1_024 { relay.write(number) }
    #expect(relay.status(of: watcher.ids[0]) == .dropped(.failed))
    relay.write(1_024)
    #expect(relay.status(of: watcher.ids[0]) == nil)
    #expect(relay.status(of: watcher.ids.last!) == .delivered)
  }

  @Test func whatMayComeAgainKeepsItsID() {
    let watcher = Watcher()
    relay.observe(watcher)
    var fails = true
    ledger.onWrite = { _ in
      defer { fails = false }
      if fails { throw Refusal() }
    }
    #expect(relay.dispatch(WriteAgain(number: 1)).outcome == .delivered)
    #expect(Set(watcher.ids).count == 1)
    #expect(watcher.events.value.last?.attempt == 2)
  }

  @Test func anObserverMayDispatchToTheSameFeatureFromInside() {
    let relay = relay
    let left = Latched(6)
    let watcher = Watcher { event in
      guard event.id != nil,
        left.update({
          $0 -= 1; return $0
        }) >= 0
      else { return }
      relay.write(left.value)
    }
    relay.observe(watcher)
    relay.write(100)
    #expect(ledger.numbers.count == 7 && ledger.numbers[0] == 100)
    #expect(watcher.events.value.map(\.number) == Array(1...21))
    var running: CommandID?
    for event in watcher.events.value {
      switch event.kind {
      case .started:
        #expect(running == nil)
        running = event.id
      case .delivered:
        #expect(running == event.id)
        running = nil
      default: break
      }
    }
  }

  @Test func anObserverMayResetTheRelayFromInside() {
    let relay = relay
    for kind in ["accepted", "started on Ledger", "delivered"] {
      let ledger = Ledger()
      relay.register(ledger, for: LedgerFeature.self)
      let observation = relay.observe(
        Watcher { event in if event.kind.description == kind { relay.reset() } })
      #expect(relay.write(1).outcome == .delivered)
      #expect(ledger.numbers == [1])
      #expect(relay.isRegistered(LedgerFeature.self) == false)
      observation.cancel()
    }
    #expect(relay.counts.isBalanced)
  }

  @Test func anotherHandlerIsNamedFromThenOn() {
    final class Scroll: LedgerFeature { func write(_ number: Int) {} }
    let watcher = Watcher()
    relay.observe(watcher)
    relay.write(1)
    let scroll = Scroll()
    let registration = relay.register(scroll, for: LedgerFeature.self)
    relay.write(2)
    registration.cancel()
    relay.write(3)
    #expect(
      watcher.kinds.filter { $0.hasPrefix("started") }
        == ["started on Ledger", "started on Scroll", "started on Ledger"])
  }

  @Test func eventsOutliveTheRelay() async {
    let watcher = Watcher()
    var relay: Relay? = Relay(scope: "brief")
    let events = relay!.events
    relay!.observe(watcher)
    relay!.register(ledger, for: LedgerFeature.self)
    relay!.dispatch(Write(number: 1))
    relay = nil
    let read = await all(events)
    #expect(read.map(\.description) == watcher.events.value.map(\.description))
    #expect(read.count == 5 && read[1].description.hasPrefix("brief LedgerFeature Write"))
  }
}
