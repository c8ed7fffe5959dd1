// SPDX-License-Identifier: MIT

import FeatureRelay
import SwiftUI

// A module: it knows the features and its own relay, and nothing of the shell.

/// The catalog's business code.
struct CatalogModel: Sendable {
  let relay: Relay

  init(_ relay: Relay) { self.relay = relay }

  func open(_ product: Int) {
    relay.dispatch(OpenScreen(screen: .product(product)))
  }

  /// From wherever the download ends.
  func loaded(_ count: Int) {
    relay.dispatch(ShowToast(message: "\(count) products"), unique: .keepLatest("loaded"))
  }
}

struct CatalogView: View {
  let model: CatalogModel

  var body: some View {
    List([1, 2, 3], id: \.self) { product in
      Button("Open \(product)") { model.open(product) }
    }
    .navigationTitle("Catalog")
  }
}
