// SPDX-License-Identifier: MIT

import RaceSupport
import RelayReactor
import Testing

/// What is left of actions that have ended: nothing.
@MainActor
struct ReactorMemoryTests {
  @Test(arguments: [
    ActionPolicy.concurrent, .serial, .latestWins, .firstWins, .concurrent("an id"),
    .latestWins.debounced(for: .milliseconds(1)), .serial.throttled(to: .milliseconds(1)),
  ])
  func nothingIsKeptOfAnActionThatHasEnded(policy: ActionPolicy) async {
    let clock = ManualClock()
    let live = Live()
    let reactor = PayloadReactor(clock: clock.reactorClock, policy)
    weak var last: ActionRun?
    for _ in 0..<100 {
      for _ in 0..<10 { last = reactor.send(.take(Payload(live))) }
      clock.advance(by: .milliseconds(2))
      await reactor.waitUntilIdle()
    }
    clock.advance(by: .milliseconds(2))
    await reactor.waitUntilIdle()
    // The last task is let go of by the turn after the one that said it was idle.
    await mainTurn()
    await mainTurn()
    #expect(reactor.state.taken > 0)
    #expect(live.count.current == 0, "\(policy)")
    #expect(last == nil)
    #expect(clock.plannedCount == 0)
  }

  private struct Failure: Error {}

  @Test func nothingIsKeptOfATaskThatHasEnded() async {
    let live = Live()
    let latch = Latch()
    let reactor = PayloadReactor(.concurrent)
    var runs: [ActionRun] = []
    for number in 0..<30 {
      let payload = Payload(live)
      runs.append(
        reactor.lifecycleTask { @MainActor in
          defer { withExtendedLifetime(payload) {} }
          if number % 3 == 1 { throw Failure() }
          if number % 3 == 2 { await latch.wait() }
        })
    }
    await latch.arrival(10)
    for run in runs { run.cancel() }
    latch.open()
    for run in runs { _ = await run.finished() }
    await mainTurn()
    await mainTurn()
    #expect(live.count.current == 0)
    weak let last = runs.last
    runs = []
    #expect(last == nil)
  }

  @Test func whoKeepsARunDoesNotKeepItsAction() async {
    let live = Live()
    let reactor = PayloadReactor(.concurrent)
    let run = reactor.send(.take(Payload(live)))
    await run.finished()
    await mainTurn()
    #expect(live.count.current == 0)
    #expect(run.outcome == .finished)
  }

  @Test func whoKeepsARunDoesNotKeepTheReactor() async {
    var reactor: PayloadReactor? = PayloadReactor(.serial)
    weak let gone = reactor
    let run = reactor!.send(.take(Payload(Live())))
    await run.finished()
    await mainTurn()
    reactor = nil
    #expect(gone == nil)
    #expect(run.outcome == .finished)
  }
}

/// How many payloads there are.
final class Live: Sendable {
  let count = Tally()
}

final class Payload: Sendable {
  private let live: Live

  init(_ live: Live) {
    self.live = live
    live.count.add()
  }

  deinit { live.count.add(-1) }
}

private final class PayloadReactor: Reactor {
  struct State { var taken = 0 }
  enum Action { case take(Payload) }

  let container: StateContainer<State>
  @ReactorState private(set) var state: State
  private let givenPolicy: ActionPolicy

  init(clock: ReactorClock = .continuous, _ policy: ActionPolicy) {
    container = StateContainer(State(), clock: clock)
    givenPolicy = policy
  }

  func policy(for action: Action) -> ActionPolicy { givenPolicy }
  func action(_ action: Action) async { state.taken += 1 }
}
