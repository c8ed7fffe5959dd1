// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Synchronization
import Testing

// The code of the articles from queues to events.

extension DocumentationTests {
  // MARK: Queues, limits and time

  @Test func settingsFromFarToNear() throws {
    let configuration = try RelayConfiguration(limit: 50, timeToLive: .seconds(60))
    let relay = Relay(scope: "checkout", configuration: configuration)
    relay.configure(ToastFeature.self, try FeatureConfiguration(limit: 3, overflow: .dropNewest))
    for number in 1...5 {
      relay.dispatch(ToastFeature.self, timeToLive: .seconds(5)) { $0.show("\(number)") }
    }
    print(relay.pendingCount(ToastFeature.self))  // 3: the last two were refused

    #expect(relay.pendingCount(ToastFeature.self) == 3)
    #expect(relay.counts.refusedFull == 2)
  }

  @Test func uniqueCommands() async {
    for count in 1...3 {
      relay.dispatch(ToastFeature.self, unique: .keepLatest("sync")) { $0.show("\(count) synced") }
    }
    let again = relay.dispatch(ToastFeature.self, unique: .keepFirst("hint")) {
      $0.show("Try this")
    }
    let twice = relay.dispatch(ToastFeature.self, unique: .keepFirst("hint")) {
      $0.show("Try this")
    }
    print(twice.outcome)  // refused: a duplicate of the first one

    #expect(twice.outcome == .refused(.duplicate(of: again.id!)))
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    await relay.waitUntilIdle()
    #expect(presenter.shown == ["3 synced", "Try this"])
  }

  @Test func tagsEndCommandsTogether() {
    relay.dispatch(ToastFeature.self, tags: [.user(42), "orders"]) { $0.show("Shipped") }
    print(relay.cancel(tagged: .user(42)))  // 1

    #expect(relay.counts.dropped(.cancelled) == 1)
  }

  @Test func priorities() async {
    relay.dispatch(ToastFeature.self) { $0.show("offers") }
    relay.dispatch(ToastFeature.self, priority: .critical) { $0.show("session expired") }
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    await relay.waitUntilIdle()
    print(presenter.shown)  // ["session expired", "offers"]

    #expect(presenter.shown == ["session expired", "offers"])
  }

