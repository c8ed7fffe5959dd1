// SPDX-License-Identifier: MIT

import RelayViews
import SwiftUI

/// The shell: it says how toasts, screens and questions are shown. Nothing below it has to know.
package struct RootView: View {
  let container: Container
  @State private var path: [Screen] = []
  @State private var toast: Toast?
  @State private var alerts = AlertPresenter()

  package var body: some View {
    content
      .overlay(alignment: .top) { ToastBanner(toast: $toast) }
      .alert(
        "Question",
        isPresented: Binding(
          get: { alerts.question != nil }, set: { if !$0 { alerts.hide() } }),
        presenting: alerts.question
      ) { _ in
        Button("Yes") { alerts.respond(true) }
        Button("No", role: .cancel) { alerts.respond(false) }
      } message: { question in
        Text(question)
      }
      .relayHandler(ToastFeature.self) { ToastPresenter(toast: $toast) }
      .relayHandler(NavigationFeature.self, while: .mounted) { Navigator(path: $path) }
      .relayHandler(alerts, for: AlertFeature.self)
  }

  @ViewBuilder private var content: some View {
    if container.session.user == nil {
      LoginView(session: container.session)
    } else {
      NavigationStack(path: $path) {
        CatalogView(model: CatalogModel(container.catalog))
          .relay(container.catalog)
          .navigationDestination(for: Screen.self) { screen in destination(screen) }
      }
    }
  }

  @ViewBuilder private func destination(_ screen: Screen) -> some View {
    switch screen {
    case .product(let id):
      Text("Product \(id)")
      NavigationLink("Buy", value: Screen.checkout)
    case .checkout:
      CheckoutView(container: container)
        .relay(container.checkout)
    }
  }
}

struct LoginView: View {
  let session: Session
  @State private var name = ""

  var body: some View {
    TextField("Name", text: $name)
    Button("Log in") { session.logIn(name) }
      .disabled(name.isEmpty)
  }
}
