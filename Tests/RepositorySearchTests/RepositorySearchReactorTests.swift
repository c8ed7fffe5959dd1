// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import RelayReactor
import Testing

@testable import RepositorySearch

@MainActor
struct RepositorySearchReactorTests {
  private let clock = ManualClock()
  private let relay = Relay(scope: "search")
  private let source = LatchedSource()

  private func makeReactor() -> RepositorySearchReactor {
    RepositorySearchReactor(source: source, relay: relay, clock: clock.reactorClock)
  }

  @Test func typingSearchesOnceItIsQuiet() async {
    let reactor = makeReactor()
    for query in ["s", "sw", "swift"] {
      reactor.action(.enterQuery(query))
      clock.advance(by: .milliseconds(100))
    }
    #expect(reactor.query == "swift")
    #expect(source.asked.isEmpty)
    clock.advance(by: .milliseconds(200))
    source.open("swift 1")
    await reactor.waitUntilIdle()
    #expect(source.asked == ["swift 1"])
    #expect(reactor.visible.map(\.name) == ["swift 1.1", "swift 1.2"])
  }

  @Test func theAnswerToAnOlderQueryIsNotShown() async {
    let reactor = makeReactor()
    reactor.action(.enterQuery("a"))
    clock.advance(by: .milliseconds(300))
    await source.arrival("a 1")
    reactor.action(.enterQuery("ab"))
    clock.advance(by: .milliseconds(300))
    await source.arrival("ab 1")
    source.open("ab 1")
    while reactor.visible.isEmpty { await mainTurn() }
    source.open("a 1")
    await reactor.waitUntilIdle()
    #expect(reactor.visible.map(\.name) == ["ab 1.1", "ab 1.2"])
  }

  @Test func pagesAreAddedOneAtATime() async {
    let reactor = makeReactor()
    await search("swift", reactor)
    reactor.send(.loadMore)
    #expect(reactor.isRunning("page"))
    #expect(reactor.send(.loadMore).outcome == .ignored)
    source.open("swift 2")
    await reactor.waitUntilIdle()
    #expect(
      reactor.visible.map(\.name) == ["swift 1.1", "swift 1.2", "swift 2.1", "swift 2.2"])
    await reactor.send(.loadMore).finished()
    #expect(source.asked == ["swift 1", "swift 2"])
  }

  @Test func aPageOfTheListBeforeIsNotAddedToTheNewOne() async {
    let reactor = makeReactor()
    await search("a", reactor)
    reactor.send(.loadMore)
    await source.arrival("a 2")
    reactor.action(.enterQuery("ab"))
    source.open("ab 1")
    clock.advance(by: .milliseconds(300))
    while reactor.visible.first?.name != "ab 1.1" { await mainTurn() }
    source.open("a 2")
    await reactor.waitUntilIdle()
    #expect(reactor.visible.map(\.name) == ["ab 1.1", "ab 1.2"])
    #expect(reactor.nextPage == 2)
  }

  @Test func privateOnesCanBeHidden() async {
    let reactor = makeReactor()
    await search("swift", reactor)
    reactor.action(.toggleHidePrivate)
    #expect(reactor.visible.map(\.name) == ["swift 1.1"])
    reactor.action(.toggleHidePrivate)
    #expect(reactor.visible.count == 2)
  }

  @Test func aFailureIsSaidOnceAlsoToAShellThatComesLater() async {
    let reactor = makeReactor()
    source.fails = true
    await search("swift", reactor)
    for _ in 0..<3 { reactor.action(.toggleHidePrivate) }
    let shell = Shell()
    relay.register(shell, for: NoticeFeature.self)
    await relay.waitUntilIdle()
    #expect(shell.notices == ["The search has failed. Please try again."])
  }

  @Test func anEmptyQueryShowsNothing() async {
    let reactor = makeReactor()
    await search("swift", reactor)
    reactor.action(.enterQuery(""))
    clock.advance(by: .milliseconds(300))
    await reactor.waitUntilIdle()
    #expect(reactor.visible.isEmpty)
    #expect(source.asked == ["swift 1"])
  }

  private func search(_ query: String, _ reactor: RepositorySearchReactor) async {
    source.open("\(query) 1")
    reactor.action(.enterQuery(query))
    clock.advance(by: .milliseconds(300))
    await reactor.waitUntilIdle()
  }
}

private final class Shell: NoticeFeature {
  private(set) var notices: [String] = []
  func show(_ notice: String) { notices.append(notice) }
}

/// Two pages of two repositories for each query, which come when a test says so.
@MainActor
private final class LatchedSource: RepositorySource {
  private(set) var asked: [String] = []
  var fails = false
  private var latches: [String: Latch] = [:]

  func open(_ request: String) { latch(request).open() }
  func arrival(_ request: String) async { await latch(request).arrival() }

  func repositories(matching query: String, page: Int) async throws -> RepositoryPage {
    let request = "\(query) \(page)"
    asked.append(request)
    await latch(request).wait()
    if fails { throw SourceError() }
    let found = [1, 2].map { number in
      Repository(
        id: page * 10 + number, name: "\(request).\(number)", summary: "About \(request)",
        isPrivate: number == 2)
    }
    return RepositoryPage(repositories: found, nextPage: page == 1 ? 2 : nil)
  }

  private func latch(_ request: String) -> Latch {
    let latch = latches[request] ?? Latch()
    latches[request] = latch
    return latch
  }

  private struct SourceError: Error {}
}
