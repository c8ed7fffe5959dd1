// SPDX-License-Identifier: MIT

import RelayViews
import SwiftUI

/// The app. In Xcode with `@main`, and an `init()` that makes the container of the system's own
/// things.
package struct ShopApp: App {
  private let container: Container

  package init() {
    fatalError("Make a container of the system's own things here.")
  }

  package init(_ container: Container) { self.container = container }

  package var body: some Scene {
    WindowGroup {
      RootView(container: container)
        .environment(\.pause, container.system.pause)
        .relay(container.app)
        .relayLifecycle(container.lifecycle)
        .relayLifecycle(container.outboxLifecycle)
        .onOpenURL { container.open($0) }
    }
  }
}
