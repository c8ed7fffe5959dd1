// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import XCTest

// Usages that must compile without a warning, each from where users write them, and do what they
// say.

private protocol ToastFeature: RelayFeature {
  func show(_ message: String)
  @discardableResult func showCounted(_ message: String) -> Int
  func count() -> Int
  func fail() throws
  func load() async throws -> Int
}

private protocol BadgeFeature: RelayFeature {
  var badge: Int { get set }
}

/// A feature with a primary associated type: `any StoreFeature<Int>` is one feature, `any
/// StoreFeature<String>` another.
private protocol StoreFeature<Item>: RelayFeature {
  associatedtype Item
  func store(_ item: Item)
}

private class Screen: RelayFeature {
  var log: [String] = []
}

private final class Toasts: Screen, ToastFeature, BadgeFeature {
  var badge = 0

  func show(_ message: String) { log.append(message) }

  func showCounted(_ message: String) -> Int {
    log.append(message)
    return log.count
  }

  func count() -> Int { log.count }
  func fail() throws { throw ToastError() }

  func load() async throws -> Int {
    await Task.yield()
    log.append("loaded")
    return log.count
  }
}

private final class Store<Item: Sendable>: StoreFeature {
  var items: [Item] = []
  func store(_ item: Item) { items.append(item) }
}

private struct ToastError: Error {}

private struct ShowToast: RelayCommand, Equatable {
  var message: String
  func execute(on toast: any ToastFeature) { toast.show(message) }
}

private struct ShowBadge: RelayCommand, Codable, Equatable {
  static let policy = CommandPolicy(priority: .high)
  var number: Int
  func execute(on badge: any BadgeFeature) { badge.badge = number }
}

private struct LoadToasts: AsyncRelayCommand, Equatable {
  func execute(on toast: any ToastFeature) async throws { _ = try await toast.load() }
}

private struct CountToasts: RelayRequest {
  func execute(on toast: any ToastFeature) async throws -> Int { toast.count() }
}

// MARK: Where commands come from

/// Business code on an actor of its own.
private actor Uploads {
  func finish(_ relay: Relay) -> Acceptance {
    relay.dispatch(ToastFeature.self) { $0.show("uploaded") }
  }

  func finishTyped(_ relay: Relay) async {
    relay.dispatch(ShowToast(message: "typed"))
    relay.dispatch(LoadToasts())
  }
}

/// A model that says good-bye in its deinit, on whatever thread that is.
private final class Model: Sendable {
  let relay: Relay
  init(_ relay: Relay) { self.relay = relay }
  deinit {
    relay.dispatch(ToastFeature.self) { $0.show("gone") }
    relay.dispatch(ShowToast(message: "typed"))
  }
}

/// A model on the main actor whose deinit is not.
@MainActor
private final class ViewModel {
  let relay: Relay
  let title = "title"

  init(_ relay: Relay) { self.relay = relay }
  deinit { relay.dispatch(ShowToast(message: "closed")) }

  func greet() {
    relay.dispatch(ToastFeature.self) { $0.show(self.title) }
    relay.dispatch(ToastFeature.self, owner: self) { toast, model in toast.show(model.title) }
    relay.dispatch(ToastFeature.self, owner: self) { toast, model in
      _ = try await toast.load()
      toast.show(model.title)
    }
  }
}

/// Code without isolation.
private func report(_ relay: Relay, _ message: String) -> Acceptance {
  relay.dispatch(ToastFeature.self) { $0.show(message) }
}

private func reportLater(_ relay: Relay, _ message: String) async -> Acceptance {
  relay.dispatch(ToastFeature.self) { $0.show(message) }
}

nonisolated(nonsending) private func reportHere(_ relay: Relay, _ message: String) async
  -> Acceptance
{
  relay.dispatch(ToastFeature.self) { $0.show(message) }
}

private func send(_ command: some RelayCommand, to relay: Relay) -> Acceptance {
  relay.dispatch(command)
}

private func send(_ commands: [any RelayCommand], to relay: Relay) {
  for command in commands { relay.dispatch(command) }
}

private func start(_ command: any AsyncRelayCommand, in relay: Relay) -> Acceptance {
  relay.dispatch(command)
}

private func sendToAnyFeature<F>(
  _ feature: F.Type, in relay: Relay, _ body: @escaping @MainActor @Sendable (F) -> Void
) -> Acceptance {
  relay.dispatch(feature, body)
}

