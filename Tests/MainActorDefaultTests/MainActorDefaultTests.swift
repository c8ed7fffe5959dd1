// SPDX-License-Identifier: MIT

import FeatureRelay
import Testing
import XCTest

// The same usages where everything is on the main actor unless it says otherwise: new Xcode
// projects' setting.

private protocol ToastFeature: RelayFeature {
  func show(_ message: String)
  func count() -> Int
  func fail() throws
  func load() async throws -> Int
}

private protocol BadgeFeature: RelayFeature {
  var badge: Int { get set }
}

private class Screen: RelayFeature {
  var log: [String] = []
}

private final class Toasts: Screen, ToastFeature, BadgeFeature {
  var badge = 0

  func show(_ message: String) { log.append(message) }
  func count() -> Int { log.count }
  func fail() throws { throw ToastError() }

  func load() async throws -> Int {
    await Task.yield()
    log.append("loaded")
    return log.count
  }
}

private struct ToastError: Error {}

private struct ShowToast: RelayCommand {
  var message: String
  func execute(on toast: any ToastFeature) { toast.show(message) }
}

// A command that is compared or encoded away from the main actor has to say so.
private nonisolated struct ShowBadge: RelayCommand, Codable, Equatable {
  static let policy = CommandPolicy(priority: .high)
  var number: Int
  func execute(on badge: any BadgeFeature) { badge.badge = number }
}

private nonisolated struct LoadToasts: AsyncRelayCommand, Codable, Equatable {
  func execute(on toast: any ToastFeature) async throws { _ = try await toast.load() }
}

private struct CountToasts: RelayRequest {
  func execute(on toast: any ToastFeature) async throws -> Int { toast.count() }
}

private final class ViewModel {
  let relay: Relay
  let title = "title"

  init(_ relay: Relay) { self.relay = relay }
  deinit { relay.dispatch(ToastFeature.self) { $0.show("closed") } }

  func greet() {
    relay.dispatch(ToastFeature.self) { $0.show(self.title) }
    relay.dispatch(ToastFeature.self, owner: self) { toast, model in toast.show(model.title) }
  }
}

private actor Uploads {
  func finish(_ relay: Relay) -> Acceptance {
    relay.dispatch(ToastFeature.self) { $0.show("uploaded") }
  }
}

private nonisolated func report(_ relay: Relay, _ message: String) -> Acceptance {
  relay.dispatch(ToastFeature.self) { $0.show(message) }
}

@concurrent private nonisolated func reportElsewhere(_ relay: Relay) async -> Acceptance {
  relay.dispatch(ToastFeature.self) { $0.show("elsewhere") }
}

private func send(_ commands: [any RelayCommand], to relay: Relay) {
  for command in commands { relay.dispatch(command) }
}

private func start(_ command: some AsyncRelayCommand, in relay: Relay) -> Acceptance {
  relay.dispatch(command)
}

@Suite struct MainActorDefaultTests {
  private let relay = Relay(scope: "default isolation")
  private let toasts = Toasts()

  init() { relay.register(toasts, for: ToastFeature.self, BadgeFeature.self) }

  @Test func plainCodeDeliversAtOnce() {
    #expect(relay.dispatch(ToastFeature.self) { $0.show("1") }.outcome == .delivered)
    #expect(relay.dispatch(ShowToast(message: "2")).outcome == .delivered)
    relay.dispatch(ToastFeature.self) { $0.count() }
    let text = "3"
    relay.dispatch(ToastFeature.self) { $0.show(text) }
    #expect(relay.dispatch(ToastFeature.self) { try $0.fail() }.outcome == .failed)
    #expect(report(relay, "4").outcome == .delivered)
    #expect(toasts.log == ["1", "2", "3", "4"])
  }

  @Test func codeElsewhereIsDeliveredLater() async {
    let uploaded = await Uploads().finish(relay)
    #expect(uploaded.outcome == .waiting)
    let elsewhere = await reportElsewhere(relay)
    #expect(elsewhere.outcome == .waiting)
    let relay = relay
    await Task.detached {
      relay.dispatch(ToastFeature.self) { $0.show("detached") }
      relay.dispatch(ShowBadge(number: 4))
    }.value
    await relay.waitUntilIdle()
    #expect(toasts.log == ["uploaded", "elsewhere", "detached"])
    #expect(toasts.badge == 4)
  }

  @Test func commandsAsValues() async throws {
    send([ShowToast(message: "any"), ShowBadge(number: 3)], to: relay)
    #expect(start(LoadToasts(), in: relay).outcome == .waiting)
    #expect(relay.dispatch(ToastFeature.self) { try await $0.load() }.outcome == .waiting)
    await relay.waitUntilIdle()
    #expect(toasts.log == ["any", "loaded", "loaded"])
    #expect(toasts.badge == 3)
    #expect(try await relay.request(CountToasts()) == 3)
    #expect(try await relay.request(ToastFeature.self) { $0.count() } == 3)
    #expect(ShowBadge(number: 1) == ShowBadge(number: 1))
    #expect(LoadToasts.policy == .standard)
  }

  @Test func modelsAndTheirEnds() {
    var model: ViewModel? = ViewModel(relay)
    model?.greet()
    model = nil
    #expect(toasts.log == ["title", "title", "closed"])
  }

  @Test func shapesOfFeatures() {
    relay.register(toasts, for: (ToastFeature & BadgeFeature).self)
    relay.register(toasts, for: Screen.self)
    relay.register(toasts, for: (any Screen & BadgeFeature).self)
    relay.dispatch((ToastFeature & BadgeFeature).self) { $0.badge += 1 }
    relay.dispatch(Screen.self) { $0.log.append("screen") }
    relay.dispatch((any Screen & BadgeFeature).self) { $0.badge += 1 }
    #expect(toasts.badge == 2)
    #expect(toasts.log == ["screen"])
  }

  @Test func functionsAsTheBody() {
    func greet(_ toast: any ToastFeature) { toast.show("function") }
    relay.dispatch(ToastFeature.self, greet)
    #expect(toasts.log == ["function"])
  }
}

/// The shape for XCTest here: the class opts out, so that its synchronous methods can be found.
nonisolated final class MainActorDefaultXCTests: XCTestCase {
  func testSynchronousTestHasDeliveredWhenDispatchReturns() {
    let relay = Relay(scope: "default isolation")
    let toasts = MainActor.assumeIsolated { Toasts() }
    relay.register(toasts, for: ToastFeature.self)
    XCTAssertEqual(relay.dispatch(ToastFeature.self) { $0.show("1") }.outcome, .delivered)
    XCTAssertEqual(relay.dispatch(ToastFeature.self) { $0.count() }.outcome, .delivered)
    XCTAssertEqual(MainActor.assumeIsolated { toasts.log }, ["1"])
  }
}
