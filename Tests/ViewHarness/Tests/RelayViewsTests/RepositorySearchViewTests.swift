// SPDX-License-Identifier: MIT

import FeatureRelay
import HarnessSupport
import RelayReactor
import SwiftUI
import Testing
import ViewHost

@testable import RepositorySearchViews

/// The sample, as a person uses it.
@MainActor
struct RepositorySearchViewTests {
  private let clock = ManualClock()
  private let relay = Relay(scope: "search")
  private let holder = Holder()

  private func show() -> ViewHost {
    let (clock, relay, holder) = (clock, relay, holder)
    return ViewHost {
      RepositorySearchScreen {
        let reactor = RepositorySearchReactor(
          source: Library(), relay: relay,
          clock: ReactorClock(now: { clock.now }, schedule: { clock.schedule(at: $0, $1) }))
        holder.reactor = reactor
        return reactor
      }
    }
  }

  /// Lets the search come, and shows it.
  private func settle(_ host: ViewHost) async {
    clock.advance(by: .milliseconds(300))
    await holder.reactor?.waitUntilIdle()
    host.update()
  }

  @Test func typingFindsRepositories() async {
    let host = show()
    for query in ["s", "sw", "swift"] { host.write(query, into: "Search repositories") }
    #expect(!host.shows("swift-1"))
    await settle(host)
    #expect(host.shows("swift-1") && host.shows("swift-2"))
    #expect(host.shows("Load more"))
  }

  @Test func aSecondPageIsAddedAndIsTheLast() async {
    let host = show()
    host.write("swift", into: "Search repositories")
    await settle(host)
    host.tap("Load more")
    #expect(!host.tap("Load more"))
    await settle(host)
    #expect(host.shows("swift-1") && host.shows("swift-4"))
    #expect(!host.shows("Load more"))
  }

  @Test func privateOnesAreHiddenByTheToggle() async {
    let host = show()
    host.write("swift", into: "Search repositories")
    await settle(host)
    host.toggle("Hide private repositories")
    #expect(host.shows("swift-1") && !host.shows("swift-2"))
    host.toggle("Hide private repositories")
    #expect(host.shows("swift-2"))
  }

  @Test func aDescriptionComesAsASheetAndGoes() async {
    let host = show()
    host.write("swift", into: "Search repositories")
    await settle(host)
    host.tap("swift-2")
    #expect(host.shows("About swift-2"))
    host.tap("Done")
    #expect(!host.shows("About swift-2"))
    #expect(holder.reactor?.described == nil)
  }

  @Test func theSearchEndsWithItsScreen() async {
    let host = show()
    host.write("swift", into: "Search repositories")
    host.close()
    #expect(holder.reactor == nil)
    clock.advance(by: .seconds(1))
  }
}

@MainActor
private final class Holder {
  weak var reactor: RepositorySearchReactor?
}

/// Two pages of two repositories for each query.
private struct Library: RepositorySource {
  func repositories(matching query: String, page: Int) async throws -> RepositoryPage {
    let first = page * 2 - 1
    let found = [first, first + 1].map { number in
      Repository(
        id: number, name: "\(query)-\(number)", summary: "About \(query)-\(number)",
        isPrivate: number % 2 == 0)
    }
    return RepositoryPage(repositories: found, nextPage: page == 1 ? 2 : nil)
  }
}
