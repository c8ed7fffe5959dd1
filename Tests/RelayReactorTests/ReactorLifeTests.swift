// SPDX-License-Identifier: MIT

import RaceSupport
import RelayReactor
import Testing

@MainActor
struct ReactorLifeTests {
  @Test(arguments: [true, false])
  func nothingFollowsAnActionThatResumesInTheTurnInWhichTheLifeEnds(endsFirst: Bool) async {
    for _ in 0..<1_000 {
      let probe = Probe()
      let reactor = ScreenReactor(probe)
      let run = reactor.send(.load)
      await probe.latch.arrival()
      let end = reactor.state
      if endsFirst { reactor.end() }
      probe.latch.open()
      if !endsFirst { reactor.end() }
      #expect(await run.finished() == .ended)
      #expect(probe.followUps == 0)
      #expect(probe.outcomes == [.ended, .ended])
      #expect(reactor.state == end)
    }
  }

  @Test func nothingFollowsAnActionWhoseReactorHasGone() async {
    let probe = Probe()
    var owner: ReactorOwner? = ReactorOwner(wrappedValue: ScreenReactor(probe))
    let states = owner!.wrappedValue.states
    let run = owner!.wrappedValue.send(.load)
    await probe.latch.arrival()
    probe.latch.open()
    owner = nil
    #expect(await run.finished() == .ended)
    #expect(probe.followUps == 0)
    var seen: [ScreenReactor.State] = []
    for await state in states { seen.append(state) }
    #expect(seen == [.init(), .init(isLoading: true)])
    await mainTurn()
    #expect(probe.deinits == 1)
  }

  @Test func anEndlessStreamEndsWithTheReactor() async {
    for _ in 0..<200 {
      let probe = Probe()
      let (stream, feed) = AsyncStream.makeStream(of: Int.self)
      let terminations = Tally()
      feed.onTermination = { _ in terminations.add() }
      var reactor: ScreenReactor? = ScreenReactor(probe)
      let run = reactor!.listen(to: stream)
      feed.yield(1)
      while reactor!.state.total == 0 { await mainTurn() }
      weak let gone = reactor
      reactor = nil
      #expect(gone == nil)
      #expect(probe.deinits == 1)
      feed.yield(2)
      #expect(await run.finished() == .ended)
      #expect(terminations.current == 1)
      #expect(probe.elements == 1)
    }
  }

  @Test func anElementThatIsOnItsWayIsNotTakenAfterTheEnd() async {
    let probe = Probe()
    let (stream, feed) = AsyncStream.makeStream(of: Int.self)
    var reactor: ScreenReactor? = ScreenReactor(probe)
    let run = reactor!.listen(to: stream)
    await mainTurn()
    feed.yield(1)
    reactor = nil
    await run.finished()
    #expect(probe.elements == 0)
    #expect(probe.deinits == 1)
  }

  @Test func anOwnersEndEndsAnEndlessAction() async {
    let probe = Probe()
    let (stream, feed) = AsyncStream.makeStream(of: Int.self)
    var owner: ReactorOwner? = ReactorOwner(wrappedValue: ScreenReactor(probe))
    let states = owner!.wrappedValue.states
    let run = owner!.wrappedValue.send(.listen(stream))
    feed.yield(1)
    while owner!.wrappedValue.state.total == 0 { await mainTurn() }
    owner = nil
    // The action's own loop may still find it on its way: that changes nothing.
    feed.yield(2)
    #expect(await run.finished() == .ended)
    var totals: [Int] = []
    for await state in states { totals.append(state.total) }
    #expect(totals == [0, 1])
    await mainTurn()
    #expect(probe.deinits == 1)
  }

  @Test func anOwnerThatDoesNotDefineTheLifeLeavesItAlone() async {
    let probe = Probe()
    let reactor = ScreenReactor(probe)
    var owner: ReactorOwner? = ReactorOwner(wrappedValue: reactor, definesLifecycle: false)
    #expect(owner!.wrappedValue === reactor)
    owner = nil
    #expect(!reactor.hasEnded)
  }

