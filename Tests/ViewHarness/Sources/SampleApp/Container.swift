// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RelayViews

/// Everything that is there once: made when the process starts, passed on to whoever needs it.
@MainActor
package final class Container {
  /// What the container gets from outside: real things in the app, others in tests.
  package struct System {
    package var clock: RelayClock
    package var pause: @Sendable (Duration) async throws -> Void
    package var permissions: any SystemPermissions
    package var server: any Server
    package var journal: JournalLocation

    package init(
      clock: RelayClock, pause: @escaping @Sendable (Duration) async throws -> Void,
      permissions: any SystemPermissions, server: any Server, journal: JournalLocation
    ) {
      self.clock = clock
      self.pause = pause
      self.permissions = permissions
      self.server = server
      self.journal = journal
    }
  }

  package let system: System
  /// The app's relay: the shell's handlers are registered here.
  package let app: Relay
  /// The modules' own. What they do not handle themselves the shell does.
  package let catalog: Relay
  package let checkout: Relay
  /// What has to be done even if this process ends before it is.
  package let outbox: Relay
  package let lifecycle: RelayLifecycle
  package let outboxLifecycle: RelayLifecycle
  package let session: Session
  private let mailer: Mailer
  private let permissions: Permissions

  package init(_ system: System) throws {
    let configuration = try RelayConfiguration(clock: system.clock)
    self.system = system
    app = Relay(scope: "shop", configuration: configuration)
    catalog = Relay(scope: "catalog", parent: app, configuration: configuration)
    checkout = Relay(scope: "checkout", parent: app, configuration: configuration)
    outbox = try Relay(
      scope: "outbox", parent: app, configuration: configuration, journal: system.journal,
      restoring: SendReceipt.self)
    lifecycle = RelayLifecycle(app)
    // Mail goes out whether somebody looks or not.
    outboxLifecycle = RelayLifecycle(outbox, closingGate: .never)
    session = Session(app)
    mailer = Mailer(system.server)
    permissions = Permissions(system.permissions)
    // Neither needs a screen: the container owns them, and they are there from the start.
    app.register(mailer, for: MailFeature.self)
    app.register(permissions, for: PermissionFeature.self)
    app.configure(MailFeature.self, try FeatureConfiguration(ignoresRelayGate: true))
    lifecycle.launch()
    outboxLifecycle.launch()
  }

  /// A link that the system delivers, perhaps more than once.
  package func open(_ link: URL) {
    guard let screen = Screen(link) else { return }
    app.dispatch(
      OpenScreen(screen: screen), unique: .keepFirst(link.absoluteString, within: .seconds(5)))
  }

  /// Logs out: what waits for this user must not reach the next one.
  package func logOut() {
    guard let user = session.user else { return }
    session.logOut()
    for relay in [app, catalog, checkout, outbox] {
      relay.cancel(tagged: .user(user), erasing: true)
    }
  }
}
