// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RelayViews
import SwiftUI
import Testing
import ViewHost

/// An extension is another process: here a real one.
@MainActor @Suite(.timeLimit(.minutes(2)))
struct ExtensionTests {
  final class Links: LinkFeature {
    private(set) var links: [String] = []
    func add(_ link: String) { links.append(link) }
  }

  struct ReaderView: View {
    let reader: Reader
    let links: Links

    var body: some View {
      Text("links")
        .relayHandler(links, for: LinkFeature.self, while: .mounted)
        .relay(reader.links)
        .relayLifecycle(reader.lifecycle)
    }
  }

  private let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("group-\(UUID().uuidString)")

  private func shareInAnotherProcess(_ link: String) async {
    let path = directory.path
    await #expect(processExitsWith: .success) {
      [path = path as String, link = link as String] in
      try await share(link, journal: .directory(URL(fileURLWithPath: path)))
    }
  }

  private func settle(_ reader: Reader) async {
    await reader.lifecycle.waitUntilSettled()
    await reader.links.waitUntilIdle()
  }

  @Test func whatAnExtensionSharesReachesTheAppWhenItIsActiveAgain() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let reader = try Reader(journal: .directory(directory))
    let links = Links()
    let host = ViewHost { ReaderView(reader: reader, links: links) }
    await settle(reader)

    // While the app is in front, under a share sheet.
    host.setPhase(.inactive)
    await shareInAnotherProcess("1")
    #expect(links.links == [])
    host.setPhase(.active)
    await settle(reader)
    #expect(links.links == ["1"])

    // While it is suspended, and has let go of the journal.
    host.setPhase(.background)
    await settle(reader)
    await shareInAnotherProcess("2")
    host.setPhase(.active)
    await settle(reader)
    #expect(links.links == ["1", "2"])
    reader.links.close()
  }

  @Test func whatAnExtensionSharedBeforeTheAppsLaunchIsThere() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    await shareInAnotherProcess("1")
    await shareInAnotherProcess("2")
    let reader = try Reader(journal: .directory(directory))
    let links = Links()
    let host = ViewHost { ReaderView(reader: reader, links: links) }
    await settle(reader)
    #expect(links.links == ["1", "2"])
    host.close()
    reader.links.close()
  }
}
