// SPDX-License-Identifier: MIT

import FeatureRelay
import Observation
import RelayViews
import SwiftUI
import XCTest

// As DocumentationRecipes.swift, from sheets on.

enum SheetRecipe {
  struct Editor: View {
    @Environment(\.dismiss) private var dismiss
    @Environment(\.relay) private var relay
    @State private var note: String?
    @State private var isDone = false

    var body: some View {
      Button("Save") { isDone = true }
        .onChange(of: isDone) {
          dismiss()
          // This update ends the registration: what is sent in a later turn is for the screen below.
          Task { relay.dispatch(ToastFeature.self) { $0.show("Saved") } }
        }
        .relayHandler(ToastFeature.self, isEnabled: !isDone) { ToastPresenter(toast: $note) }
    }
  }

  struct Document: Identifiable {
    let id: Int
  }

  final class SheetPresenter: SheetFeature {
    @Binding private var document: Document?

    init(document: Binding<Document?>) { _document = document }

    func edit(_ id: Int) { document = Document(id: id) }
  }

  struct Screen: View {
    @State private var document: Document?
    @State private var toast: String?

    var body: some View {
      Text(toast ?? "none")
        .sheet(item: $document) { _ in Editor() }
        .relayHandler(SheetFeature.self) { SheetPresenter(document: $document) }
        .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
    }
  }
}

enum AlertRecipe {
  @MainActor @Observable
  final class Alerts: AlertFeature {
    private(set) var question: String?
    @ObservationIgnored private var answer: CheckedContinuation<Bool, Never>?

    func confirm(_ question: String) async -> Bool {
      await withCheckedContinuation { continuation in
        answer = continuation
        self.question = question
      }
    }

    func respond(_ isConfirmed: Bool) {
      question = nil
      answer?.resume(returning: isConfirmed)
      answer = nil
    }

    func hide() { question = nil }
  }

  struct AlertView: View {
    @State private var alerts = Alerts()

    var body: some View {
      Text("Home")
        .alert(
          "Question",
          isPresented: Binding(get: { alerts.question != nil }, set: { if !$0 { alerts.hide() } }),
          presenting: alerts.question
        ) { _ in
          Button("Yes") { alerts.respond(true) }
          Button("No", role: .cancel) { alerts.respond(false) }
        } message: { question in
          Text(question)
        }
        .relayHandler(alerts, for: AlertFeature.self)
    }
  }
}

enum PermissionRecipe {
  final class Permissions: PermissionFeature {
    // AVCaptureDevice.requestAccess(for: .video)
    private let askForCamera: @MainActor () async -> Bool
    // A CLLocationManager, and its delegate's answer.
    private let askForLocation: @MainActor () async -> Bool

    init(
      camera: @escaping @MainActor () async -> Bool, location: @escaping @MainActor () async -> Bool
    ) {
      askForCamera = camera
      askForLocation = location
    }

    func requestCamera() async -> Bool { await askForCamera() }
    func requestLocation() async -> Bool { await askForLocation() }
  }
}

enum ModuleRecipe {
  @MainActor
  final class Container {
    let app: Relay
    let checkout: Relay

    init(app: Relay) {
      self.app = app
      checkout = Relay(scope: "checkout", parent: app)
    }
  }

  struct Checkout: View {
    @Environment(\.relay) private var relay

    var body: some View {
      Button("Pay") { relay.dispatch(ToastFeature.self) { $0.show("Paid") } }
    }
  }

  struct Root: View {
    let container: Container
    @State private var toast: String?

    var body: some View {
      VStack {
        Text(toast ?? "none")
        Checkout().relay(container.checkout)
      }
      .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
      .relay(container.app)
    }
  }
}

enum AppRecipe {
  struct ShopApp: App {
    private let lifecycle = RelayLifecycle(.shared)

    init() {
      lifecycle.launch()
    }

    var body: some Scene {
      WindowGroup {
        WindowView().relayLifecycle(lifecycle)
      }
    }
  }

  struct WindowView: View {
    @Environment(\.scenePhase) private var phase
    @State private var relay = Relay(scope: "window", parent: .shared)
    @State private var toast: String?

    var body: some View {
      Text(toast ?? "none")
        .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
        .relayHandler(ToastFeature.self, in: .shared, isEnabled: phase == .active) {
          ToastPresenter(toast: $toast)
        }
        .relay(relay)
        .relayLifecycle(relay)
    }
  }
}

/// What README.md shows.
struct ReadmeRecipe: View {
  typealias Navigator = ScreensRecipe.Navigator

  struct HomeView: View {
    var body: some View { Text("Home") }
  }

  let lifecycle: RelayLifecycle
  @State private var toast: String?
  @State private var path = NavigationPath()

  var body: some View {
    HomeView()
      .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
      .relayHandler(NavigationFeature.self, while: .mounted) { Navigator(path: $path) }
      .relayLifecycle(lifecycle)
  }
}

struct AddLink: RelayCommand, DurableCommand {
  static let commandName = "link.add"
  var link: String
  func execute(on links: any LinkFeature) { links.add(link) }
}

@MainActor
final class Reader {
  let links: Relay
  let lifecycle: RelayLifecycle

  init(journal: JournalLocation) throws {
    links = try Relay(scope: "links", journal: journal, restoring: AddLink.self)
    lifecycle = RelayLifecycle(links)
    lifecycle.launch()
  }
}

@MainActor
func refresh(_ lifecycle: RelayLifecycle, _ work: () async -> Void) async {
  await lifecycle.resume()
  await work()
  await lifecycle.suspend()
}

func share(_ link: String, journal: JournalLocation) async throws {
  let links = try Relay(scope: "links", journal: journal, restoring: AddLink.self)
  let acceptance = links.dispatch(AddLink(link: link))
  await links.waitUntilPersisted(acceptance)
  links.close()
}

final class ToastRecorder: ToastFeature {
  private(set) var messages: [String] = []
  func show(_ message: String) { messages.append(message) }
}

@MainActor
final class HomeModelTests: XCTestCase {
  func testSavingSaysSo() async {
    let relay = Relay(scope: "test")
    let toasts = ToastRecorder()
    relay.register(toasts, for: ToastFeature.self)

    HomeModel(relay).save()
    await relay.waitUntilIdle()

    XCTAssertEqual(toasts.messages, ["Saved"])
  }
}
