// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import RelayReactor
import Testing

// The code of README.md and of the articles of RelayReactor.docc.

@MainActor
struct ReactorDocumentationTests {
  @Test func readingAndSending() async {
    let counter = CounterReactor()
    let onTheMainActor: () -> Void = {
      let counter = CounterReactor()
      counter.action(.increment)  // synchronous: handled when the call returns
      print(counter.count)  // 1, the same as counter.state.count
      counter.action(.save)  // asynchronous: handled from the next turn on
      print(counter.isRunning(.save))  // true
      #expect(counter.count == 1)
      #expect(counter.isRunning(.save))
    }
    onTheMainActor()
    await refresh(counter)
    #expect(counter.state == CounterReactor.State())
    counter.send(.increment)

    var seen: [Int] = []
    for await state in counter.states {
      seen.append(state.count)
      if state.count < 3 { counter.send(.increment) } else { break }
    }
    print(seen)  // [1, 2, 3]
    #expect(seen == [1, 2, 3])
  }

  func refresh(_ counter: CounterReactor) async {
    let run = counter.send(.save)
    print(await run.finished())  // finished
    await counter.waitUntilIdle()  // for all that was sent
  }

  @Test func errors() async {
    let reactor = FailingReactor()
    await reactor.send(.fail).finished()
    #expect(reactor.message == "That did not work.")
  }

  @Test func lateAnswers() async {
    let reactor = NewsReactor()
    let first = reactor.send(.search("a"))
    let second = reactor.send(.search("ab"))
    print(await second.finished())  // finished
    print(await first.finished())  // overtaken
    print(reactor.results)  // results for ab

    #expect(first.outcome == .overtaken)
    #expect(reactor.results == "results for ab")
  }

  @Test func cancelling() async {
    let reactor = NewsReactor()
    reactor.cancel("search")
    print(reactor.isRunning("search"))
    #expect(!reactor.isRunning("search"))

    reactor.send(.search("swift"), cancellation: .inFlight("preview"))
    reactor.send(.search("news"), cancellation: .lifecycle("feed"))
    reactor.cancel("feed")
    await reactor.waitUntilIdle()
    #expect(reactor.results == "results for swift")
  }

  @Test func policies() {
    let reactor = PolicyReactor()
    #expect(reactor.policy(for: .vote) == .serial)
    #expect(reactor.policy(for: .search) != .latestWins("search"))
  }

  @Test func owning() {
    let screen = PriceScreen()
    #expect(screen.ticker === screen.ticker)
    #expect(screen.ticker.price == nil)
  }

  @Test func listening() async {
    let (prices, feed) = AsyncStream.makeStream(of: Int.self)
    let ticker = TickerReactor(prices: prices)
    feed.yield(7)
    for await state in ticker.states where state.price == 7 { break }
    #expect(ticker.price == 7)
  }

  @Test func oneShotEffects() async {
    let relay = Relay(scope: "editor")
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    let reactor = EditorReactor(relay: relay)
    await reactor.send(.save).finished()
    #expect(presenter.shown == ["Saved"])
  }
}

private protocol ToastFeature: RelayFeature { func show(_ message: String) }

private final class ToastPresenter: ToastFeature {
  private(set) var shown: [String] = []
  func show(_ message: String) { shown.append(message) }
}

@MainActor private func upload(_ count: Int) async throws { await Task.yield() }

final class CounterReactor: Reactor {
  struct State: Equatable {
    var count = 0
    var isSaving = false
  }
  enum Action { case save }
  enum SyncAction { case increment }

  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  func action(_ action: SyncAction) {
    switch action {
    case .increment: state.count += 1
    }
  }

  func action(_ action: Action) async throws {
    switch action {
    case .save:
      state.isSaving = true
      defer { state.isSaving = false }
      try await upload(state.count)
    }
  }
}

private final class FailingReactor: Reactor {
  struct State { var message = "" }
  enum Action { case fail }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  func action(_ action: Action) async throws { throw SomeError() }

  func handle(_ failure: ActionFailure<Action>) {
    guard !failure.wasCancelled else { return }
    state.message = "That did not work."
  }
}

private final class NewsReactor: Reactor {
  struct State { var results = "" }
  enum Action { case search(String) }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  func policy(for action: Action) -> ActionPolicy { .latestWins }

  func action(_ action: Action) async {
    switch action {
    case .search(let query): state.results = "results for \(query)"
    }
  }
}

private final class PolicyReactor: Reactor {
  struct State {}
  enum Action { case search, loadMore, vote, scrolled }
  let container = StateContainer(State(), clock: ReactorClock(ContinuousClock()))
  @ReactorState private(set) var state: State

  func policy(for action: Action) -> ActionPolicy {
    switch action {
    case .search: .latestWins("search").debounced(for: .milliseconds(300))
    case .loadMore: .firstWins
    case .vote: .serial
    case .scrolled: .concurrent.throttled(to: .seconds(1))
    }
  }

  func action(_ action: Action) async {}
}

final class TickerReactor: Reactor {
  struct State { var price: Int? }
  let container = StateContainer(State())
  @ReactorState private(set) var state: State

  init(prices: AsyncStream<Int>) {
    lifecycleTask(each: prices) { reactor, price in reactor.state.price = price }
  }

  func action(_ action: Never) async {}
}

@MainActor
final class PriceScreen {
  @ReactorOwner var ticker = TickerReactor(prices: .makeStream().stream)
}

// Elsewhere in the tests there is one of the same name.
extension ReactorDocumentationTests {
  final class EditorReactor: Reactor {
    struct State { var isSaved = false }
    enum Action { case save }

    let container = StateContainer(State())
    @ReactorState private(set) var state: State
    private let relay: Relay

    init(relay: Relay) { self.relay = relay }

    func action(_ action: Action) async {
      switch action {
      case .save:
        state.isSaved = true  // seen for as long as it is true
        relay.dispatch(ToastFeature.self) { $0.show("Saved") }  // happens once
      }
    }
  }
}
