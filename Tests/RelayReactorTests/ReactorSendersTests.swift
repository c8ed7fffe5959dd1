// SPDX-License-Identifier: MIT

import Observation
import RaceSupport
import Testing

@testable import RelayReactor

/// Whose a send is, whatever carries it to the main actor.
@MainActor
struct ReactorSendersTests {
  @Test func whatOneSendsIsNotSilencedWithAnotherWhoSentBefore() async {
    let latch = Latch()
    let reactor = SearchReactor(["first": latch]) { _ in .latestWins("search") }
    let first = reactor.send(.search("first"))
    await latch.arrival()
    // The first search asks for a turn of the main actor, and is overtaken before it comes.
    onAnotherThread {
      ActionRun.$current.withValue(first) { reactor.send(.set(1)) }
    }
    reactor.send(.search("second"))
    onAnotherThread { reactor.send(.set(2)) }
    await mainTurn()
    #expect(reactor.state.count == 2)
    latch.open()
    #expect(await first.finished() == .overtaken)
    await reactor.waitUntilIdle()
  }

  @Test func whatAnOvertakenActionSentFromElsewhereWritesNothing() async {
    let latch = Latch()
    let reactor = SearchReactor(["first": latch]) { _ in .latestWins("search") }
    let first = reactor.send(.search("first"))
    await latch.arrival()
    first.stop(.overtaken, silencing: false)
    onAnotherThread { ActionRun.$current.withValue(first) { reactor.send(.set(1)) } }
    first.stop(.overtaken, silencing: true)
    await mainTurn()
    #expect(reactor.state.count == 0)
    latch.open()
    await reactor.waitUntilIdle()
  }

  @Test func tasksOfDifferentPrioritiesStartInTheOrderOfTheirSends() async {
    let reactor = SearchReactor()
    for number in 0..<100 {
      _ = await Task.detached(priority: number.isMultiple(of: 2) ? .background : .high) {
        reactor.send(.search("\(number)"))
      }.value
    }
    await reactor.waitUntilIdle()
    #expect(
      reactor.log.filter { $0.hasPrefix("start") } == (0..<100).map { "start \($0)" })
  }

  @Test(arguments: [true, false])
  func aChildTaskIsTheActionsOwnAndADetachedOneIsNot(isDetached: Bool) async {
    let latch = Latch()
    let reactor = ChildReactor(latch, isDetached: isDetached)
    let first = reactor.send(.write(1))
    await latch.arrival()
    reactor.send(.none)
    #expect(await first.finished() == .overtaken)
    latch.open()
    await reactor.child?.value
    #expect(reactor.state.number == (isDetached ? 1 : 0))
  }

  @Test func whoObservesIsToldOnTheMainActor() async {
    let reactor = SearchReactor()
    let told = Tally()
    withObservationTracking {
      _ = reactor.state.count
    } onChange: {
      MainActor.preconditionIsolated()
      told.add()
    }
    await besideMain {
      reactor.send(.add)
      return
    }
    await reactor.waitUntilIdle()
    #expect(told.current == 1)
  }
}

/// Writes from a task that an action starts.
private final class ChildReactor: Reactor {
  struct State { var number = 0 }
  enum Action { case write(Int), none }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  private(set) var child: Task<Void, Never>?
  private let latch: Latch
  private let isDetached: Bool

  init(_ latch: Latch, isDetached: Bool) {
    self.latch = latch
    self.isDetached = isDetached
  }

  func policy(for action: Action) -> ActionPolicy { .latestWins("write") }

  func action(_ action: Action) async {
    guard case .write(let number) = action else { return }
    let write: @MainActor @Sendable () async -> Void = { [self] in
      await latch.wait()
      state.number = number
    }
    child = isDetached ? Task.detached { await write() } : Task { await write() }
    // It hears that it was overtaken before it ends.
    while !Task.isCancelled { await Task.yield() }
  }
}
