// SPDX-License-Identifier: MIT

import FeatureRelay

// What is written down before anything else happens to it: the same deeds, under names that stay.

struct KeepToast: RelayCommand, DurableCommand {
  static let commandName = "toast.show"
  let message: String
  func execute(on toast: ToastFeature) { toast.show(message) }
}

struct KeepScreen: RelayCommand, DurableCommand {
  static let commandName = "screen.open"
  let screen: String
  func execute(on navigation: NavigationFeature) { navigation.open(screen) }
}

struct KeepEvent: RelayCommand, DurableCommand {
  static let commandName = "event.track"
  let event: String
  func execute(on analytics: AnalyticsFeature) { analytics.track(event) }
}

struct KeepMail: AsyncRelayCommand, DurableCommand {
  static let commandName = "mail.send"
  static let policy = SendMail.policy
  let text: String
  func execute(on mail: MailFeature) async throws { try await mail.send(text) }
}
