// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Testing

private struct Typed: RelayCommand {
  var number: Int
  func execute(on ledger: any LedgerFeature) throws { try ledger.write(number) }
}

@MainActor
struct RelaySnapshotTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "shop", configuration: try RelayConfiguration(clock: clock.relayClock))
  }

  @Test func aSnapshotSaysWhatTheRelayHolds() throws {
    let child = Relay(
      scope: "checkout", parent: relay,
      configuration: try RelayConfiguration(
        limit: 7, timeToLive: .unlimited, overflow: .dropNewest, clock: clock.relayClock))
    child.gate.close(for: "login")
    child.gate(for: LedgerFeature.self).close(for: "splash")
    child.register(ledger, for: LedgerFeature.self)
    child.register(Ledger(), for: LedgerFeature.self, ownership: .owned)
    child.write(1)
    clock.advance(by: .seconds(2))
    child.dispatch(Typed(number: 2), priority: .high, tags: ["a"])
    let snapshot = child.snapshot()
    #expect(snapshot.scope == "checkout" && snapshot.parent == "shop" && !snapshot.isClosed)
    #expect(snapshot.gateReasons == ["login"])
    let feature = try #require(snapshot.features.first)
    #expect(snapshot.features.count == 1)
    #expect(feature.registrations.map(\.isOwned) == [true, false])
    #expect(feature.registrations.map(\.handler) == ["Ledger", "Ledger"])
    #expect(feature.gateReasons == ["splash"] && !feature.isOpen)
    #expect(feature.limit == 7 && feature.timeToLive == .unlimited)
    #expect(feature.overflow == .dropNewest)
    #expect(feature.waiting.map(\.type) == ["Typed", nil])
    #expect(feature.waiting.map(\.age) == [.zero, .seconds(2)])
    #expect(feature.waiting.map(\.priority) == [.high, .normal])
    #expect(feature.waiting[0].tags == ["a"])
    #expect(feature.counts.waiting == 2)
    #expect(snapshot.counts.isBalanced)
  }

  @Test func aSnapshotShowsWhatRuns() async throws {
    let latch = Latch()
    relay.register(ledger, for: LedgerFeature.self)
    relay.dispatch(LedgerFeature.self, tags: ["t"]) { _ async in await latch.wait() }
    await latch.arrival()
    let running = try #require(relay.snapshot().features.first).running
    #expect(running.count == 1 && running[0].attempts == 1 && running[0].tags == ["t"])
    latch.open()
    await relay.waitUntilIdle()
  }

  @Test func insideADirectDeliveryTheCommandCountsAsRunning() {
    let relay = relay
    var inside: RelayCounts?
    ledger.onWrite = { _ in inside = relay.counts }
    relay.register(ledger, for: LedgerFeature.self)
    relay.write(1)
    #expect(inside?.running == 1 && inside?.accepted == 1 && inside?.delivered == 0)
    #expect(inside?.isBalanced == true)
    #expect(relay.counts.running == 0 && relay.counts.delivered == 1)
  }

  @Test func aSnapshotSurvivesBeingEncoded() async throws {
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(Ledger(), for: LedgerFeature.self)
    ledger.onWrite = { if $0 == 1 { throw Refusal() } }
    relay.write(1)
    relay.gate.close(for: "a")
    relay.write(2, tags: ["named", CommandTag()], unique: .keepLatest("k"))
    relay.show(3)
    relay.cancel(tagged: "nobody")
    let snapshot = relay.snapshot()
    let data = try JSONEncoder().encode(snapshot)
    #expect(try JSONDecoder().decode(RelaySnapshot.self, from: data) == snapshot)
    let counts = try JSONEncoder().encode(relay.counts)
    #expect(try JSONDecoder().decode(RelayCounts.self, from: counts) == relay.counts)
  }

  @Test func atMost1024WaitingCommandsAreListed() throws {
    let relay = Relay(scope: "long", configuration: try RelayConfiguration(limit: 5_000))
    for number in 0..<3_000 { relay.write(number) }
    let feature = relay.snapshot().features[0]
    #expect(feature.waiting.count == 1_024)
    #expect(feature.counts.waiting == 3_000)
    #expect(relay.dump().contains("… and 2980 more for"))
  }

  @Test func theBooksBalanceAfterEveryKindOfEnd() async throws {
    let relay = Relay(
      scope: "books", configuration: try RelayConfiguration(limit: 3, clock: clock.relayClock))
    func expectBalance(_ what: String) {
      #expect(relay.counts.isBalanced, "\(what): \(relay.counts)")
      for feature in relay.snapshot().features { #expect(feature.counts.isBalanced, "\(what)") }
    }
    for number in 0..<5 { relay.write(number) }
    expectBalance("overflow")
    relay.write(9, priority: .low)
    expectBalance("refused")
    relay.write(1, unique: .keepLatest("k"))
    relay.write(1, unique: .keepLatest("k"))
    expectBalance("coalesced")
    relay.write(1, unique: .keepFirst("k"))
    expectBalance("duplicate")
    relay.write(1, tags: ["t"])
    relay.cancel(tagged: "t")
    expectBalance("cancelled")
    relay.clearQueue()
    expectBalance("cleared")
    relay.write(1, timeToLive: .seconds(1))
    clock.advance(by: .seconds(1))
    await mainTurn()
    expectBalance("expired")
    var owner: Mirror? = Mirror()
    relay.dispatch(LedgerFeature.self, owner: owner!) { _, _ in }
    owner = nil
    ledger.onWrite = { if $0 == 13 { throw Refusal() } }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    expectBalance("owner gone")
    relay.write(13)
    relay.write(1)
    expectBalance("failed and delivered")
    let latch = Latch()
    relay.dispatch(LedgerFeature.self, executionLimit: .seconds(1)) { _ async in
      await latch.wait()
    }
    await latch.arrival()
    expectBalance("running")
    clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    expectBalance("timed out")
    relay.gate.close(for: "test")
    relay.write(1)
    relay.reset()
    expectBalance("reset")
    relay.write(1)
    relay.close()
    relay.write(1)
    expectBalance("closed")
    let counts = relay.counts
    let reasons: [DropReason] = [
      .overflow, .expired, .cancelled, .cleared, .failed, .timedOut, .coalesced, .ownerGone,
      .reset, .closed,
    ]
    for reason in reasons { #expect(counts.dropped(reason) > 0, "\(reason)") }
    #expect(counts.refusedFull == 1 && counts.refusedDuplicate == 1 && counts.refusedClosed == 1)
    #expect(counts.offered == counts.accepted + 3)
    #expect(counts.waiting == 0 && counts.running == 0 && owner == nil)
    latch.open()
  }

  @Test func countsAddUp() {
    relay.write(1)
    relay.clearQueue()
    relay.show(1)
    let (left, right) = (relay.counts(of: LedgerFeature.self), relay.counts(of: MirrorFeature.self))
    #expect(left + right == relay.counts)
    #expect((right + left).dropped(.cleared) == 1)
    #expect((left + right).waiting == 1)
  }

  @Test func aDumpIsATableForPeople() {
    relay.register(ledger, for: LedgerFeature.self)
    relay.register(Ledger(), for: LedgerFeature.self, ownership: .owned)
    relay.write(1)
    relay.gate(for: MirrorFeature.self).close(for: "splash")
    relay.show(2)
    relay.dispatch(Typed(number: 1), tags: ["a"])
    relay.gate.close(for: "login")
    relay.dispatch(Typed(number: 987_654), tags: ["a", "b"])
    let dump = relay.dump()
    let lines = dump.split(separator: "\n").map(String.init)
    #expect(lines[0] == "relay \"shop\"")
    #expect(lines[1] == "  gate: closed for login")
    #expect(lines[2].hasPrefix("  feature"))
    #expect(dump.contains("Ledger (owned) > Ledger"))
    #expect(dump.contains("closed for splash"))
    #expect(dump.contains("closed (relay)"))
    #expect(dump.contains("tags a, b"))
    #expect(!dump.contains("987654"), "payloads stay out")
    #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
    // Columns stand under each other.
    let column = lines[2].range(of: "time to live")!.lowerBound.utf16Offset(in: lines[2])
    for line in lines[3...4] {
      let value = line[line.index(line.startIndex, offsetBy: column)...]
      #expect(value.hasPrefix("300"), "\(line)")
    }
    relay.close()
    #expect(relay.dump().contains("\n  closed\n"))
  }

  @Test func aDumpOfAnUnusedRelayIsShort() {
    #expect(
      Relay(scope: "new", parent: relay).dump() == "relay \"new\", parent \"shop\"\n  gate: open")
  }
}
