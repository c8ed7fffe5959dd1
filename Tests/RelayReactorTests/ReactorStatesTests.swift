// SPDX-License-Identifier: MIT

import Observation
import RaceSupport
import Testing

@testable import RelayReactor

@MainActor
struct ReactorStatesTests {
  @Test(arguments: [false, true])
  func anObserverThatSendsSeesOldBeforeNewAndEndsOnTheCurrentOne(isElsewhere: Bool) async {
    for _ in 0..<1_000 {
      let reactor = LetterReactor()
      let states = reactor.states
      let observer =
        isElsewhere
        ? Task.detached { await follow(states, reactor) } : Task { await follow(states, reactor) }
      reactor.send(.add("A"))
      let seen = await observer.value
      #expect(seen == ["", "A", "AB"])
      #expect(seen.last == reactor.state.letters)
    }
  }

  @Test func everyWriteIsAStateAlsoForOneThatStartsLate() async {
    let reactor = LetterReactor()
    reactor.send(.write(3))
    await reactor.waitUntilIdle()
    let states = reactor.states
    reactor.send(.write(1_000))
    await reactor.waitUntilIdle()
    reactor.end()
    var seen: [Int] = []
    for await state in states { seen.append(state.count) }
    #expect(seen == Array(3...1_003))
  }

  @Test func severalFollowersSeeTheSameOrder() async {
    let reactor = LetterReactor()
    let streams = (0..<3).map { _ in reactor.states }
    reactor.send(.write(100))
    await reactor.waitUntilIdle()
    reactor.end()
    for stream in streams {
      var seen: [Int] = []
      for await state in stream { seen.append(state.count) }
      #expect(seen == Array(0...100))
    }
  }

  @Test func aSlowFollowerMayKeepOnlyTheNewest() async {
    let reactor = LetterReactor()
    let states = reactor.states(keepingNewest: 2)
    reactor.send(.write(100))
    await reactor.waitUntilIdle()
    reactor.end()
    var seen: [Int] = []
    for await state in states { seen.append(state.count) }
    #expect(seen == [99, 100])
  }

  @Test func statesAfterTheEndAreTheLastOne() async {
    let reactor = LetterReactor()
    reactor.send(.write(1))
    await reactor.waitUntilIdle()
    reactor.end()
    var seen: [Int] = []
    for await state in reactor.states { seen.append(state.count) }
    #expect(seen == [1])
  }

  @Test func aWriteOfWhoIsToldOfAWriteComesAfterIt() async {
    let reactor = LetterReactor()
    let states = reactor.states
    withObservationTracking {
      _ = reactor.letters
    } onChange: {
      MainActor.assumeIsolated { reactor.append("B") }
    }
    reactor.append("A")
    reactor.end()
    var seen: [String] = []
    for await state in states { seen.append(state.letters) }
    #expect(seen == ["", "A", "AB"])
  }

  @Test func whoStopsFollowingIsForgotten() async {
    let reactor = LetterReactor()
    for _ in 0..<100 {
      let states = reactor.states
      for await _ in states { break }
    }
    #expect(reactor.container.followerCount == 0)
    let kept = reactor.states
    #expect(reactor.container.followerCount == 1)
    reactor.end()
    #expect(reactor.container.followerCount == 0)
    withExtendedLifetime(kept) {}
  }

  @Test func aFollowerThatComesWhileTheLifeEndsElsewhereIsToldTheEnd() async {
    for _ in 0..<200 {
      let owner = Handover<ReactorOwner<LetterReactor>>()
      owner.current = ReactorOwner(wrappedValue: LetterReactor())
      let reactor = owner.current!.wrappedValue
      startThread { owner.current = nil }
      for await _ in reactor.states {}
      #expect(reactor.hasEnded)
    }
  }

  @Test func aWriteChangesAnArrayInItsPlace() async {
    let reactor = LetterReactor()
    reactor.send(.write(2))
    await reactor.waitUntilIdle()
    let before = reactor.addressOfNumbers()
    reactor.writeOnce()
    #expect(reactor.addressOfNumbers() == before)
  }
}

private func follow(_ states: AsyncStream<LetterReactor.State>, _ reactor: LetterReactor) async
  -> [String]
{
  var seen: [String] = []
  for await state in states {
    seen.append(state.letters)
    if state.letters == "A" { reactor.send(.add("B")) }
    if state.letters == "AB" { break }
  }
  return seen
}

private final class LetterReactor: Reactor {
  struct State {
    var letters = ""
    var count = 0
    var numbers: [Int] = Array(repeating: 0, count: 64)
  }
  enum Action { case add(String), write(Int) }

  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  func action(_ action: Action) async {
    switch action {
    case .add(let letter): state.letters += letter
    case .write(let count): for _ in 0..<count { state.count += 1 }
    }
  }

  func append(_ letter: String) { state.letters += letter }
  func writeOnce() { state.numbers[1] += 1 }

  func addressOfNumbers() -> UnsafeRawPointer? {
    state.numbers.withUnsafeBytes { $0.baseAddress }
  }
}
