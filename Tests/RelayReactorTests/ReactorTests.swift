// SPDX-License-Identifier: MIT

import Observation
import RaceSupport
import RelayReactor
import Synchronization
import Testing

@MainActor
struct ReactorTests {
  @Test func anActionFromAButtonIsHandledInALaterTurn() async {
    let reactor = SearchReactor()
    let button: () -> Void = { reactor.action(.add) }
    button()
    #expect(reactor.state.count == 0)
    #expect(reactor.isRunning(.add))
    await reactor.waitUntilIdle()
    #expect(reactor.state.count == 1)
    #expect(reactor.count == 1)
  }

  @Test func aSynchronousActionIsHandledBeforeTheCallReturns() {
    let reactor = SearchReactor()
    reactor.action(.set(3))
    #expect(reactor.state.count == 3)
    reactor.send(.set(4))
    #expect(reactor.state.count == 4)
    reactor.action(.reset)
    #expect(reactor.state == .init())
  }

  @Test func aDirectCallIsAPartOfItsCaller() async throws {
    let reactor = SearchReactor { _ in .firstWins }
    try await reactor.action(.add)
    #expect(reactor.state.count == 1)
    #expect(!reactor.isRunning(.add))
  }

  @Test func theOrderOfSendsIsTheOrderOfStarts() async {
    let reactor = SearchReactor()
    for round in 0..<200 {
      switch round % 3 {
      case 0: reactor.send(.search("\(round)"))
      case 1: await besideMain { _ = reactor.send(.search("\(round)")) }
      default:
        await besideMain {
          reactor.send(.search("\(round)"))
          return
        }
      }
    }
    await reactor.waitUntilIdle()
    let starts = reactor.log.filter { $0.hasPrefix("start") }
    #expect(starts == (0..<200).map { "start \($0)" })
  }