/// The shape of a unit test that people write without thinking of actors: synchronous, without
/// isolation.
final class SynchronousUsageTests: XCTestCase {
  func testDispatchHasDeliveredWhenItReturns() {
    let relay = Relay(scope: "sync")
    let toasts = MainActor.assumeIsolated { Toasts() }
    relay.register(toasts, for: ToastFeature.self)
    XCTAssertEqual(relay.dispatch(ToastFeature.self) { $0.show("1") }.outcome, .delivered)
    XCTAssertEqual(relay.dispatch(ShowToast(message: "2")).outcome, .delivered)
    XCTAssertEqual(report(relay, "3").outcome, .delivered)
    XCTAssertEqual(MainActor.assumeIsolated { toasts.log }, ["1", "2", "3"])
  }
}

@MainActor
final class UsageTests: XCTestCase {
  private var relay = Relay(scope: "usage")
  private var toasts = Toasts()

  override func setUp() async throws {
    relay = Relay(scope: "usage")
    toasts = Toasts()
    relay.register(toasts, for: ToastFeature.self, BadgeFeature.self)
  }

  func testFromTheMainActor() async {
    relay.dispatch(ToastFeature.self) { $0.show("1") }
    relay.dispatch(ShowToast(message: "2"))
    XCTAssertEqual(report(relay, "3").outcome, .delivered)
    // Code that runs where its caller does is on the main actor as well.
    let here = await reportHere(relay, "4")
    XCTAssertEqual(here.outcome, .delivered)
    XCTAssertEqual(toasts.log, ["1", "2", "3", "4"])
  }

  func testFromAsynchronousCodeWithoutIsolation() async {
    let acceptance = await reportLater(relay, "1")
    XCTAssertEqual(acceptance.outcome, .waiting)
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["1"])
  }

  func testFromAnotherActorAndADetachedTask() async {
    let uploads = Uploads()
    let acceptance = await uploads.finish(relay)
    XCTAssertEqual(acceptance.outcome, .waiting)
    await uploads.finishTyped(relay)
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["uploaded", "typed", "loaded"])
    let relay = relay
    await Task.detached {
      relay.dispatch(ToastFeature.self) { $0.show("detached") }
      relay.dispatch(ShowToast(message: "typed"), priority: .low, tags: ["tag"])
    }.value
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log.suffix(2), ["detached", "typed"])
  }

  func testFromADeinit() async {
    var model: Model? = Model(relay)
    XCTAssertNotNil(model)
    model = nil
    XCTAssertEqual(toasts.log, ["gone", "typed"])
    let place = Handover<Model>()
    place.current = Model(relay)
    onAnotherThread { place.current = nil }
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["gone", "typed", "gone", "typed"])
  }

  func testFromAViewModel() async {
    var model: ViewModel? = ViewModel(relay)
    model?.greet()
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["title", "title", "loaded", "title"])
    weak let gone = model
    model = nil
    await relay.waitUntilIdle()
    XCTAssertNil(gone)
    XCTAssertEqual(toasts.log.last, "closed")
  }

  func testGenericCode() async {
    XCTAssertEqual(send(ShowToast(message: "some"), to: relay).outcome, .delivered)
    send([ShowToast(message: "any"), ShowBadge(number: 3)], to: relay)
    XCTAssertEqual(start(LoadToasts(), in: relay).outcome, .waiting)
    await relay.waitUntilIdle()
    let acceptance = sendToAnyFeature(ToastFeature.self, in: relay) { $0.show("generic") }
    XCTAssertEqual(acceptance.outcome, .delivered)
    XCTAssertEqual(toasts.log, ["some", "any", "loaded", "generic"])
    XCTAssertEqual(toasts.badge, 3)
  }

  func testKindsOfClosures() async {
    // A value as the only expression: from a function whose result may be discarded, and from one
    // whose may not.
    relay.dispatch(ToastFeature.self) { $0.showCounted("value") }
    relay.dispatch(ToastFeature.self) { $0.count() }
    relay.dispatch(BadgeFeature.self) { $0.badge }
    relay.dispatch(BadgeFeature.self) { $0.badge = 7 }
    relay.dispatch(BadgeFeature.self) { $0.badge += 1 }
    XCTAssertEqual(toasts.badge, 8)
    // Throwing.
    XCTAssertEqual(relay.dispatch(ToastFeature.self) { try $0.fail() }.outcome, .failed)
    // Asynchronous.
    XCTAssertEqual(relay.dispatch(ToastFeature.self) { try await $0.load() }.outcome, .waiting)
    relay.dispatch(ToastFeature.self, executionLimit: .seconds(3_600)) { toast in
      let count = try await toast.load()
      toast.show("\(count)")
    }
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["value", "loaded", "loaded", "3"])
    // Every option.
    let acceptance = relay.dispatch(
      ToastFeature.self, priority: .critical, tags: ["tag", .user(42)], timeToLive: .seconds(3_600),
      unique: .keepLatest("key")
    ) { toast in
      toast.show("one")
      toast.show("two")
    }
    XCTAssert(acceptance.isAccepted)
    XCTAssertEqual(toasts.log.suffix(2), ["one", "two"])
  }

  func testFunctionsAsTheBody() async {
    @MainActor func greet(_ toast: any ToastFeature) { toast.show("function") }
    let stored: @MainActor @Sendable (any ToastFeature) -> Void = { $0.show("stored") }
    let asynchronous: @MainActor @Sendable (any ToastFeature) async throws -> Int = {
      try await $0.load()
    }
    relay.dispatch(ToastFeature.self, greet)
    relay.dispatch(ToastFeature.self, stored)
    relay.dispatch(ToastFeature.self, Self.greetStatically)
    relay.dispatch(ToastFeature.self, asynchronous)
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["function", "stored", "static", "loaded"])
  }

  private static func greetStatically(_ toast: any ToastFeature) { toast.show("static") }

  func testAskingFromEverywhere() async throws {
    relay.dispatch(ToastFeature.self) { $0.show("1") }
    let count = try await relay.request(ToastFeature.self) { $0.count() }
    XCTAssertEqual(count, 1)
    let typed = try await relay.request(CountToasts(), waitingAtMost: .seconds(3_600))
    XCTAssertEqual(typed, 1)
    let relay = relay
    let elsewhere = try await Task.detached {
      try await relay.request(ToastFeature.self) { try await $0.load() }
    }.value
    XCTAssertEqual(elsewhere, 2)
    // The answer stays on the main actor: it need not be sendable.
    let answer = try await relay.request(ToastFeature.self) { _ in NotSendable(number: 5) }
    XCTAssertEqual(answer.number, 5)
  }
}

