// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import Testing
import XCTest

// The kit for tests under the same setting.

private protocol BannerFeature: RelayFeature {
  func show(_ message: String)
}

private final class MockBanner: BannerFeature {
  var messages: [String] = []
  func show(_ message: String) { messages.append(message) }
}

private nonisolated struct ShowBanner: RelayCommand, Equatable {
  var message: String
  func execute(on banner: any BannerFeature) { banner.show(message) }
}

private final class Model {
  func save() {
    Relay.shared.dispatch(ShowBanner(message: "Saved"))
    Relay.shared.dispatch(BannerFeature.self) { $0.show("closure") }
  }
}

@Suite(.relay) struct KitTests {
  private let banner = MockBanner()

  init() {
    Relay.shared.register(banner, for: BannerFeature.self)
  }

  @Test func aSynchronousTest() {
    Model().save()
    #expect(banner.messages == ["Saved", "closure"])
    Relay.shared.recorder.expectDispatched(ShowBanner(message: "Saved"))
    Relay.shared.recorder.expectDispatched(
      inOrder: .any(ShowBanner.self) { $0.message == "Saved" },
      .closure(for: BannerFeature.self))
    Relay.shared.recorder.expectNothingElse()
  }

  @Test func anAsynchronousTest() async throws {
    let latch = Latch()
    Relay.shared.dispatch(BannerFeature.self) { banner in
      await latch.wait()
      banner.show("late")
    }
    await latch.arrival()
    #expect(banner.messages.isEmpty)
    latch.open()
    await Relay.shared.waitUntilIdle()
    let other = MockBanner()
    #expect(try await Relay.shared.recorder.runAsynchronously(onto: other) == 1)
    #expect(other.messages == ["late"])
  }
}

nonisolated final class KitXCTests: XCTestCase {
  @MainActor func testShowsABannerAfterSaving() async {
    let relay = Relay.testing(in: self)
    let banner = MockBanner()
    relay.register(banner, for: BannerFeature.self)
    Model().save()
    XCTAssertEqual(banner.messages, ["Saved", "closure"])
  }
}
