// SPDX-License-Identifier: MIT

import FeatureRelay
import HarnessSupport
import RelayViews
import SwiftUI
import Testing
import ViewHost

/// What the articles show does what they say.
@MainActor @Suite(.timeLimit(.minutes(1)))
struct DocumentationTests {
  let clock = ManualClock()
  let relay: Relay

  init() throws {
    relay = Relay(
      scope: "app", configuration: try RelayConfiguration(clock: clock.relayClock))
  }

  private func show(_ message: String) {
    relay.dispatch(ToastFeature.self) { $0.show(message) }
  }

  @Test func handlersOfViews() {
    let landing = ViewHost { LandingRecipe.HomeView().relay(relay) }
    HomeModel(relay).save()
    landing.update()
    #expect(landing.texts == ["Home", "Saved"])
    landing.close()

    let home = ViewHost { ModifierRecipe.Home().relay(relay) }
    relay.dispatch(BadgeFeature.self) { $0.set(3) }
    home.update()
    #expect(home.texts == ["Home 3"])
  }

  @Test func byHand() {
    let host = ViewHost { ByHandRecipe.ByHand(relay: relay) }
    show("1")
    host.close()
    show("2")
    #expect(LogPresenter.log == ["1"])
    #expect(relay.pendingCount == 1)
  }

  @Test func anUpdatedHandler() {
    struct Screen: View {
      let model: Model
      var body: some View { UpdateRecipe.Profile(name: model.name) }
    }
    let model = Model()
    let host = ViewHost { Screen(model: model).relay(relay) }
    model.name = "b"
    host.update()
    show("1")
    #expect(NamedPresenter.log == ["b: 1"])
  }

  @Test func anObservableShell() {
    let host = ViewHost { ObservableRecipe.ShellView().relay(relay) }
    relay.dispatch(NavigationFeature.self) { $0.open("a") }
    show("hello")
    host.update()
    #expect(host.texts == ["Screen a", "hello"])
    relay.dispatch(NavigationFeature.self) { $0.goBack() }
    host.update()
    #expect(host.texts == ["Home", "hello"])
  }

  @Test func aBannerHidesItself() async {
    struct Screen: View {
      @State private var toast: ToastRecipe.Toast? = ToastRecipe.Toast(number: 1, message: "hello")
      let pause: @Sendable (Duration) async throws -> Void
      var body: some View { ToastRecipe.ToastBanner(toast: $toast, pause: pause) }
    }
    let latch = Latch()
    let host = ViewHost { Screen { _ in await latch.wait() } }
    #expect(host.texts == ["hello"])
    latch.open()
    await host.waitForTasks()
    #expect(host.texts == [])
  }

  @Test func aLinkOpensOneScreenAfterTheLogin() async {
    let relay = relay
    let host = ViewHost { ScreensRecipe.Stack().relay(relay) }
    relay.gate(for: NavigationFeature.self).close(for: "login")
    for _ in 1...2 {
      relay.dispatch(NavigationFeature.self, unique: .keepFirst("shop://product/7")) {
        $0.open("product 7")
      }
    }
    relay.gate(for: NavigationFeature.self).open(for: "login")
    await relay.waitUntilIdle()
    host.update()
    #expect(host.texts == ["Screen product 7"])
    host.goBack()
    #expect(host.texts == ["Home"])
  }

  @Test func aSheetTakesOverAndHandsBack() async {
    let host = ViewHost { SheetRecipe.Screen().relay(relay) }
    host.holdsTransitions = true
    relay.dispatch(SheetFeature.self) { $0.edit(1) }
    host.update()
    show("for the sheet")
    host.update()
    #expect(host.texts == ["none", "Save"])
    host.tap("Save")
    while relay.counts(of: ToastFeature.self).delivered < 2 { await Task.yield() }
    host.update()
    #expect(host.texts == ["Saved", "Save"])
    host.finishTransitions()
    #expect(host.texts == ["Saved"])
  }

  @Test func questionsWaitForTheirAnswers() async throws {
    let relay = relay
    let host = ViewHost { AlertRecipe.AlertView().relay(relay) }
    async let first = relay.request(AlertFeature.self) { await $0.confirm("1?") }
    while !host.shows("1?") {
      await Task.yield()
      host.update()
    }
    host.tap("Yes")
    let answer = try await first
    #expect(answer)
  }

  @Test func aPermissionIsARequest() async throws {
    let relay = relay
    let permissions = PermissionRecipe.Permissions(camera: { true }, location: { false })
    relay.register(permissions, for: PermissionFeature.self)
    let isAllowed = try await relay.request(PermissionFeature.self, waitingAtMost: .seconds(5)) {
      await $0.requestCamera()
    }
    #expect(isAllowed)
    #expect(await !permissions.requestLocation())
  }

  @Test func aModuleIsServedByTheApp() {
    let container = ModuleRecipe.Container(app: relay)
    let host = ViewHost { ModuleRecipe.Root(container: container) }
    host.tap("Pay")
    #expect(host.texts == ["Paid", "Pay"])
    #expect(container.checkout.counts.delivered == 1)
  }

  @Test func windowsShowTheirOwn() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let host = AppHost(AppRecipe.ShopApp.self)
      host.openWindow()
      host.openWindow(phase: .inactive)
      Relay.shared.dispatch(ToastFeature.self) { $0.show("for the active one") }
      host.views.update()
      precondition(host.views.texts == ["for the active one", "none"])
      host.setPhase(.background, of: 1)
      precondition(Relay.shared.gate.isOpen)
      host.setPhase(.background, of: 2)
      precondition(!Relay.shared.gate.isOpen)
    }
  }

  @Test func workInTheBackground() async {
    let lifecycle = RelayLifecycle(relay)
    lifecycle.launch()
    await refresh(lifecycle) { show("waits") }
    #expect(relay.pendingCount == 1)
    #expect(!relay.gate.isOpen)
  }
}
