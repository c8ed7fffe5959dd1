// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import HarnessSupport
import RelayViews
import SwiftUI
import Testing
import ViewHost

/// A process that the system starts for work in the background finds commands for the screen.
@MainActor
struct BackgroundLaunchTests {
  struct ShowLater: RelayCommand, DurableCommand {
    static let commandName = "toast.later"
    var message: String
    func execute(on toasts: any ToastFeature) { toasts.show(message) }
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

  private let clock = ManualClock()
  private let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("views-\(UUID().uuidString)")

  private func makeRelay() throws -> Relay {
    try Relay(
      scope: "app", configuration: RelayConfiguration(clock: clock.relayClock),
      journal: .directory(directory), restoring: ShowLater.self)
  }

  @Test func whatIsRestoredWaitsForTheFirstLook() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let before = try makeRelay()
    for (seconds, message) in [(10, "short"), (600, "long"), (900, "longer")] {
      before.dispatch(ShowLater(message: message), timeToLive: .seconds(seconds))
    }
    before.close()

    let relay = try makeRelay()
    let model = Model()
    let lifecycle = RelayLifecycle(relay)
    lifecycle.launch()
    let host = ViewHost(phase: .background) {
      Root(model: model, relay: relay, lifecycle: lifecycle)
    }
    await lifecycle.waitUntilSettled()
    await relay.waitUntilIdle()
    #expect(relay.pendingCount == 3)
    #expect(model.log.lines.isEmpty)

    clock.advance(by: .seconds(60))
    host.setPhase(.active)
    await lifecycle.waitUntilSettled()
    await relay.waitUntilIdle()
    #expect(model.log.lines == ["root: long", "root: longer"])
    #expect(relay.counts.dropped(.expired) == 1)
    relay.close()
  }

  @Test func aRelayThatIsSuspendedGoesOnWhereItWas() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let relay = try makeRelay()
    let model = Model()
    let lifecycle = RelayLifecycle(relay)
    let host = ViewHost { Root(model: model, relay: relay, lifecycle: lifecycle) }
    host.setPhase(.background)
    await lifecycle.waitUntilSettled()
    // It has let go of the journal: what comes now is written when it is back.
    let acceptance = relay.dispatch(ShowLater(message: "1"))
    #expect(acceptance.durability == .inMemory)
    host.setPhase(.active)
    await lifecycle.waitUntilSettled()
    await relay.waitUntilIdle()
    #expect(model.log.lines == ["root: 1"])
    relay.close()
  }
}
