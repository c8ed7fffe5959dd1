// SPDX-License-Identifier: MIT

import FeatureRelay

// What the demo's business code can ask for, and the commands that ask for it. Nothing here knows
// who does it.

protocol ToastFeature: RelayFeature {
  func show(_ message: String)
}

protocol NavigationFeature: RelayFeature {
  func open(_ screen: String)
}

protocol MailFeature: RelayFeature {
  func send(_ text: String) async throws
}

protocol AnalyticsFeature: RelayFeature {
  func track(_ event: String)
}

protocol PermissionFeature: RelayFeature {
  func request(_ resource: String) async -> Bool
}

struct ShowToast: RelayCommand {
  let message: String
  func execute(on toast: ToastFeature) { toast.show(message) }
}

struct OpenScreen: RelayCommand {
  let screen: String
  func execute(on navigation: NavigationFeature) { navigation.open(screen) }
}

struct TrackEvent: RelayCommand {
  let event: String
  func execute(on analytics: AnalyticsFeature) { analytics.track(event) }
}

/// Takes time, may fail, and is tried four times, each after twice the time; mails behind it keep
/// their order.
struct SendMail: AsyncRelayCommand {
  static let policy = CommandPolicy(
    retry: .inPlace(.exponential(base: .seconds(1), jitter: false, attempts: 4)))
  let text: String
  func execute(on mail: MailFeature) async throws { try await mail.send(text) }
}

struct AskPermission: RelayRequest {
  let resource: String
  func execute(on permission: PermissionFeature) async -> Bool {
    await permission.request(resource)
  }
}

extension FeatureName {
  /// What events call the feature.
  var typeName: String {
    switch self {
    case .toast: "\(ToastFeature.self)"
    case .navigation: "\(NavigationFeature.self)"
    case .mail: "\(MailFeature.self)"
    case .analytics: "\(AnalyticsFeature.self)"
    case .permission: "\(PermissionFeature.self)"
    }
  }
}
