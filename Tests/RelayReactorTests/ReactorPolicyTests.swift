// SPDX-License-Identifier: MIT

import RaceSupport
import RelayReactor
import Testing

@MainActor
struct ReactorPolicyTests {
  typealias Policies = @MainActor (SearchReactor.Action) -> ActionPolicy

  @Test func theLatestWinsAndTheOvertakenOneWritesNothing() async {
    for _ in 0..<1_000 {
      let latches = ["a": Latch(), "ab": Latch()]
      let reactor = SearchReactor(latches) { _ in .latestWins }
      let first = reactor.send(.search("a"))
      await latches["a"]!.arrival()
      let second = reactor.send(.search("ab"))
      await latches["ab"]!.arrival()
      latches["ab"]!.open()
      #expect(await second.finished() == .finished)
      #expect(reactor.state.results == "ab")
      // It ignores that it was cancelled, and comes late.
      latches["a"]!.open()
      #expect(await first.finished() == .overtaken)
      #expect(reactor.state.results == "ab")
      #expect(reactor.log == ["start a", "start ab", "end ab", "end a, cancelled"])
    }
  }

  @Test func theLateOneWritesNothingWhileTheLatestStillRuns() async {
    let latches = ["a": Latch(), "ab": Latch()]
    let reactor = SearchReactor(latches) { _ in .latestWins }
    let first = reactor.send(.search("a"))
    await latches["a"]!.arrival()
    reactor.send(.search("ab"))
    await latches["ab"]!.arrival()
    latches["a"]!.open()
    await first.finished()
    #expect(reactor.state == .init())
    latches["ab"]!.open()
    await reactor.waitUntilIdle()
    #expect(reactor.state.results == "ab")
  }

  @Test func oneOvertakenBeforeItsTurnNeverStarts() async {
    let reactor = SearchReactor { _ in .latestWins("search") }
    let first = reactor.send(.search("a"))
    let second = reactor.send(.search("ab"))
    #expect(await second.finished() == .finished)
    #expect(await first.finished() == .overtaken)
    #expect(reactor.log == ["start ab", "end ab"])
  }

  @Test func anOvertakenOneSendsWithoutEffect() async {
    let latch = Latch()
    let reactor = FollowUpReactor(latch)
    reactor.send(.first)
    await latch.arrival()
    reactor.send(.second)
    latch.open()
    await reactor.waitUntilIdle()
    #expect(reactor.state.seen == ["second"])
    #expect(reactor.followUps == [.overtaken])
  }

  @Test func serialOnesWaitForEachOther() async {
    let latches = ["a": Latch(), "ab": Latch()]
    let reactor = SearchReactor(latches) { _ in .serial }
    reactor.send(.search("a"))
    reactor.send(.search("ab"))
    latches["ab"]!.open()
    await latches["a"]!.arrival()
    await mainTurn()
    #expect(reactor.log == ["start a"])
    latches["a"]!.open()
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start a", "end a", "start ab", "end ab"])
    #expect(reactor.state.results == "ab")
  }

  @Test func moreSerialOnesThanMayWaitAreRefused() async {
    let latches = ["a": Latch()]
    let reactor = SearchReactor(latches) { _ in .serial(nil, waitingLimit: 1) }
    reactor.send(.search("a"))
    let second = reactor.send(.search("b"))
    let third = reactor.send(.search("c"))
    #expect(third.outcome == .refused)
    latches["a"]!.open()
    #expect(await second.finished() == .finished)
    #expect(reactor.state.results == "b")
  }

  @Test func theFirstWinsAndOthersAreIgnoredUntilItHasEnded() async {
    let latches = ["a": Latch()]
    let reactor = SearchReactor(latches) { _ in .firstWins }
    reactor.send(.search("a"))
    #expect(reactor.send(.search("b")).outcome == .ignored)
    latches["a"]!.open()
    await reactor.waitUntilIdle()
    #expect(reactor.state.results == "a")
    await reactor.send(.search("c")).finished()
    #expect(reactor.log == ["start a", "end a", "start c", "end c"])
  }

  @Test func concurrentOnesRunBesideEachOther() async {
    let latches = ["a": Latch(), "b": Latch()]
    let reactor = SearchReactor(latches)
    reactor.send(.search("a"))
    reactor.send(.search("b"))
    await latches["a"]!.arrival()
    await latches["b"]!.arrival()
    latches["b"]!.open()
    latches["a"]!.open()
    await reactor.waitUntilIdle()
    #expect(reactor.log.prefix(2) == ["start a", "start b"])
    #expect(reactor.log.count == 4)
  }

  @Test func casesAndIdsKeepPoliciesApart() async {
    let latches = ["a": Latch(), "load": Latch()]
    let reactor = SearchReactor(latches) { action in
      switch action {
      case .search(let query): .latestWins("search-\(query)")
      default: .firstWins
      }
    }
    reactor.send(.search("a"))
    reactor.send(.search("b"))
    reactor.send(.load)
    #expect(reactor.isRunning("search-a") && reactor.isRunning("search-b"))
    #expect(reactor.isRunning(.load) && reactor.isRunning("load"))
    #expect(reactor.send(.load).outcome == .ignored)
    latches["a"]!.open()
    latches["load"]!.open()
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start a", "start b", "end b", "end a"])
  }
}

