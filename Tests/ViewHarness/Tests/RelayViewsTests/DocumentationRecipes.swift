// SPDX-License-Identifier: MIT

import FeatureRelay
import Observation
import RelayViews
import SwiftUI

// Every piece of code that the articles show, and what it takes for granted. DocumentationTests runs
// it, and compares.

protocol NavigationFeature: RelayFeature {
  func open(_ screen: String)
  func goBack()
}

protocol AlertFeature: RelayFeature {
  func confirm(_ question: String) async -> Bool
}

protocol PermissionFeature: RelayFeature {
  func requestCamera() async -> Bool
  func requestLocation() async -> Bool
}

protocol LinkFeature: RelayFeature {
  func add(_ link: String)
}

protocol SheetFeature: RelayFeature {
  func edit(_ id: Int)
}

final class ToastPresenter: ToastFeature {
  @Binding private var toast: String?
  init(toast: Binding<String?>) { _toast = toast }
  func show(_ message: String) { toast = message }
}

final class BadgePresenter: BadgeFeature {
  @Binding private var badge: Int
  init(badge: Binding<Int>) { _badge = badge }
  func set(_ number: Int) { badge = number }
}

final class LogPresenter: ToastFeature {
  static var log: [String] = []
  func show(_ message: String) { Self.log.append(message) }
}

final class NamedPresenter: ToastFeature {
  static var log: [String] = []
  var name = ""
  func show(_ message: String) { Self.log.append("\(name): \(message)") }
}

protocol ToastFeature: RelayFeature {
  func show(_ message: String)
}

@MainActor @Observable
final class HomeModel {
  @ObservationIgnored private let relay: Relay

  init(_ relay: Relay) { self.relay = relay }

  func save() {
    relay.dispatch(ToastFeature.self) { $0.show("Saved") }
  }
}

enum LandingRecipe {
  struct HomeView: View {
    @State private var toast: String?

    var body: some View {
      Text("Home")
        .overlay(alignment: .top) { Text(toast ?? "") }
        .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
    }
  }
}

enum ByHandRecipe {
  struct ByHand: View {
    @State private var presenter = LogPresenter()
    @State private var registration: Registration?
    let relay: Relay

    var body: some View {
      Text("Home")
        .onAppear { registration = relay.register(presenter, for: ToastFeature.self) }
        .onDisappear { registration?.cancel() }
    }
  }
}

enum ModifierRecipe {
  struct Home: View {
    @State private var toast: String?
    @State private var badge = 0

    var body: some View {
      Text("Home \(badge)")
        .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
        .relayHandler(BadgeFeature.self, while: .mounted) { BadgePresenter(badge: $badge) }
    }
  }
}

enum UpdateRecipe {
  struct Profile: View {
    let name: String

    var body: some View {
      Text(name)
        .relayHandler(ToastFeature.self) {
          NamedPresenter()
        } update: { presenter in
          presenter.name = name
        }
    }
  }
}

enum ObservableRecipe {
  @MainActor @Observable
  final class Shell: ToastFeature, NavigationFeature {
    var toast: String?
    var path: [String] = []

    func show(_ message: String) { toast = message }
    func open(_ screen: String) { path.append(screen) }
    func goBack() { if !path.isEmpty { path.removeLast() } }
  }

  struct ShellView: View {
    @State private var shell = Shell()

    var body: some View {
      NavigationStack(path: $shell.path) {
        Text("Home")
          .navigationDestination(for: String.self) { screen in Text("Screen \(screen)") }
      }
      .overlay(alignment: .top) { Text(shell.toast ?? "") }
      .relayHandler(shell, for: ToastFeature.self)
      .relayHandler(shell, for: NavigationFeature.self, while: .mounted)
    }
  }
}

enum ToastRecipe {
  struct Toast: Equatable {
    let number: Int
    let message: String
  }

  struct ToastBanner: View {
    @Binding var toast: Toast?
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    var body: some View {
      if let toast {
        Text(toast.message)
          .padding(.horizontal, 16)
          .padding(.vertical, 10)
          .background(.black.opacity(0.75), in: .capsule)
          .foregroundStyle(.white)
          .transition(.move(edge: .top).combined(with: .opacity))
          .task(id: toast.number) {
            guard (try? await pause(.seconds(2))) != nil else { return }
            self.toast = nil
          }
      }
    }
  }
}

enum ScreensRecipe {
  final class Navigator: NavigationFeature {
    @Binding private var path: NavigationPath

    init(path: Binding<NavigationPath>) { _path = path }

    func open(_ screen: String) { path.append(screen) }

    func goBack() {
      if !path.isEmpty { path.removeLast() }
    }
  }

  struct Stack: View {
    @State private var path = NavigationPath()

    var body: some View {
      NavigationStack(path: $path) {
        Text("Home")
          .navigationDestination(for: String.self) { screen in Text("Screen \(screen)") }
      }
      .relayHandler(NavigationFeature.self, while: .mounted) { Navigator(path: $path) }
    }
  }
}