  @Test func anOwnerMayGoOnAnyThread() async {
    for _ in 0..<200 {
      let probe = Probe()
      let place = Handover<ReactorOwner<ScreenReactor>>()
      place.current = ReactorOwner(wrappedValue: ScreenReactor(probe))
      let run = place.current!.wrappedValue.send(.load)
      await probe.latch.arrival()
      startThread { place.current = nil }
      probe.latch.open()
      let outcome = await run.finished()
      #expect(outcome == .finished || outcome == .ended)
      if outcome == .ended { #expect(probe.followUps == 0) }
    }
  }

  @Test func anOwnerMakesItsReactorOnceAndWhenItIsNeeded() {
    let made = Tally()
    func make() -> ScreenReactor {
      made.add()
      return ScreenReactor(Probe())
    }
    let owner = ReactorOwner(wrappedValue: make())
    #expect(made.current == 0)
    #expect(owner.wrappedValue === owner.projectedValue.wrappedValue)
    #expect(made.current == 1)
  }

  @Test func theLastReferenceMayGoOnAnyThread() async {
    for _ in 0..<200 {
      let probe = Probe()
      let (stream, feed) = AsyncStream.makeStream(of: Int.self)
      let place = Handover<ScreenReactor>()
      let run: ActionRun
      do {
        let reactor = ScreenReactor(probe)
        run = reactor.listen(to: stream)
        place.current = reactor
      }
      await mainTurn()
      await besideMain { place.current = nil }
      feed.yield(1)
      #expect(await run.finished() == .ended)
      #expect(probe.elements == 0)
    }
  }

  @Test func whatWasSentDoesNotKeepTheReactorAlive() async {
    let clock = ManualClock()
    let probe = Probe()
    var reactor: ScreenReactor? = ScreenReactor(probe, clock: clock.reactorClock)
    let runs = [reactor!.send(.load), reactor!.send(.later)]
    reactor = nil
    #expect(probe.deinits == 1)
    for run in runs { #expect(await run.finished() == .ended) }
    clock.advance(by: .seconds(1))
    #expect(probe.followUps == 0)
  }

  @Test func everythingIsCancelledAtTheEndAndNothingStartsAfterIt() async {
    let latches = ["a": Latch(), "b": Latch()]
    let clock = ManualClock()
    let reactor = SearchReactor(latches, clock: clock.reactorClock) { action in
      switch action {
      case .search: .serial
      case .add: .concurrent.debounced(for: .seconds(1))
      default: .concurrent
      }
    }
    let listening = reactor.lifecycleTask { try await Task.sleep(for: .seconds(3_600)) }
    let runs = [reactor.send(.search("a")), reactor.send(.search("b")), reactor.send(.add)]
    await latches["a"]!.arrival()
    reactor.end()
    #expect(reactor.hasEnded)
    #expect(runs[1].outcome == .ended)
    #expect(runs[2].outcome == .ended)
    #expect(reactor.send(.add).outcome == .ended)
    reactor.send(.set(3))
    reactor.action(.set(4))
    latches["a"]!.open()
    #expect(await runs[0].finished() == .ended)
    #expect(await listening.finished() == .ended)
    clock.advance(by: .seconds(2))
    await reactor.waitUntilIdle()
    #expect(reactor.state == .init())
    #expect(reactor.failures.isEmpty)
  }

  @Test func aWaitForQuietEndsWithTheLife() async {
    let reactor = SearchReactor { _ in .serial }
    reactor.send(.add)
    let waiting = Task { await reactor.waitUntilIdle() }
    reactor.end()
    await waiting.value
    #expect(reactor.state.count == 0)
  }
}

/// What a reactor was seen to do, kept outside of it.
@MainActor
private final class Probe {
  let latch = Latch()
  var followUps = 0
  var elements = 0
  var outcomes: [ActionOutcome?] = []
  private let dead = Tally()
  nonisolated var deinits: Int { dead.current }
  nonisolated func countDeinit() { dead.add() }
}

private final class ScreenReactor: Reactor {
  struct State: Equatable {
    var isLoading = false
    var total = 0
  }

  enum Action: Sendable {
    case load, followUp, later
    case listen(AsyncStream<Int>)
  }

  let container: StateContainer<State>
  @ReactorState private(set) var state: State
  private let probe: Probe

  init(_ probe: Probe, clock: ReactorClock = .continuous) {
    container = StateContainer(State(), clock: clock)
    self.probe = probe
  }

  deinit { probe.countDeinit() }

  func policy(for action: Action) -> ActionPolicy {
    switch action {
    case .later: .concurrent.debounced(for: .milliseconds(10))
    default: .concurrent
    }
  }

  func listen(to stream: AsyncStream<Int>) -> ActionRun {
    lifecycleTask(each: stream) { reactor, number in
      reactor.probe.elements += 1
      reactor.state.total += number
    }
  }

  func action(_ action: Action) async {
    switch action {
    case .load:
      state.isLoading = true
      await probe.latch.wait()
      state.isLoading = false
      probe.outcomes.append(send(.followUp).outcome)
      probe.outcomes.append(lifecycleTask { [probe] in probe.followUps += 1 }.outcome)
    case .followUp, .later: probe.followUps += 1
    case .listen(let stream):
      for await number in stream {
        probe.elements += 1
        state.total += number
      }
    }
  }
}
