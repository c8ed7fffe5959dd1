// SPDX-License-Identifier: MIT

import FeatureRelay
import HarnessSupport
import RelayViews
import SwiftUI
import Testing
import ViewHost

// Several handlers, objects that live elsewhere, and the relays that they are registered in.
extension RelayHandlerTests {
  @Test func handlersChain() {
    struct Screen: View {
      let model: Model
      var body: some View {
        Text("x")
          .relayHandler(ToastFeature.self) { Recorder("toast", model.log) }
          .relayHandler(BadgeFeature.self, while: .mounted) { Recorder("badge", model.log) }
      }
    }
    let host = ViewHost { Screen(model: model).relay(relay) }
    show("1")
    relay.dispatch(BadgeFeature.self) { $0.set(2) }
    #expect(lines == ["toast: 1", "badge: badge 2"])
    host.close()
    #expect(!relay.isRegistered(ToastFeature.self) && !relay.isRegistered(BadgeFeature.self))
  }

  @Test func anExistingObjectIsRegisteredAndAnotherOneTakesItsPlace() {
    struct Screen: View {
      let model: Model
      let first: Recorder
      let second: Recorder
      var body: some View {
        Text("x").relayHandler(model.number == 0 ? first : second, for: ToastFeature.self)
      }
    }
    let first = Recorder("first", model.log)
    let second = Recorder("second", model.log)
    let host = ViewHost { Screen(model: model, first: first, second: second).relay(relay) }
    show("1")
    model.number = 1
    host.update()
    show("2")
    host.close()
    show("3")
    #expect(lines == ["first: 1", "second: 2"])
    #expect(relay.pendingCount == 1)
  }

  @Test func anExistingObjectIsAwayWhileItIsDisabledOrCovered() {
    struct Screen: View {
      let model: Model
      let recorder: Recorder
      let relay: Relay
      var body: some View {
        Text("x").relayHandler(
          recorder, for: ToastFeature.self, in: relay, isEnabled: model.isEnabled)
      }
    }
    let recorder = Recorder("object", model.log)
    let host = ViewHost { Screen(model: model, recorder: recorder, relay: relay) }
    model.isEnabled = false
    host.update()
    show("1")
    #expect(lines.isEmpty)
    model.isEnabled = true
    host.update()
    show("2")
    host.ghostDisappear(Screen.self)
    show("3")
    #expect(lines == ["object: 1", "object: 2"])
    host.ghostAppear(Screen.self)
    show("4")
    #expect(lines == ["object: 1", "object: 2", "object: 3", "object: 4"])
  }

  @Test func aHandlerGoesWithTheRelayOfItsSubtree() {
    let other = Relay(scope: "other")
    struct Screen: View {
      let model: Model
      let relays: [Relay]
      var body: some View { A(model: model).relay(relays[model.number]) }
    }
    let host = ViewHost { Screen(model: model, relays: [relay, other]) }
    show("1")
    model.number = 1
    host.update()
    #expect(!relay.isRegistered(ToastFeature.self))
    other.dispatch(ToastFeature.self) { $0.show("2") }
    #expect(lines == ["a: 1", "a: 2"])
  }

  @Test(.relay) func withoutAnythingSaidTheRelayIsTheSharedOne() {
    struct Screen: View {
      @Environment(\.relay) private var relay
      var body: some View { Text("\(relay === Relay.shared)") }
    }
    #expect(ViewHost { Screen() }.texts == ["true"])
    #expect(ViewHost { Screen().relay(relay) }.texts == ["false"])
  }

  @Test func aRelayOfOnesOwnLeavesTheSharedOneAlone() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let host = ViewHost { A(model: Model()).relay(Relay(scope: "own")) }
      // It was not made: it can still be set up.
      try Relay.bootstrap()
      withExtendedLifetime(host) {}
    }
  }

  @Test func aHandlerOfTheWrongKindTrapsWithASentence() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        final class Nobody {}
        struct Screen: View {
          var body: some View {
            Text("x").relayHandler(ToastFeature.self) {
              Nobody()
            } update: { _ in
            }
          }
        }
        _ = ViewHost { Screen().relay(Relay(scope: "app")) }
      }
    }
  }
}
