// SPDX-License-Identifier: MIT

import FeatureRelay
import HarnessSupport
import RelayViews
import SwiftUI
import Testing
import ViewHost

/// Handlers of views, with the system's good and bad manners.
@MainActor
struct RelayHandlerTests {
  let relay: Relay
  let model = Model()
  let events = EventCounter()
  let observation: RelayObservation

  init() throws {
    relay = Relay(
      scope: "app", configuration: try RelayConfiguration(clock: ManualClock().relayClock))
    observation = relay.observe(events)
  }

  var lines: [String] { model.log.lines }

  func show(_ message: String) {
    relay.dispatch(ToastFeature.self) { $0.show(message) }
  }

  struct A: View {
    let model: Model
    var presence = HandlerPresence.visible

    var body: some View {
      Text("a")
        .relayHandler(ToastFeature.self, while: presence, isEnabled: model.isEnabled) {
          Recorder("a", model.log)
        }
    }
  }

  struct B: View {
    let model: Model

    var body: some View {
      Text("b").relayHandler(ToastFeature.self) { Recorder("b", model.log) }
    }
  }

  struct Switch: View {
    let model: Model

    var body: some View {
      if model.screen == "a" {
        A(model: model)
      } else if model.screen == "b" {
        B(model: model)
      }
    }
  }

  @Test func aLateDisappearDoesNotUndoTheNewRegistration() {
    let host = ViewHost { Switch(model: model).relay(relay) }
    show("1")
    model.screen = "b"
    host.update()
    #expect(host.told.map(\.kind) == [.appear, .appear, .disappear])
    show("2")
    #expect(lines == ["a: 1", "b: 2"])
  }

  @Test func aVisibleHandlerIsAwayWhileItsViewIsCovered() {
    let host = ViewHost { A(model: model).relay(relay) }
    // Its state stays, as that of a stack's root under another screen.
    host.ghostDisappear(A.self)
    show("1")
    #expect(lines.isEmpty && relay.pendingCount == 1)
    host.ghostAppear(A.self)
    show("2")
    #expect(lines == ["a: 1", "a: 2"])
  }

  @Test func whatAViewMadeGoesWithIt() {
    final class Kept: ToastFeature {
      func show(_ message: String) {}
    }
    final class Seen { weak var handler: Kept? }
    struct Maker: View {
      let seen: Seen
      var body: some View {
        Text("x").relayHandler(ToastFeature.self) {
          let handler = Kept()
          seen.handler = handler
          return handler
        }
      }
    }
    let seen = Seen()
    let host = ViewHost { Maker(seen: seen).relay(relay) }
    #expect(seen.handler != nil)
    host.close()
    #expect(seen.handler == nil)
  }

  @Test func callbacksInAnyOrderLeaveTheOneThatIsThere() {
    let host = ViewHost { Switch(model: model).relay(relay) }
    // b appears, disappears, appears; only then a disappears.
    host.manners.times = { callback in callback.kind == .disappear && callback.isIn(A.self) ? 0 : 1
    }
    host.manners.keepsRemovedState = true
    model.screen = "b"
    host.update()
    host.ghostDisappear(B.self)
    host.ghostAppear(B.self)
    host.ghostDisappear(A.self)
    show("1")
    #expect(lines == ["b: 1"])
  }

  @Test func aClosedSheetHandsBackToAScreenThatIsNotTold() {
    struct Sheet: View {
      let model: Model
      @Environment(\.dismiss) private var dismiss
      var body: some View {
        Button("Close") { dismiss() }
          .relayHandler(ToastFeature.self) { Recorder("sheet", model.log) }
      }
    }
    struct Screen: View {
      let model: Model
      @State private var isPresented = false
      var body: some View {
        Button("Open") { isPresented = true }
          .relayHandler(ToastFeature.self) { Recorder("screen", model.log) }
          .sheet(isPresented: $isPresented) { Sheet(model: model) }
      }
    }
    let host = ViewHost { Screen(model: model).relay(relay) }
    host.tap("Open")
    show("1")
    host.tap("Close")
    let told = host.told.map(\.kind)
    show("2")
    #expect(lines == ["sheet: 1", "screen: 2"])
    #expect(told == [.appear, .appear, .disappear])
  }

  @Test func aGhostOfAScreenWhoseStateGoesHandsBack() {
    let host = ViewHost { Switch(model: model).relay(relay) }
    host.manners.times = { callback in callback.kind == .disappear ? 0 : 1 }
    host.manners.keepsRemovedState = true
    model.screen = "b"
    host.update()
    host.ghostAppear(A.self)
    host.releaseRemovedState()
    show("1")
    #expect(lines == ["b: 1"])
    #expect(relay.snapshot().features.first?.registrations.count == 1)
  }

  @Test func theRootOfAStackIsBackWithoutAppearing() {
    struct Stack: View {
      let model: Model
      var body: some View {
        @Bindable var model = model
        NavigationStack(path: $model.path) {
          A(model: model, presence: .mounted)
            .navigationDestination(for: Int.self) { _ in B(model: model) }
        }
      }
    }
    let host = ViewHost { Stack(model: model).relay(relay) }
    host.manners.times = { callback in
      callback.kind == .appear && callback.isIn(A.self) && !callback.isIn(B.self) ? 0 : 1
    }
    model.path = [1]
    host.update()
    show("1")
    model.path = []
    host.update()
    show("2")
    // A was told of its first appearing only.
    #expect(lines == ["b: 1", "a: 2"])
  }

