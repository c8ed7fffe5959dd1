// SPDX-License-Identifier: MIT

import FeatureRelay
import HarnessSupport
import RelayViews
import SwiftUI
import Testing
import ViewHost

/// Relays and the scenes that they belong to.
@MainActor @Suite(.timeLimit(.minutes(1)))
struct SceneTests {
  let clock = ManualClock()
  let model = Model()

  private var lines: [String] { model.log.lines }

  private func makeRelay(_ scope: String, parent: Relay? = nil) throws -> Relay {
    Relay(
      scope: scope, parent: parent,
      configuration: try RelayConfiguration(clock: clock.relayClock))
  }

  struct Window: View {
    let model: Model
    let relay: Relay
    var name = "window"
    var shared: Relay?
    @Environment(\.scenePhase) private var phase

    var body: some View {
      Text(name)
        .relayHandler(ToastFeature.self) { Recorder(name, model.log) }
        .relayHandler(BadgeFeature.self, in: shared, isEnabled: phase == .active) {
          Recorder(name, model.log)
        }
        .relay(relay)
        .relayLifecycle(relay)
    }
  }

  @Test func nothingIsDeliveredInTheBackground() async throws {
    let relay = try makeRelay("window")
    let host = ViewHost { Window(model: model, relay: relay) }
    host.setPhase(.inactive)
    relay.dispatch(ToastFeature.self) { $0.show("during an alert") }
    #expect(lines == ["window: during an alert"])

    host.setPhase(.background)
    relay.dispatch(ToastFeature.self) { $0.show("1") }
    relay.dispatch(ToastFeature.self) { $0.show("2") }
    await relay.waitUntilIdle()
    #expect(lines.count == 1)

    host.setPhase(.inactive)
    host.setPhase(.active)
    await relay.waitUntilIdle()
    #expect(lines == ["window: during an alert", "window: 1", "window: 2"])
  }

