// SPDX-License-Identifier: MIT

import FeatureRelay
import Observation

/// Whether somebody is logged in. Until then no screen is opened: commands wait at the gate.
@MainActor @Observable
package final class Session {
  package private(set) var user: String?
  @ObservationIgnored private let relay: Relay

  init(_ relay: Relay) {
    self.relay = relay
    relay.gate(for: NavigationFeature.self).close(for: "login")
  }

  package func logIn(_ user: String) {
    self.user = user
    relay.gate(for: NavigationFeature.self).open(for: "login")
  }

  package func logOut() {
    user = nil
    relay.gate(for: NavigationFeature.self).close(for: "login")
  }
}