// MARK: On the clock

extension ReactorPolicyTests {
  private static let debounced: Policies = { _ in
    .latestWins("search").debounced(for: .milliseconds(300))
  }

  @Test func aDebounceLetsTheLastOneGoWhenItIsQuiet() async {
    let clock = ManualClock()
    let reactor = SearchReactor(clock: clock.reactorClock, policies: Self.debounced)
    for query in ["a", "ab", "abc"] {
      reactor.send(.search(query))
      clock.advance(by: .milliseconds(200))
      await reactor.waitUntilIdle()
    }
    #expect(reactor.log.isEmpty)
    #expect(reactor.heldCount == 1)
    clock.advance(by: .milliseconds(99))
    await reactor.waitUntilIdle()
    #expect(reactor.log.isEmpty)
    clock.advance(by: .milliseconds(1))
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start abc", "end abc"])
    #expect(reactor.heldCount == 0)
    #expect(clock.plannedCount == 0)
  }

  @Test func aDebouncedOneThatIsCancelledNeverStarts() async {
    let clock = ManualClock()
    let reactor = SearchReactor(clock: clock.reactorClock) { _ in
      .concurrent.debounced(for: .milliseconds(300))
    }
    let run = reactor.send(.load)
    clock.advance(by: .milliseconds(50))
    reactor.cancel(.load)
    #expect(run.outcome == .cancelled)
    clock.advance(by: .seconds(1))
    await reactor.waitUntilIdle()
    #expect(reactor.state == .init())
    #expect(!reactor.isRunning(.load))
    #expect(reactor.failures.isEmpty)
  }

  @Test func aDebouncedOneCanBeCancelledByItsRun() async {
    let clock = ManualClock()
    let reactor = SearchReactor(clock: clock.reactorClock, policies: Self.debounced)
    let run = reactor.send(.search("a"))
    run.cancel()
    #expect(await run.finished() == .cancelled)
    clock.advance(by: .seconds(1))
    await reactor.waitUntilIdle()
    #expect(reactor.log.isEmpty)
  }

  @Test func oneIsStillOvertakenWhileItRunsAfterItsDebounce() async {
    let clock = ManualClock()
    let latches = ["a": Latch()]
    let reactor = SearchReactor(latches, clock: clock.reactorClock, policies: Self.debounced)
    let first = reactor.send(.search("a"))
    clock.advance(by: .milliseconds(300))
    await latches["a"]!.arrival()
    reactor.send(.search("ab"))
    #expect(first.outcome == nil)
    clock.advance(by: .milliseconds(300))
    // The first one ends after the second has begun and ended.
    await mainTurn()
    while !reactor.log.contains("end ab") { await mainTurn() }
    latches["a"]!.open()
    #expect(await first.finished() == .overtaken)
    #expect(reactor.state.results == "ab")
  }

  @Test func aThrottleLetsTheFirstOneGoAndThenTheLatest() async {
    let clock = ManualClock()
    let reactor = SearchReactor(clock: clock.reactorClock) { _ in
      .concurrent.throttled(to: .seconds(1))
    }
    for query in ["a", "b", "c"] { reactor.send(.search(query)) }
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start a", "end a"])
    clock.advance(by: .seconds(1))
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start a", "end a", "start c", "end c"])
    #expect(reactor.send(.search("d")).outcome == nil)
    clock.advance(by: .milliseconds(999))
    await reactor.waitUntilIdle()
    #expect(reactor.log.last == "end c")
    clock.advance(by: .milliseconds(1))
    await reactor.waitUntilIdle()
    #expect(reactor.log.last == "end d")
    clock.advance(by: .seconds(1))
    await reactor.waitUntilIdle()
    #expect(clock.plannedCount == 0)
  }

  @Test func aThrottleThatKeepsNothingIgnoresWhatComesTooEarly() async {
    let clock = ManualClock()
    let reactor = SearchReactor(clock: clock.reactorClock) { _ in
      .concurrent.throttled(to: .seconds(1), keepingLatest: false)
    }
    reactor.send(.search("a"))
    #expect(reactor.send(.search("b")).outcome == .ignored)
    clock.advance(by: .seconds(1))
    await reactor.waitUntilIdle()
    reactor.send(.search("c"))
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start a", "end a", "start c", "end c"])
  }
}

/// An action that goes on by sending another one.
private final class FollowUpReactor: Reactor {
  struct State { var seen: [String] = [] }
  enum Action { case first, second, followUp }

  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  private let latch: Latch
  private(set) var followUps: [ActionOutcome?] = []

  init(_ latch: Latch) { self.latch = latch }

  func policy(for action: Action) -> ActionPolicy {
    switch action {
    case .first, .second: .latestWins("one")
    case .followUp: .concurrent
    }
  }

  func action(_ action: Action) async {
    switch action {
    case .first:
      await latch.wait()
      followUps.append(send(.followUp).outcome)
      state.seen.append("first")
    case .second: state.seen.append("second")
    case .followUp: state.seen.append("follow-up")
    }
  }
}