  @Test func theBackgroundBetweenTwoCommandsKeepsTheSecondBack() async throws {
    final class Presenter: ToastFeature {
      let log: Log
      let goAway: @MainActor () -> Void
      init(_ log: Log, goAway: @escaping @MainActor () -> Void) {
        self.log = log
        self.goAway = goAway
      }
      func show(_ message: String) {
        log.lines.append(message)
        if message == "1" { goAway() }
      }
    }
    let relay = try makeRelay("window")
    let host = ViewHost(phase: .background) { Window(model: model, relay: relay) }
    let presenter = Presenter(model.log) { host.setPhase(.background) }
    relay.register(presenter, for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { $0.show("1") }
    relay.dispatch(ToastFeature.self) { $0.show("2") }
    await relay.waitUntilIdle()
    #expect(lines.isEmpty)
    host.setPhase(.active)
    await relay.waitUntilIdle()
    #expect(lines == ["1"])
    #expect(relay.pendingCount(ToastFeature.self) == 1)
  }

  @Test func aFeatureThatNeedsNoScreenIgnoresTheGate() throws {
    let relay = try makeRelay("window")
    relay.configure(BadgeFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    let host = ViewHost(phase: .background) { Window(model: model, relay: relay) }
    let recorder = Recorder("analytics", model.log)
    relay.register(recorder, for: BadgeFeature.self)
    relay.dispatch(BadgeFeature.self) { $0.set(1) }
    relay.dispatch(ToastFeature.self) { $0.show("1") }
    #expect(lines == ["analytics: badge 1"])
    withExtendedLifetime(host) {}
  }

  struct Root: View {
    let model: Model
    let relay: Relay
    let lifecycle: RelayLifecycle

    var body: some View {
      Text("root")
        .relayHandler(ToastFeature.self) { Recorder("root", model.log) }
        .relay(relay)
        .relayLifecycle(lifecycle)
    }
  }

  @Test func aLaunchInTheBackgroundShowsNothingUntilSomebodyLooks() async throws {
    let relay = try makeRelay("app")
    for (seconds, message) in [(10, "short"), (600, "long"), (900, "longer")] {
      relay.dispatch(ToastFeature.self, timeToLive: .seconds(seconds)) { $0.show(message) }
    }
    let lifecycle = RelayLifecycle(relay)
    lifecycle.launch()
    // The system builds the window's views as well, in the background.
    let host = ViewHost(phase: .background) {
      Root(model: model, relay: relay, lifecycle: lifecycle)
    }
    await lifecycle.waitUntilSettled()
    await relay.waitUntilIdle()
    #expect(lines.isEmpty)
    #expect(relay.pendingCount == 3)

    clock.advance(by: .seconds(60))
    host.setPhase(.active)
    await relay.waitUntilIdle()
    #expect(lines == ["root: long", "root: longer"])
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func eachWindowHasItsOwnToasts() async throws {
    let shared = try makeRelay("app")
    let relays = [try makeRelay("W1", parent: shared), try makeRelay("W2", parent: shared)]
    let hosts = relays.map { relay in
      ViewHost { Window(model: model, relay: relay, name: relay.scope, shared: shared) }
    }
    relays[0].dispatch(ToastFeature.self) { $0.show("1") }
    #expect(lines == ["W1: 1"])

    hosts[1].setPhase(.background)
    relays[1].dispatch(ToastFeature.self) { $0.show("waits") }
    hosts[1].close()
    relays[0].dispatch(ToastFeature.self) { $0.show("2") }
    await relays[1].waitUntilIdle()
    #expect(lines == ["W1: 1", "W1: 2"])
    #expect(relays[1].pendingCount == 1)
    relays[1].close()
    #expect(relays[1].counts.dropped(.closed) == 1)
    #expect(lines == ["W1: 1", "W1: 2"])
  }

  @Test func theActiveWindowServesTheApp() throws {
    let shared = try makeRelay("app")
    let relays = [try makeRelay("W1", parent: shared), try makeRelay("W2", parent: shared)]
    let hosts = relays.map { relay in
      ViewHost { Window(model: model, relay: relay, name: relay.scope, shared: shared) }
    }
    shared.dispatch(BadgeFeature.self) { $0.set(1) }
    hosts[1].setPhase(.inactive)
    shared.dispatch(BadgeFeature.self) { $0.set(2) }
    hosts[0].setPhase(.inactive)
    shared.dispatch(BadgeFeature.self) { $0.set(3) }
    #expect(lines == ["W2: badge 1", "W1: badge 2"])
    #expect(shared.pendingCount == 1)
  }

  @Test func aSharedLifecycleGoesByTheWindowInFront() async throws {
    let relay = try makeRelay("app")
    let lifecycle = RelayLifecycle(relay)
    let hosts = (1...2).map { _ in
      ViewHost { Root(model: model, relay: relay, lifecycle: lifecycle) }
    }
    hosts[1].setPhase(.background)
    #expect(relay.gate.isOpen)
    hosts[0].setPhase(.background)
    #expect(!relay.gate.isOpen)
    hosts[1].setPhase(.inactive)
    #expect(relay.gate.isOpen)
    hosts[1].close()
    await turn()
    #expect(!relay.gate.isOpen)
  }

  /// What the main actor was asked for before has been done.
  private func turn() async { await Task { @MainActor in }.value }

  @Test func aGhostOfTheWindowInFrontSuspendsNothing() async throws {
    let relay = try makeRelay("app")
    let lifecycle = RelayLifecycle(relay)
    let hosts = (1...2).map { _ in
      ViewHost { Root(model: model, relay: relay, lifecycle: lifecycle) }
    }
    hosts[1].setPhase(.background)
    hosts[0].ghostDisappear(Root.self)
    await turn()
    #expect(relay.gate.isOpen && lifecycle.phase == .active)
    hosts[0].setPhase(.background)
    #expect(!relay.gate.isOpen)
  }

  @Test func aWindowThatGoesWithoutAWordCountsNoMore() async throws {
    let relay = try makeRelay("app")
    let lifecycle = RelayLifecycle(relay)
    let hosts = (1...2).map { _ in
      ViewHost { Root(model: model, relay: relay, lifecycle: lifecycle) }
    }
    hosts[0].setPhase(.background)
    hosts[1].manners.times = { _ in 0 }
    hosts[1].close()
    await turn()
    #expect(!relay.gate.isOpen && lifecycle.phase == .background)
  }

  @Test func aScenesOwnRelayCanBeClosedUnlessItIsActive() throws {
    struct Strict: View {
      let relay: Relay
      var body: some View { Text("x").relayLifecycle(relay, closingGate: .unlessActive) }
    }
    let relay = try makeRelay("strict")
    let host = ViewHost { Strict(relay: relay) }
    #expect(relay.gate.isOpen)
    host.setPhase(.inactive)
    #expect(!relay.gate.isOpen)
  }

  protocol AlertFeature: RelayFeature {
    func ask(_ question: String) async throws
  }

  struct Ask: AsyncRelayCommand {
    static let policy = CommandPolicy(retry: .inPlace(.constant(.seconds(1), attempts: 3)))
    var question: String
    func execute(on alerts: any AlertFeature) async throws { try await alerts.ask(question) }
  }

  final class Alerts: AlertFeature {
    struct Busy: Error {}

    @Binding private var question: String?
    let log: Log
    private var dismissed: CheckedContinuation<Void, Never>?

    init(question: Binding<String?>, log: Log) {
      _question = question
      self.log = log
    }

    func ask(_ question: String) async throws {
      if self.question != nil { throw Busy() }
      log.lines.append("asks \(question)")
      self.question = question
      await withCheckedContinuation { dismissed = $0 }
      log.lines.append("answered \(question)")
    }

    func answered() {
      dismissed?.resume()
      dismissed = nil
    }
  }

  struct AlertScreen: View {
    let model: Model
    @State private var question: String?
    @State private var alerts: Alerts?

    var body: some View {
      Text("x")
        .relayHandler(AlertFeature.self) {
          let alerts = Alerts(question: $question, log: model.log)
          self.alerts = alerts
          return alerts
        }
        .alert(
          "Question", isPresented: Binding(get: { question != nil }, set: { _ in question = nil }),
          presenting: question
        ) { _ in
          Button("OK") {}
        } message: {
          Text($0)
        }
        .onChange(of: question) { if question == nil { alerts?.answered() } }
        .relayHandler(ToastFeature.self) { Recorder("toast", model.log) }
    }
  }

  @Test func alertsComeOneAfterTheOtherAndBlockNothingElse() async throws {
    let relay = try makeRelay("app")
    relay.dispatch(Ask(question: "1"))
    relay.dispatch(Ask(question: "2"))
    let host = ViewHost { AlertScreen(model: model).relay(relay) }
    for number in 1...2 {
      await model.log.waitFor("asks \(number)")
      host.update()
      #expect(host.shows("\(number)"))
      // An alert that is up holds up no other feature.
      relay.dispatch(ToastFeature.self) { $0.show("\(number)") }
      host.tap("OK")
    }
    await relay.waitUntilIdle()
    #expect(
      lines == [
        "asks 1", "toast: 1", "answered 1", "asks 2", "toast: 2", "answered 2",
      ])
  }

  @Test func aBusyPresenterIsAskedAgain() async throws {
    let relay = try makeRelay("app")
    var shown: String? = "something else"
    let alerts = Alerts(
      question: Binding(get: { shown }, set: { shown = $0 }), log: model.log)
    relay.register(alerts, for: AlertFeature.self)
    relay.dispatch(Ask(question: "1"))
    await relay.waitUntilIdle()
    #expect(lines.isEmpty)
    #expect(relay.pendingCount == 1)
    shown = nil
    clock.advance(by: .seconds(1))
    await model.log.waitFor("asks 1")
    alerts.answered()
    await relay.waitUntilIdle()
    #expect(lines == ["asks 1", "answered 1"])
  }
}