  @Test func aClockThatATestMoves() async throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "test", configuration: try RelayConfiguration(clock: clock.relayClock))
    relay.dispatch(ToastFeature.self, timeToLive: .seconds(10)) { $0.show("Too late") }
    clock.advance(by: .seconds(10))
    await relay.waitUntilIdle()
    print(relay.counts.dropped(.expired))  // 1

    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func anotherAttempt() async throws {
    let clock = ManualClock()
    let configuration = try RelayConfiguration(clock: clock.relayClock)
    let relay = Relay(scope: "test", configuration: configuration)
    let mailer = Mailer()
    mailer.failures = 1
    relay.register(mailer, for: MailFeature.self)
    relay.dispatch(SendMail(text: "receipt"))
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 1)
    clock.advanceToNextDeadline()
    await relay.waitUntilIdle()
    #expect(mailer.sent == ["receipt"])
  }

  // MARK: Scopes and gates

  @Test func aModuleFallsBackToItsParent() {
    let presenter = ToastPresenter()
    let app = Relay(scope: "app")
    let checkout = Relay(scope: "checkout", parent: app)
    app.register(presenter, for: ToastFeature.self)
    checkout.dispatch(ToastFeature.self) { $0.show("Order placed") }
    print(presenter.shown)  // ["Order placed"]

    #expect(presenter.shown == ["Order placed"])
  }

  @Test func aGateHasReasons() async {
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    relay.gate.close(for: "login")
    relay.gate(for: ToastFeature.self).close(for: "splash")
    relay.dispatch(ToastFeature.self) { $0.show("Hello") }
    relay.gate.open(for: "login")
    print(relay.pendingCount)  // 1: the feature's own gate is still closed
    #expect(relay.pendingCount == 1)

    relay.gate(for: ToastFeature.self).open(for: "splash")
    await relay.waitUntilIdle()
    print(presenter.shown)  // ["Hello"]
    #expect(presenter.shown == ["Hello"])
  }

  @Test func aFeatureThatIgnoresTheGate() throws {
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    relay.configure(ToastFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    relay.gate.close(for: "background")
    relay.dispatch(ToastFeature.self) { $0.show("anyway") }

    #expect(presenter.shown == ["anyway"])
  }

  @Test func aHandlerPassesOnWhatIsNotForIt() {
    final class Sheet: ToastFeature {
      var registration: Registration?
      private(set) var shown: [String] = []

      func show(_ message: String) {
        if message.count <= 10 {
          shown.append(message)
        } else {
          registration?.next(ToastFeature.self)?.show(message)
        }
      }
    }
    let (shell, sheet) = (ToastPresenter(), Sheet())
    relay.register(shell, for: ToastFeature.self)
    sheet.registration = relay.register(sheet, for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { $0.show("short") }
    relay.dispatch(ToastFeature.self) { $0.show("much too long for a sheet") }

    #expect(sheet.shown == ["short"])
    #expect(shell.shown == ["much too long for a sheet"])
  }

  // MARK: Asking and streaming

  protocol PermissionFeature: RelayFeature {
    func requestCamera() async throws -> Bool
  }

  struct AskForCamera: RelayRequest, Equatable {
    func execute(on permission: any PermissionFeature) async throws -> Bool {
      try await permission.requestCamera()
    }
  }

  @Test func aQuestionHasAnAnswer() async throws {
    final class Alert: PermissionFeature {
      func requestCamera() async throws -> Bool { true }
    }
    let alert = Alert()
    relay.register(alert, for: PermissionFeature.self)
    let granted = try await relay.request(PermissionFeature.self, waitingAtMost: .seconds(5)) {
      try await $0.requestCamera()
    }
    let grantedAgain = try await relay.request(AskForCamera())

    #expect(granted && grantedAgain)
    withExtendedLifetime(alert) {}
  }

  @Test func aQuestionThatNobodyAnswers() async throws {
    let clock = ManualClock()
    let relay = Relay(scope: "test", configuration: try RelayConfiguration(clock: clock.relayClock))
    let failure = Task {
      do {
        _ = try await relay.request(AskForCamera(), waitingAtMost: .seconds(5))
        return "answered"
      } catch let error as RelayError where error.code == .waitingTimedOut {
        return "nobody came in time"
      }
    }
    var events = relay.events.makeAsyncIterator()
    if relay.pendingCount == 0 { _ = await events.next() }
    clock.advance(by: .seconds(5))
    #expect(try await failure.value == "nobody came in time")
  }

  @Test func aStreamOfCommands() async throws {
    let messages = AsyncStream { continuation in
      for number in 1...3 { continuation.yield("message \(number)") }
      continuation.finish()
    }
    await messages.forward(to: ToastFeature.self, in: relay) { toast, message in
      toast.show(message)
    }
    print(relay.pendingCount)  // 3: they wait for a handler as any others do

    #expect(relay.pendingCount == 3)
  }

  // MARK: Seeing what happens

  @Test func eventsOfARelay() async {
    let relay = relay
    let events = relay.events
    relay.dispatch(ToastFeature.self) { $0.show("Hello") }
    relay.clearQueue()
    relay.close()
    for await event in events { print(event) }  // accepted, dropped: cleared, closed

    var kinds: [String] = []
    let other = Relay(scope: "other")
    let stream = other.events
    other.dispatch(ToastFeature.self) { $0.show("Hello") }
    other.clearQueue()
    other.close()
    for await event in stream { kinds.append(event.kind.description) }
    #expect(kinds == ["accepted", "dropped: cleared", "closed"])
  }

  @Test func anObserver() {
    final class FailureCounter: RelayObserver {
      let count = Atomic(0)
      func observe(_ event: RelayEvent) {
        if case .failed = event.kind { count.add(1, ordering: .relaxed) }
      }
    }
    let counter = FailureCounter()
    let observation = relay.observe(counter)
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { _ in throw CocoaError(.fileNoSuchFile) }
    observation.cancel()
    relay.dispatch(ToastFeature.self) { _ in throw CocoaError(.fileNoSuchFile) }

    #expect(counter.count.load(ordering: .relaxed) == 1)
    #expect(relay.snapshot().problems.count == 2)
    withExtendedLifetime(presenter) {}
  }

  @Test func countsBalance() throws {
    relay.dispatch(ToastFeature.self) { $0.show("Hello") }
    let counts = relay.counts
    print(counts.accepted == counts.delivered + counts.waiting + counts.running + counts.dropped)
    print(relay.dump())

    #expect(counts.isBalanced && counts.waiting == 1)
    #expect(relay.dump().contains("waiting: ToastFeature closure"))
    let data = try JSONEncoder().encode(relay.snapshot())
    #expect(try JSONDecoder().decode(RelaySnapshot.self, from: data).counts.waiting == 1)
  }

  @Test func aCommandsLife() async {
    let acceptance = relay.dispatch(ToastFeature.self) { $0.show("Hello") }
    if let id = acceptance.id {
      print(relay.status(of: id) ?? "forgotten")  // waiting
      relay.cancel(id)
      for await status in relay.statusUpdates(of: id) { print(status) }  // dropped (cancelled)
    }

    #expect(acceptance.id.flatMap(relay.status) == .dropped(.cancelled))
  }
}
