// SPDX-License-Identifier: MIT

import FeatureRelay
import Observation
import RelayViews
import SwiftUI

/// The checkout's business code.
@MainActor @Observable
final class CheckoutModel {
  private(set) var isLocated = false
  @ObservationIgnored private let relay: Relay
  @ObservationIgnored private let outbox: Relay

  init(_ relay: Relay, outbox: Relay) {
    self.relay = relay
    self.outbox = outbox
  }

  /// Asks for the camera; the question waits for whoever can ask it, but not for ever.
  func scanCard() async {
    let isAllowed = try? await relay.request(
      PermissionFeature.self, waitingAtMost: .seconds(5)
    ) { await $0.requestCamera() }
    relay.dispatch(ShowToast(message: isAllowed == true ? "Card scanned" : "The camera is off"))
  }

  func locate() async {
    let isAllowed = try? await relay.request(
      PermissionFeature.self, waitingAtMost: .seconds(5)
    ) { await $0.requestLocation() }
    isLocated = isAllowed == true
  }

  func pay(_ orderID: String, by user: String) {
    outbox.dispatch(SendReceipt(orderID: orderID), tags: [.user(user)])
    relay.dispatch(ShowToast(message: "Order \(orderID) paid"))
  }

  func cancel(_ orderID: String) {
    relay.dispatch(ConfirmCancellation(orderID: orderID))
  }
}

struct CheckoutView: View {
  let container: Container
  @State private var isPaying = false

  var body: some View {
    Text("Checkout")
    Button("Pay") { isPaying = true }
      .sheet(isPresented: $isPaying) {
        PaymentSheet(
          container: container,
          model: CheckoutModel(container.checkout, outbox: container.outbox))
      }
  }
}

/// A sheet that takes over: while it is up, toasts are shown in it.
struct PaymentSheet: View {
  let container: Container
  @State var model: CheckoutModel
  @State private var note = "Nothing yet"
  @State private var isDone = false
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    VStack {
      Text(note)
      Button("Scan card") { Task { await model.scanCard() } }
      Button("Use location") { Task { await model.locate() } }
      Button("Cancel order") { model.cancel("42") }
      Button("Save") { isDone = true }
    }
    .onChange(of: isDone) {
      // This update ends the registration below, long before the animation ends: what is sent in a
      // later turn is for the shell.
      dismiss()
      Task { model.pay("42", by: container.session.user ?? "") }
    }
    .relayHandler(ToastFeature.self, in: container.app, isEnabled: !isDone) {
      SheetNotes(note: $note)
    }
  }
}

private final class SheetNotes: ToastFeature {
  @Binding private var note: String

  init(note: Binding<String>) { _note = note }

  func show(_ message: String) { note = message }
}
