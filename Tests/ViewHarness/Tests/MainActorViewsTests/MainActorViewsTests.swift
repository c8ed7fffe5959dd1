// SPDX-License-Identifier: MIT

import FeatureRelay
import Observation
import RelayViews
import SwiftUI
import Testing
import ViewHost

// The view layer where everything is on the main actor unless it says otherwise: new Xcode
// projects' setting.

protocol ToastFeature: RelayFeature {
  func show(_ message: String)
}

@Observable
final class Shell: ToastFeature {
  var toast = "none"
  func show(_ message: String) { toast = message }
}

final class Presenter: ToastFeature {
  @Binding private var toast: String
  var name = ""

  init(toast: Binding<String>) { _toast = toast }
  func show(_ message: String) { toast = "\(name) \(message)" }
}

struct ShellView: View {
  @State private var shell = Shell()

  var body: some View {
    Text(shell.toast)
      .relayHandler(shell, for: ToastFeature.self, while: .mounted)
  }
}

struct NamedView: View {
  let name: String
  @Environment(\.relay) private var relay
  @State private var toast = "none"

  var body: some View {
    Text(toast)
    Button("Save") { relay.dispatch(ToastFeature.self) { $0.show("saved") } }
      .relayHandler(ToastFeature.self, isEnabled: !name.isEmpty) {
        Presenter(toast: $toast)
      } update: { presenter in
        presenter.name = name
      }
  }
}

struct SampleApp: App {
  private let relay = Relay(scope: "app")
  private let lifecycle: RelayLifecycle

  init() {
    lifecycle = RelayLifecycle(relay, closingGate: .unlessActive)
    lifecycle.launch()
  }

  var body: some Scene {
    WindowGroup {
      NamedView(name: "ann")
        .relay(relay)
        .relayLifecycle(lifecycle)
    }
  }
}

struct MainActorViewsTests {
  @Test func viewsAndHandlersNeedNoAnnotations() {
    let relay = Relay(scope: "app")
    let shell = ViewHost { ShellView().relay(relay) }
    relay.dispatch(ToastFeature.self) { $0.show("hello") }
    shell.update()
    #expect(shell.texts == ["hello"])
  }

  @Test func anAppNeedsNoAnnotations() {
    let host = AppHost(SampleApp.self)
    host.openWindow(phase: .inactive)
    host.views.tap("Save")
    #expect(host.views.texts == ["none", "Save"])
    host.setPhase(.active)
    host.views.tap("Save")
    #expect(host.views.texts == ["ann saved", "Save"])
  }
}
