// SPDX-License-Identifier: MIT

import RaceSupport
import RelayReactor
import Testing

@MainActor
struct ReactorTasksTests {
  @Test func aTaskInFlightReplacesTheOneBeforeWhichWritesNothingMore() async {
    let latch = Latch()
    let reactor = ListReactor()
    let first = reactor.load("a", .inFlight("load"), after: latch)
    await latch.arrival()
    let second = reactor.load("b", .inFlight("load"))
    #expect(await second.finished() == .finished)
    latch.open()
    #expect(await first.finished() == .overtaken)
    #expect(reactor.items == ["b"])
  }

  @Test func tasksBoundToTheLifeStandBesideEachOther() async {
    let latch = Latch()
    let reactor = ListReactor()
    let runs = ["a", "b"].map { reactor.load($0, .lifecycle("load"), after: latch) }
    await latch.arrival(2)
    #expect(reactor.isRunning("load"))
    latch.open()
    for run in runs { #expect(await run.finished() == .finished) }
    #expect(Set(reactor.items) == ["a", "b"])
    #expect(!reactor.isRunning("load"))
  }

  @Test func aTaskAndAnActionOfOneIdReplaceEachOther() async {
    let latch = Latch()
    let reactor = ListReactor()
    let task = reactor.load("a", .inFlight("load"), after: latch)
    await latch.arrival()
    #expect(await reactor.send(.load("b")).finished() == .finished)
    latch.open()
    #expect(await task.finished() == .overtaken)
    #expect(reactor.items == ["b"])
  }

  @Test func aTaskCanBeCancelledByItsRunOrItsId() async {
    let latch = Latch()
    let reactor = ListReactor()
    let runs = [
      reactor.load("a", .lifecycle("one"), after: latch),
      reactor.load("b", .lifecycle("two"), after: latch),
    ]
    await latch.arrival(2)
    runs[0].cancel()
    reactor.cancel("two", discardingWrites: true)
    latch.open()
    #expect(await runs[0].finished() == .cancelled)
    #expect(await runs[1].finished() == .overtaken)
    // Who was only cancelled may still write.
    #expect(reactor.items == ["a"])
  }

  @Test func elementsComeOneAfterTheOther() async {
    let reactor = ListReactor()
    let (stream, feed) = AsyncStream.makeStream(of: String.self)
    let run = reactor.follow(stream)
    for number in 1...100 { feed.yield("\(number)") }
    feed.finish()
    #expect(await run.finished() == .finished)
    #expect(reactor.items == (1...100).map { "\($0)" })
  }

  @Test func theErrorOfASequenceGoesToTheHandler() async {
    let reactor = ListReactor()
    let (stream, feed) = AsyncThrowingStream.makeStream(of: String.self)
    let run = reactor.follow(stream)
    feed.finish(throwing: SomeError())
    #expect(await run.finished() == .failed)
    #expect(reactor.failures.count == 1)
  }

  @Test func anIdleReactorMayListen() async {
    let reactor = ListReactor()
    let (stream, feed) = AsyncStream.makeStream(of: String.self)
    let run = reactor.follow(stream)
    await reactor.waitUntilIdle()
    #expect(run.outcome == nil)
    feed.finish()
    await run.finished()
  }
}

private final class ListReactor: Reactor {
  struct State { var items: [String] = [] }
  enum Action: Sendable { case load(String) }

  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  private(set) var failures: [ActionFailure<Action>] = []

  func policy(for action: Action) -> ActionPolicy { .latestWins }

  func action(_ action: Action) async {
    switch action {
    case .load(let item): state.items.append(item)
    }
  }

  func handle(_ failure: ActionFailure<Action>) { failures.append(failure) }

  func load(_ item: String, _ id: CancellationID, after latch: Latch? = nil) -> ActionRun {
    lifecycleTask(id) { [weak self] in
      await latch?.wait()
      self?.state.items.append(item)
    }
  }

  func follow<Items: AsyncSequence>(_ items: Items) -> ActionRun where Items.Element == String {
    lifecycleTask(each: items) { reactor, item in reactor.state.items.append(item) }
  }
}
