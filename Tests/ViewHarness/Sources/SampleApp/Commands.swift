// SPDX-License-Identifier: MIT

import FeatureRelay

/// Shows a toast. What nobody sees within ten seconds is not worth showing any more.
struct ShowToast: RelayCommand, Equatable {
  static let policy = CommandPolicy(timeToLive: .seconds(10))
  var message: String
  func execute(on toasts: any ToastFeature) { toasts.show(message) }
}

/// Opens a screen.
struct OpenScreen: RelayCommand, Equatable {
  static let policy = CommandPolicy(priority: .high)
  var screen: Screen
  func execute(on navigation: any NavigationFeature) { navigation.open(screen) }
}

/// Asks whether an order is to be cancelled, and says so.
struct ConfirmCancellation: AsyncRelayCommand, Equatable {
  var orderID: String
  func execute(on alerts: any AlertFeature) async throws {
    _ = await alerts.confirm("Cancel order \(orderID)?")
  }
}

/// Sends a receipt, sooner or later, if need be in another process.
struct SendReceipt: AsyncRelayCommand, DurableCommand, Equatable {
  static let commandName = "receipt.send"
  static let policy = CommandPolicy(priority: .low, retry: .later(.constant(.seconds(30))))
  var orderID: String
  func execute(on mail: any MailFeature) async throws {
    try await mail.sendReceipt(orderID: orderID)
  }
}