  @Test func aSendFromMainDoesNotOvertakeAnEarlierOneFromElsewhere() async {
    for _ in 0..<1_000 {
      let reactor = SearchReactor()
      // Another thread has sent, and this turn of the main actor goes on.
      onAnotherThread {
        reactor.send(.search("first"))
        reactor.send(.set(1))
      }
      reactor.send(.set(2))
      reactor.send(.search("second"))
      #expect(reactor.log == ["set 1", "set 2"])
      await reactor.waitUntilIdle()
      #expect(
        reactor.log.filter { $0.hasPrefix("start") } == ["start first", "start second"])
    }
  }

  @Test func eachThreadsOrderHoldsAmongMany() async {
    let reactor = SearchReactor()
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<500 { reactor.send(.search("\(thread) \(number)")) }
        }
      }
    }
    await reactor.waitUntilIdle()
    for thread in 0..<4 {
      #expect(
        reactor.log.filter { $0.hasPrefix("start \(thread) ") }
          == (0..<500).map { "start \(thread) \($0)" })
    }
  }

  @Test func incrementsFromTwoSourcesAllCount() async {
    for policy in [ActionPolicy.concurrent, .serial] {
      let reactor = SearchReactor { _ in policy }
      await withTaskGroup { group in
        for _ in 0..<2 {
          group.addTask { for _ in 0..<5_000 { reactor.send(.add) } }
        }
      }
      await reactor.waitUntilIdle()
      #expect(reactor.state.count == 10_000)
    }
  }

  @Test func moreThanMayBeOnTheirWayToABusyMainActorAreRefused() async {
    let reactor = SearchReactor()
    let outcomes = Handover<[ActionOutcome?]>()
    // The main actor is busy: it stands here.
    onAnotherThread {
      outcomes.current = (0..<65_537).map { _ in reactor.send(.add).outcome }
    }
    #expect(outcomes.current?.last == .some(.refused))
    await reactor.waitUntilIdle()
    #expect(reactor.state.count == 65_536)
  }

  @Test func aReactorCanHaveObservablePropertiesOfItsOwn() async {
    let reactor = ObservedReactor()
    let changes = Tally()
    func look() {
      withObservationTracking {
        _ = (reactor.title, reactor.state.count)
      } onChange: {
        changes.add()
      }
    }
    look()
    reactor.title = "a"
    look()
    reactor.send(.increment)
    #expect(changes.current == 2)
  }

  @Test func anErrorGoesToTheHandler() async throws {
    let reactor = SearchReactor()
    let run = reactor.send(.fail(SomeError()))
    #expect(await run.finished() == .failed)
    let failure = try #require(reactor.failures.first)
    #expect(failure.error is SomeError)
    #expect(failure.id == "fail")
    #expect(!failure.wasCancelled)
    #expect(reactor.state.results == "failed")
  }

  @Test func aCancellationErrorOfOneThatWasNotCancelledIsAFailure() async {
    let reactor = SearchReactor()
    await reactor.send(.fail(CancellationError())).finished()
    #expect(reactor.failures.count == 1)
  }

  @Test func theErrorOfAnOvertakenOneIsToldAndChangesNothing() async {
    let latch = Latch()
    let reactor = LateFailureReactor(latch)
    reactor.send(.run(1))
    await latch.arrival()
    reactor.send(.run(2))
    latch.open()
    await reactor.waitUntilIdle()
    #expect(reactor.failures.map(\.wasCancelled) == [true])
    #expect(reactor.state.text == "2")
  }

  @Test func theErrorOfATaskGoesToTheHandler() async {
    let reactor = SearchReactor()
    let run = reactor.lifecycleTask(.lifecycle("listen")) { throw SomeError() }
    #expect(await run.finished() == .failed)
    #expect(reactor.failures.map(\.id) == ["listen"])
    #expect(reactor.failures.allSatisfy { $0.action == nil })
  }

  @Test func cancellingByIdLetsItTidyUp() async {
    let latches = ["load": Latch()]
    let reactor = SearchReactor(latches)
    let run = reactor.send(.load)
    await latches["load"]!.arrival()
    #expect(reactor.state.isLoading)
    reactor.cancel(.load)
    latches["load"]!.open()
    #expect(await run.finished() == .cancelled)
    #expect(reactor.state == .init())
    #expect(reactor.failures.isEmpty)
  }

  @Test func cancellingWithItsWritesSilencesIt() async {
    let latches = ["a": Latch()]
    let reactor = SearchReactor(latches) { _ in .serial("search") }
    let run = reactor.send(.search("a"))
    await latches["a"]!.arrival()
    reactor.cancel("search", discardingWrites: true)
    #expect(!reactor.isRunning("search"))
    latches["a"]!.open()
    #expect(await run.finished() == .overtaken)
    #expect(reactor.state.results == "")
  }

  @Test func anActionCancelledBeforeItsTurnDoesNotStart() async {
    let reactor = SearchReactor()
    let run = reactor.send(.add)
    run.cancel()
    #expect(await run.finished() == .cancelled)
    #expect(reactor.state.count == 0)
  }

  @Test func runsCanBeCancelledAndFollowedFromAnyThread() async {
    for _ in 0..<200 {
      let reactor = SearchReactor { _ in .serial }
      let runs = (0..<10).map { _ in reactor.send(.add) }
      let outcomes = await withTaskGroup(of: ActionOutcome.self) { group in
        for (index, run) in runs.enumerated() {
          group.addTask {
            if index % 2 == 0 { run.cancel() }
            return await run.finished()
          }
        }
        var outcomes: [ActionOutcome: Int] = [:]
        for await outcome in group { outcomes[outcome, default: 0] += 1 }
        return outcomes
      }
      // One that was cancelled after its turn has begun has done its work all the same.
      #expect(outcomes[.finished, default: 0] <= reactor.state.count)
      #expect(outcomes.values.reduce(0, +) == 10)
      #expect(outcomes[.finished, default: 0] >= 5)
    }
  }

  @Test func whatRunsCanBeObserved() async {
    let latches = ["load": Latch()]
    let reactor = SearchReactor(latches)
    let changes = Tally()
    func look() -> Bool {
      withObservationTracking {
        reactor.isRunning(.load)
      } onChange: {
        changes.add()
      }
    }
    #expect(!look())
    reactor.send(.add)
    await reactor.waitUntilIdle()
    #expect(changes.current == 0)
    reactor.send(.load)
    #expect(changes.current == 1)
    #expect(look())
    latches["load"]!.open()
    await reactor.waitUntilIdle()
    #expect(changes.current == 2)
    #expect(!look())
    reactor.send(.load)
    #expect(look())
    reactor.end()
    #expect(changes.current == 4)
    #expect(!look())
  }

  @Test func aPartOfTheStateIsObservedByItself() {
    let reactor = SearchReactor()
    let changes = Tally()
    func look() -> Int {
      withObservationTracking {
        reactor.count
      } onChange: {
        changes.add()
      }
    }
    #expect(look() == 0)
    reactor.write { $0.results = "other" }
    reactor.write { $0.count = 0 }
    #expect(changes.current == 0)
    reactor.send(.set(1))
    #expect(changes.current == 1)
    reactor.send(.set(2))
    #expect(changes.current == 1)
    #expect(look() == 2)
    reactor.send(.set(3))
    #expect(changes.current == 2)
  }

  @Test func aPartThatCannotBeComparedIsObservedWithTheWholeState() {
    let reactor = SearchReactor()
    let changes = Tally()
    withObservationTracking {
      _ = reactor.unit
    } onChange: {
      changes.add()
    }
    reactor.write { $0.results = "other" }
    #expect(changes.current == 1)
  }

  @Test func theStateCanBeObserved() async {
    let reactor = SearchReactor()
    let changes = Tally()
    withObservationTracking {
      _ = reactor.state.results
    } onChange: {
      changes.add()
    }
    reactor.send(.set(1))
    #expect(changes.current == 1)
  }

  @Test func sendsWithAnIdInFlightReplaceEachOther() async {
    let latches = ["a": Latch()]
    let reactor = SearchReactor(latches) { _ in .serial }
    let first = reactor.send(.search("a"), cancellation: .inFlight("page"))
    await latches["a"]!.arrival()
    let second = reactor.send(.search("b"), cancellation: .inFlight("page"))
    #expect(await second.finished() == .finished)
    latches["a"]!.open()
    #expect(await first.finished() == .overtaken)
    #expect(reactor.state.results == "b")
  }

  @Test func sendsBoundToTheLifeStandBesideEachOther() async {
    let latches = ["a": Latch(), "b": Latch()]
    let reactor = SearchReactor(latches) { _ in .firstWins }
    let runs = ["a", "b"].map { reactor.send(.search($0), cancellation: .lifecycle("feed")) }
    for query in ["a", "b"] { await latches[query]!.arrival() }
    // Idle means: without what is bound to the life.
    await reactor.waitUntilIdle()
    #expect(reactor.isRunning("feed"))
    reactor.cancel("feed")
    for query in ["a", "b"] { latches[query]!.open() }
    for run in runs { #expect(await run.finished() == .cancelled) }
  }

  @Test func aBindablePartOfTheStateCanBeWrittenFromOutside() {
    let reactor = FormReactor()
    reactor.editable.name = "a"
    #expect(reactor.state.form.name == "a")
    reactor.end()
    reactor.editable.name = "b"
    #expect(reactor.form.name == "a")
  }

  @Test func anActionIDIsTheNameOfTheCase() {
    #expect(ActionID(caseOf: SearchReactor.Action.search("secret")) == "search")
    #expect(ActionID(caseOf: SearchReactor.Action.add) == "add")
    #expect(ActionID(caseOf: "text") == "text")
  }

  @Test func actionsThatHopAreBackOnTheMainActorForEveryWrite() async {
    let reactor = HoppingReactor()
    for await state in reactor.states {
      MainActor.preconditionIsolated()
      if state.steps == 0 { reactor.send(.hop) }
      if state.steps == 3 { break }
    }
    #expect(reactor.state.steps == 3)
  }
}

