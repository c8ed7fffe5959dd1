// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import HarnessSupport
import SwiftUI
import ViewHost

@testable import SampleApp

/// One process of the sample app, with somebody who uses it.
@MainActor
final class ShopFixture {
  let clock = ManualClock()
  let permissions = TestPermissions()
  let server = TestServer()
  let pause: TestPause
  let container: Container
  let host: AppHost<ShopApp>

  init(journal: JournalLocation = .none) throws {
    let pause = TestPause(clock)
    self.pause = pause
    container = try Container(
      Container.System(
        clock: clock.relayClock, pause: { try await pause.pause($0) }, permissions: permissions,
        server: server, journal: journal))
    host = AppHost(ShopApp(container))
  }

  var texts: [String] { host.views.texts }

  func shows(_ text: String) -> Bool { host.views.shows(text) }

  /// Lets happen what can happen now.
  func settle() async {
    await container.lifecycle.waitUntilSettled()
    await container.outboxLifecycle.waitUntilSettled()
    for relay in [container.app, container.catalog, container.checkout, container.outbox] {
      await relay.waitUntilIdle()
    }
    host.views.update()
  }

  /// Lets turns pass until a text can be seen.
  func waitFor(_ text: String) async {
    while !shows(text) {
      await Task.yield()
      host.views.update()
    }
  }

  func logIn() async {
    host.openWindow()
    host.views.write("ann", into: "Name")
    host.views.tap("Log in")
    await settle()
  }

  func openPaymentSheet() async {
    await logIn()
    host.views.tap("Open 2")
    host.views.tap("Buy")
    host.views.tap("Pay")
  }

  func save() async {
    host.views.tap("Save")
    while container.outbox.counts.accepted == 0 { await Task.yield() }
    await settle()
  }
}
