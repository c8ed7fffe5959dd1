// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import HarnessSupport
import Testing
import ViewHost

@testable import SampleApp

/// The sample app, from a cold start with a link to mail that goes out later.
@MainActor @Suite(.timeLimit(.minutes(1)))
struct ShopScenarioTests {
  let shop: ShopFixture

  init() throws {
    shop = try ShopFixture()
  }

  @Test func aColdStartWithALinkNavigatesOnceAfterTheLogin() async {
    let link = URL(string: "shop://product/7")!
    // Nothing can be seen yet, and nothing is delivered.
    #expect(!shop.container.app.gate.isOpen)
    shop.container.open(link)
    shop.host.openWindow(phase: .inactive)
    shop.host.open(link)
    shop.host.setPhase(.active)
    await shop.settle()
    #expect(shop.container.app.gate.isOpen)
    #expect(shop.texts == ["Log in"])
    #expect(shop.container.app.pendingCount(NavigationFeature.self) == 1)

    shop.host.views.write("ann", into: "Name")
    shop.host.views.tap("Log in")
    #expect(!shop.shows("Product 7"))
    await shop.settle()
    #expect(shop.texts == ["Product 7", "Buy"])
    shop.host.views.goBack()
    #expect(shop.texts == ["Open 1", "Open 2", "Open 3"])
    #expect(shop.container.app.counts(of: NavigationFeature.self).delivered == 1)
  }

  @Test func aToastOfAModuleHidesItself() async {
    shop.host.openWindow()
    let model = CatalogModel(shop.container.catalog)
    await Task.detached {
      model.loaded(2)
      model.loaded(3)
    }.value
    await shop.settle()
    #expect(shop.texts.last == "3 products")
    await shop.pause.waitForPause(1)
    shop.clock.advance(by: .seconds(2))
    await shop.host.views.waitForTasks()
    #expect(shop.texts == ["Log in"])
  }

  @Test func aNewerToastStartsAnew() async {
    shop.host.openWindow()
    shop.container.app.dispatch(ToastFeature.self) { $0.show("same") }
    shop.host.views.update()
    await shop.pause.waitForPause(1)
    shop.clock.advance(by: .seconds(1))
    shop.container.app.dispatch(ToastFeature.self) { $0.show("same") }
    shop.host.views.update()
    await shop.pause.waitForPause(2)
    shop.clock.advance(by: .seconds(1))
    await shop.settle()
    #expect(shop.shows("same"))
    shop.clock.advance(by: .seconds(1))
    await shop.host.views.waitForTasks()
    #expect(!shop.shows("same"))
  }

  @Test func modulesNavigateByTheShell() async {
    await shop.logIn()
    shop.host.views.tap("Open 2")
    #expect(shop.texts == ["Product 2", "Buy"])
    shop.host.views.tap("Buy")
    #expect(shop.texts == ["Checkout", "Pay"])
    let checkout = shop.container.checkout
    checkout.dispatch(NavigationFeature.self) { $0.goBack() }
    shop.host.views.update()
    #expect(shop.texts == ["Product 2", "Buy"])
    for _ in 1...3 { checkout.dispatch(NavigationFeature.self) { $0.goBack() } }
    shop.host.views.update()
    #expect(shop.texts == ["Open 1", "Open 2", "Open 3"])
  }

  @Test(arguments: [true, false])
  func aPermissionIsAskedForWhileTheSheetTakesOver(_ isAllowed: Bool) async throws {
    await shop.openPaymentSheet()
    shop.host.views.tap("Scan card")
    await shop.permissions.waitForQuestion(1)
    // The system's question makes the scene inactive; the gate stays open.
    shop.host.setPhase(.inactive)
    shop.permissions.respond(isAllowed)
    let expected = isAllowed ? "Card scanned" : "The camera is off"
    await shop.waitFor(expected)
    shop.host.setPhase(.active)
    shop.host.views.tap("Use location")
    await shop.permissions.waitForQuestion(2)
    shop.permissions.respond(isAllowed)
    await shop.settle()
    #expect(shop.permissions.asked == ["camera", "location"])
    // It is the sheet that says so, not the shell's banner.
    #expect(shop.texts.filter { $0 == expected }.count == 1)
    let place = try #require(shop.texts.firstIndex(of: expected))
    let pay = try #require(shop.texts.firstIndex(of: "Pay"))
    #expect(place > pay)
  }

  @Test func questionsComeOneAfterTheOther() async {
    await shop.openPaymentSheet()
    shop.host.views.tap("Cancel order")
    shop.host.views.tap("Cancel order")
    for answer in ["Yes", "No"] {
      await shop.waitFor("Cancel order 42?")
      #expect(shop.container.app.counts(of: AlertFeature.self).running <= 1)
      #expect(shop.host.views.tap(answer))
    }
    await shop.settle()
    #expect(!shop.shows("Question"))
    #expect(shop.container.checkout.counts(of: AlertFeature.self).delivered == 2)
  }

  @Test func savingHandsOverBeforeTheSheetIsGone() async {
    await shop.openPaymentSheet()
    shop.host.views.holdsTransitions = true
    await shop.save()
    #expect(shop.shows("Save"))
    #expect(shop.shows("Order 42 paid"))
    #expect(shop.shows("Nothing yet"))
    shop.host.views.finishTransitions()
    #expect(!shop.shows("Save"))
    #expect(shop.shows("Order 42 paid"))
  }

  @Test func theBackgroundHoldsScreensBackAndLetsMailOut() async {
    await shop.openPaymentSheet()
    await shop.save()
    #expect(shop.server.paths.isEmpty)
    shop.host.setPhase(.background)
    let checkout = shop.container.checkout
    await Task.detached { _ = checkout.dispatch(ShowToast(message: "2 messages")) }.value
    shop.server.setOnline(true)
    shop.clock.advance(by: .seconds(5))
    await shop.settle()
    #expect(!shop.shows("2 messages"))
    shop.clock.advance(by: .seconds(30))
    await shop.settle()
    #expect(shop.server.paths == ["receipts/42"])
    #expect(!shop.shows("2 messages"))
  }

  @Test func whatWasHeldBackIsShownOnReturnUnlessItIsTooOld() async {
    await shop.logIn()
    shop.host.setPhase(.background)
    shop.container.checkout.dispatch(ShowToast(message: "old"))
    shop.clock.advance(by: .seconds(9))
    shop.container.checkout.dispatch(ShowToast(message: "new"))
    shop.clock.advance(by: .seconds(2))
    shop.host.setPhase(.active)
    await shop.settle()
    #expect(shop.shows("new"))
    #expect(shop.container.checkout.counts.dropped(.expired) == 1)
  }

  @Test func whatWaitsForAUserIsNotForTheNextOne() async {
    await shop.openPaymentSheet()
    await shop.save()
    shop.container.logOut()
    shop.host.views.update()
    #expect(shop.shows("Log in"))
    shop.server.setOnline(true)
    shop.clock.advance(by: .seconds(60))
    await shop.settle()
    #expect(shop.server.paths.isEmpty)
    #expect(shop.container.outbox.counts.dropped(.cancelled) == 1)
  }
}