private final class FormReactor: BindableReactor {
  struct State {
    struct Form { var name = "" }
    var form = Form()
  }
  static let editable: WritableKeyPath<State, State.Form> = \.form
  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  func action(_ action: Never) async {}
}

@Observable
private final class ObservedReactor: Reactor {
  struct State { var count = 0 }
  typealias Action = Never
  enum SyncAction { case increment }
  let container = StateContainer(State())
  @ObservationIgnored @ReactorState private(set) var state: State
  var title = ""
  func action(_ action: SyncAction) { state.count += 1 }
  func action(_ action: Never) async {}
}

private final class HoppingReactor: Reactor {
  struct State { var steps = 0 { didSet { MainActor.preconditionIsolated() } } }
  enum Action { case hop }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  func action(_ action: Action) async {
    state.steps += 1
    await elsewhere()
    state.steps += 1
    await elsewhere()
    state.steps += 1
  }

  @concurrent private nonisolated func elsewhere() async { await Task.yield() }
}

private final class LateFailureReactor: Reactor {
  struct State { var text = "" }
  enum Action { case run(Int) }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  private let latch: Latch
  private(set) var failures: [ActionFailure<Action>] = []

  init(_ latch: Latch) { self.latch = latch }

  func policy(for action: Action) -> ActionPolicy { .latestWins }

  func action(_ action: Action) async throws {
    if case .run(1) = action {
      await latch.wait()
      throw SomeError()
    }
    state.text = "2"
  }

  func handle(_ failure: ActionFailure<Action>) {
    failures.append(failure)
    state.text = "failed"
  }
}
