// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

@MainActor
struct CommandStatusUpdatesTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "status", configuration: try RelayConfiguration(clock: clock.relayClock))
  }

  private func all(_ updates: AsyncStream<CommandStatus>) async -> [CommandStatus] {
    var all: [CommandStatus] = []
    for await status in updates { all.append(status) }
    return all
  }

  @Test func aCommandGoesFromWaitingThroughRunningToItsEnd() async {
    let id = relay.write(1).id!
    let updates = relay.statusUpdates(of: id)
    #expect(relay.status(of: id) == .waiting)
    relay.register(ledger, for: LedgerFeature.self)
    ledger.onWrite = { [relay] _ in #expect(relay.status(of: id) == .running) }
    await relay.waitUntilIdle()
    #expect(relay.status(of: id) == .delivered)
    #expect(await all(updates) == [.waiting, .running, .delivered])
  }

  @Test func severalWatchersSeeTheSame() async {
    let id = relay.write(1).id!
    let streams = (0..<3).map { _ in relay.statusUpdates(of: id) }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    for stream in streams { #expect(await all(stream) == [.waiting, .running, .delivered]) }
  }

  @Test func everyKindOfEndIsTold() async throws {
    let relay = Relay(
      scope: "ends", configuration: try RelayConfiguration(limit: 1, clock: clock.relayClock))
    func ending(_ end: () -> Void) async -> [CommandStatus] {
      relay.clearQueue()
      let id = relay.write(1, tags: ["t"], timeToLive: .seconds(5), unique: .keepLatest("k")).id!
      let updates = relay.statusUpdates(of: id)
      end()
      await mainTurn()
      return await all(updates)
    }
    #expect(await ending { relay.write(2) } == [.waiting, .dropped(.overflow)])
    #expect(await ending { relay.cancel(tagged: "t") } == [.waiting, .dropped(.cancelled)])
    #expect(await ending { relay.clearQueue() } == [.waiting, .dropped(.cleared)])
    #expect(
      await ending { relay.write(2, unique: .keepLatest("k")) }
        == [.waiting, .dropped(.coalesced)])
    #expect(await ending { clock.advance(by: .seconds(5)) } == [.waiting, .dropped(.expired)])
    #expect(await ending { relay.reset() } == [.waiting, .dropped(.reset)])
    #expect(await ending { relay.close() } == [.waiting, .dropped(.closed)])
    #expect(relay.counts.isBalanced)
  }

  @Test func aRetryShowsAsWaitingAgain() async {
    struct Again: RelayCommand {
      static let policy = CommandPolicy(retry: .later(.constant(.seconds(1), attempts: 2)))
      func execute(on ledger: any LedgerFeature) throws { try ledger.write(1) }
    }
    ledger.onWrite = { _ in throw Refusal() }
    let id = relay.dispatch(Again()).id!
    let updates = relay.statusUpdates(of: id)
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    clock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    #expect(await all(updates) == [.waiting, .running, .waiting, .running, .dropped(.failed)])
  }

  @Test func aCommandThatHasEndedHasOneStatus() async {
    let id = relay.write(1).id!
    relay.clearQueue()
    #expect(await all(relay.statusUpdates(of: id)) == [.dropped(.cleared)])
  }

  @Test func theLast1024EndsOfAFeatureAreRemembered() async {
    let first = relay.write(0).id!
    relay.clearQueue()
    for number in 0..<1_023 {
      relay.write(number)
      relay.clearQueue()
    }
    #expect(relay.status(of: first) == .dropped(.cleared))
    relay.show(0)
    relay.clearQueue()
    #expect(relay.status(of: first) == .dropped(.cleared))
    relay.write(0)
    relay.clearQueue()
    #expect(relay.status(of: first) == nil)
    #expect(await all(relay.statusUpdates(of: first)) == [])
  }

  @Test func anotherRelaysCommandIsUnknown() async {
    let other = Relay(scope: "other")
    let id = other.write(1).id!
    relay.write(1)
    #expect(relay.status(of: id) == nil)
    #expect(!relay.cancel(id))
    #expect(await all(relay.statusUpdates(of: id)) == [])
    #expect(other.status(of: id) == .waiting)
  }

  @Test func aPlaceThatIsUsedAgainIsAnotherCommand() {
    let first = relay.write(1).id!
    relay.clearQueue()
    let second = relay.write(2).id!
    #expect(first != second)
    #expect(relay.status(of: first) == .dropped(.cleared))
    #expect(relay.status(of: second) == .waiting)
  }

  @Test func cancellingByIdEndsThatCommandOnly() async {
    let ids = (1...3).map { relay.write($0).id! }
    #expect(relay.cancel(ids[1]))
    #expect(!relay.cancel(ids[1]))
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 3])
    #expect(!relay.cancel(ids[0]))
  }

  @Test func aWatcherThatGoesLeavesTheOthers() async {
    let id = relay.write(1).id!
    var brief: AsyncStream<CommandStatus>? = relay.statusUpdates(of: id)
    let kept = relay.statusUpdates(of: id)
    brief = nil
    relay.clearQueue()
    #expect(await all(kept) == [.waiting, .dropped(.cleared)] && brief == nil)
  }

  @Test func theStreamEndsWithTheRelay() async {
    var brief: Relay? = Relay(scope: "brief")
    let id = brief!.write(1).id!
    let updates = brief!.statusUpdates(of: id)
    brief = nil
    #expect(await all(updates) == [.waiting, .dropped(.closed)] && brief == nil)
  }

  @Test func aCommandThatClosesItsRelayStillTellsItsEnd() async {
    let relay = relay
    let id = relay.write(1).id!
    let updates = relay.statusUpdates(of: id)
    ledger.onWrite = { _ in relay.close() }
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    #expect(await all(updates) == [.waiting, .running, .delivered])
  }

  @Test func statusesSayWhetherTheyAreFinal() {
    #expect(!CommandStatus.waiting.isFinal && !CommandStatus.running.isFinal)
    #expect(CommandStatus.delivered.isFinal && CommandStatus.dropped(.expired).isFinal)
    #expect(CommandStatus.dropped(.timedOut).description == "dropped (timed out)")
  }
}