  @Test func aMountedHandlerMovesToTheTopWhenItsViewAppearsAgain() {
    struct Both: View {
      let model: Model
      var body: some View {
        A(model: model, presence: .mounted)
        B(model: model)
      }
    }
    let host = ViewHost { Both(model: model).relay(relay) }
    show("1")
    host.ghostAppear(A.self)
    show("2")
    host.ghostDisappear(A.self)
    show("3")
    #expect(lines == ["b: 1", "a: 2", "a: 3"])
  }

  @Test func aViewThatGoesUntoldIsNoHandlerAnyMore() {
    let host = ViewHost { Switch(model: model).relay(relay) }
    show("1")
    host.manners.times = { _ in 0 }
    model.screen = "none"
    host.update()
    show("2")
    #expect(lines == ["a: 1"])
    #expect(relay.pendingCount == 1)
  }

  @Test func aViewWhoseStateIsLostHasOneHandler() {
    let host = ViewHost { Switch(model: model).relay(relay) }
    host.dropState(of: A.self)
    show("1")
    #expect(lines == ["a: 1"])
    #expect(relay.snapshot().features.first?.registrations.count == 1)
  }

  struct Profile: View {
    let model: Model

    var body: some View {
      let name = model.name
      Text(name).relayHandler(ToastFeature.self) {
        Recorder(name, model.log)
      } update: { recorder in
        recorder.name = name
      }
    }
  }

  @Test func theHandlerHasWhatTheViewHasNow() {
    let host = ViewHost { Profile(model: model).relay(relay) }
    show("1")
    let registered = events["registered"]
    let delivered = events["delivered"]
    model.name = "b"
    host.update()
    #expect(events["registered"] == registered)
    #expect(events["delivered"] == delivered)
    show("2")
    #expect(lines == ["a: 1", "b: 2"])
    #expect(registered == 1)
  }

  @Test func nothingIsDeliveredWhileViewsAreUpdated() async {
    show("1")
    show("2")
    let host = ViewHost { A(model: model).relay(relay) }
    #expect(lines.isEmpty)
    #expect(host.told.count == 1)
    await relay.waitUntilIdle()
    #expect(lines == ["a: 1", "a: 2"])
  }

  @Test func whatAHandlerChangesIsSeenInTheNextUpdate() async {
    final class Presenter: ToastFeature {
      @Binding var toast: String?
      init(toast: Binding<String?>) { _toast = toast }
      func show(_ message: String) { toast = message }
    }
    struct Screen: View {
      @State private var toast: String?
      var body: some View {
        Text(toast ?? "none")
          .relayHandler(ToastFeature.self) { Presenter(toast: $toast) }
      }
    }
    show("early")
    let host = ViewHost { Screen().relay(relay) }
    #expect(host.texts == ["none"])
    await relay.waitUntilIdle()
    host.update()
    #expect(host.texts == ["early"])
    show("late")
    host.update()
    #expect(host.texts == ["late"])
  }

  @Test func manyEvaluationsAreOneRegistration() {
    let host = ViewHost { Profile(model: model).relay(relay) }
    for number in 1...10 {
      model.name = "\(number)"
      host.update()
    }
    #expect(host.evaluations(of: Profile.self) == 11)
    host.close()
    #expect(events["registered"] == 1)
    #expect(events["unregistered"] == 1)
    #expect(!relay.isRegistered(ToastFeature.self))
  }

  @Test func doubledCallbacksLeaveNothingBehind() {
    let host = ViewHost()
    host.manners.times = { _ in 2 }
    host.show { A(model: model).relay(relay) }
    show("1")
    #expect(relay.snapshot().features.first?.registrations.count == 1)
    host.close()
    #expect(lines == ["a: 1"])
    #expect(!relay.isRegistered(ToastFeature.self))
  }

  @Test(arguments: [HandlerPresence.visible, .mounted])
  func aDisabledHandlerEndsAtOnceAndComesBack(_ presence: HandlerPresence) async {
    let host = ViewHost { A(model: model, presence: presence).relay(relay) }
    model.isEnabled = false
    host.update()
    show("1")
    #expect(lines.isEmpty)
    model.isEnabled = true
    host.update()
    await relay.waitUntilIdle()
    #expect(lines == ["a: 1"])
  }

  @Test func aHandlerThatIsNeverEnabledIsNotMade() {
    model.isEnabled = false
    struct Screen: View {
      let model: Model
      var body: some View {
        Text("x").relayHandler(ToastFeature.self, isEnabled: model.isEnabled) {
          model.log.lines.append("made")
          return Recorder("a", model.log)
        }
      }
    }
    let host = ViewHost { Screen(model: model).relay(relay) }
    #expect(lines.isEmpty)
    model.isEnabled = true
    host.update()
    show("1")
    #expect(lines == ["made", "a: 1"])
  }

  @Test func aSheetHandsBackBeforeItsAnimationEnds() {
    struct Sheet: View {
      let model: Model
      @Environment(\.dismiss) private var dismiss
      @Environment(\.relay) private var relay
      @State private var isDone = false
      var body: some View {
        Button("Save") {
          isDone = true
          dismiss()
        }
        .relayHandler(ToastFeature.self, isEnabled: !isDone) { Recorder("sheet", model.log) }
      }
    }
    struct Screen: View {
      let model: Model
      @State private var isPresented = true
      var body: some View {
        Text("screen")
          .relayHandler(ToastFeature.self) { Recorder("screen", model.log) }
          .sheet(isPresented: $isPresented) { Sheet(model: model) }
      }
    }
    let host = ViewHost()
    host.holdsTransitions = true
    host.show { Screen(model: model).relay(relay) }
    show("1")
    host.tap("Save")
    #expect(host.shows("Save"))
    show("Saved")
    host.finishTransitions()
    show("3")
    #expect(lines == ["sheet: 1", "screen: Saved", "screen: 3"])
  }
}
