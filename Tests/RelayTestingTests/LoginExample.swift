// SPDX-License-Identifier: MIT

import FeatureRelay

// The code under test of the examples: a view model that dispatches, as an app has it.

protocol ToastFeature: RelayFeature {
  func show(_ message: String)
}

protocol NavigationFeature: RelayFeature {
  func open(_ screen: String)
}

struct ShowToast: RelayCommand, Equatable {
  var message: String
  func execute(on toast: any ToastFeature) { toast.show(message) }
}

struct OpenScreen: RelayCommand, Equatable {
  static let policy = CommandPolicy(priority: .high)
  var name: String
  func execute(on navigation: any NavigationFeature) { navigation.open(name) }
}

final class LoginViewModel: Sendable {
  private let relay: Relay

  init(relay: Relay = .shared) {
    self.relay = relay
  }

  func loginSucceeded() {
    relay.dispatch(ShowToast(message: "Welcome back!"))
    relay.dispatch(OpenScreen(name: "home"))
  }

  func loginFailed(attempts: Int) {
    if attempts > 3 { relay.dispatch(ToastFeature.self) { $0.show("Locked") } }
  }
}

final class MockToast: ToastFeature {
  private(set) var messages: [String] = []
  var lastMessage: String? { messages.last }

  nonisolated init() {}

  func show(_ message: String) { messages.append(message) }
}
