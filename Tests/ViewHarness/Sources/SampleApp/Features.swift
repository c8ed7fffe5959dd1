// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation

// What business code may ask for. Who does it, and how, is the shell's affair.

/// A screen that can be opened.
package enum Screen: Hashable, Sendable {
  case product(Int)
  case checkout

  /// The screen that a link stands for.
  package init?(_ url: URL) {
    let words = (url.host.map { [$0] } ?? []) + url.pathComponents.filter { $0 != "/" }
    switch (words.first, words.count) {
    case ("product", 2):
      guard let id = Int(words[1]) else { return nil }
      self = .product(id)
    case ("checkout", 1): self = .checkout
    default: return nil
    }
  }
}

/// Says something in passing.
package protocol ToastFeature: RelayFeature {
  func show(_ message: String)
}

/// Opens screens and leaves them.
package protocol NavigationFeature: RelayFeature {
  func open(_ screen: Screen)
  func goBack()
}

/// Asks, and waits for the answer.
package protocol AlertFeature: RelayFeature {
  func confirm(_ question: String) async -> Bool
}

/// Asks the system for what a person has to allow.
package protocol PermissionFeature: RelayFeature {
  func requestCamera() async -> Bool
  func requestLocation() async -> Bool
}

/// Talks to the server.
package protocol MailFeature: RelayFeature {
  func sendReceipt(orderID: String) async throws
}