private final class NotSendable {
  var number: Int
  init(number: Int) { self.number = number }
}

// MARK: What can be a feature

@MainActor
final class FeatureShapeUsageTests: XCTestCase {
  func testCompositions() async {
    let relay = Relay(scope: "shapes")
    let toasts = Toasts()
    relay.register(toasts, for: (ToastFeature & BadgeFeature).self)
    relay.dispatch((ToastFeature & BadgeFeature).self) {
      $0.show("both")
      $0.badge = 1
    }
    let text = "captured"
    relay.dispatch((any ToastFeature & BadgeFeature).self) { $0.show(text) }
    XCTAssertEqual(toasts.log, ["both", "captured"])
    XCTAssertEqual(toasts.badge, 1)
    // Another feature than its parts.
    XCTAssertFalse(relay.isRegistered(ToastFeature.self))
  }

  func testABaseClassWithAProtocol() async {
    let relay = Relay(scope: "shapes")
    let toasts = Toasts()
    for ownership in [HandlerOwnership.weak, .owned] {
      relay.register(toasts, for: (any Screen & BadgeFeature).self, ownership: ownership)
      relay.dispatch((any Screen & BadgeFeature).self) {
        $0.log.append("base")
        $0.badge += 1
      }
    }
    XCTAssertEqual(toasts.log, ["base", "base"])
    XCTAssertEqual(toasts.badge, 2)
  }

  func testClasses() async {
    let relay = Relay(scope: "shapes")
    let toasts = Toasts()
    relay.register(toasts, for: Screen.self)
    relay.register(toasts, for: Toasts.self)
    relay.dispatch(Screen.self) { $0.log.append("screen") }
    relay.dispatch(Toasts.self) { $0.show("toasts") }
    _ = await Task.detached { relay.dispatch(Toasts.self) { $0.show("detached") } }.value
    await relay.waitUntilIdle()
    XCTAssertEqual(toasts.log, ["screen", "toasts", "detached"])
  }

  func testConstrainedExistentials() async {
    let relay = Relay(scope: "shapes")
    let numbers = Store<Int>()
    let words = Store<String>()
    relay.register(numbers, for: (any StoreFeature<Int>).self)
    relay.register(words, for: (any StoreFeature<String>).self)
    relay.dispatch((any StoreFeature<Int>).self) { $0.store(1) }
    relay.dispatch((any StoreFeature<String>).self) { $0.store("one") }
    let number = 2
    relay.dispatch((any StoreFeature<Int>).self) { $0.store(number) }
    XCTAssertEqual(numbers.items, [1, 2])
    XCTAssertEqual(words.items, ["one"])
  }

  func testEveryWayToSayAFeature() async {
    let relay = Relay(scope: "shapes")
    let toasts = Toasts()
    relay.register(toasts as any ToastFeature, for: ToastFeature.self)
    let bag = RegistrationBag()
    relay.register(toasts, for: (any BadgeFeature).self).store(in: bag)
    let feature = (any ToastFeature).self
    relay.dispatch(feature) { $0.show("metatype") }
    XCTAssertEqual(toasts.log, ["metatype"])
    XCTAssert(relay.isRegistered(BadgeFeature.self))
    bag.cancelAll()
    XCTAssertFalse(relay.isRegistered(BadgeFeature.self))
  }
}
