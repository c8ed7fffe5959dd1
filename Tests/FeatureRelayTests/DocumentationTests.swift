// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

/// Every piece of code that README.md and the articles show, run, with what the text says about it.
@MainActor
struct DocumentationTests {
  protocol ToastFeature: RelayFeature {
    func show(_ message: String)
  }

  final class ToastPresenter: ToastFeature {
    private(set) var shown: [String] = []
    func show(_ message: String) { shown.append(message) }
  }

  protocol NavigationFeature: RelayFeature {
    func open(_ screen: String)
  }

  final class Coordinator: ToastFeature, NavigationFeature {
    private(set) var log: [String] = []
    func show(_ message: String) { log.append("toast \(message)") }
    func open(_ screen: String) { log.append("screen \(screen)") }
  }

  struct ShowToast: RelayCommand, Equatable {
    static let policy = CommandPolicy(priority: .high, timeToLive: .seconds(10))
    var message: String
    func execute(on toast: any ToastFeature) { toast.show(message) }
  }

  protocol MailFeature: RelayFeature {
    func send(_ text: String) async throws
  }

  struct SendMail: AsyncRelayCommand, Equatable {
    static let policy = CommandPolicy(retry: .inPlace(.exponential(attempts: 3)))
    var text: String
    func execute(on mail: any MailFeature) async throws { try await mail.send(text) }
  }

  final class Mailer: MailFeature {
    private(set) var sent: [String] = []
    var failures = 0
    func send(_ text: String) async throws {
      await Task.yield()
      if failures > 0 {
        failures -= 1
        throw CancellationError()
      }
      sent.append(text)
    }
  }

  let relay: Relay

  init() throws {
    // Time stands still: a slow machine must not let anything expire.
    relay = Relay(
      scope: "app", configuration: try RelayConfiguration(clock: ManualClock().relayClock))
  }

  // MARK: README

  @Test(.relay(replay: .nextTurn, ownership: .weak)) func theMainJob() async {
    // What business code may ask for.
    protocol ToastFeature: RelayFeature { func show(_ message: String) }

    // Business code, on any thread, before there is anything on the screen.
    Relay.shared.dispatch(ToastFeature.self) { $0.show("Welcome back") }

    // The app shell, once it is there. It is held weakly: there is nothing to clean up.
    final class ToastPresenter: ToastFeature {
      private(set) var shown: [String] = []
      func show(_ message: String) { shown.append(message) }
    }
    let presenter = ToastPresenter()
    Relay.shared.register(presenter, for: ToastFeature.self)
    await Relay.shared.waitUntilIdle()  // what waited comes in a later turn of the main actor

    // With a handler there, a dispatch on the main actor has been delivered when it returns.
    Relay.shared.dispatch(ToastFeature.self) { $0.show("Saved") }

    // A command can be a value: comparable in tests, with a policy of its own.
    struct ShowToast: RelayCommand, Equatable {
      static let policy = CommandPolicy(priority: .high, timeToLive: .seconds(10))
      var message: String
      func execute(on toast: any ToastFeature) { toast.show(message) }
    }
    Relay.shared.dispatch(ShowToast(message: "Payment failed"), tags: [.user(42)])
    print(presenter.shown)  // ["Welcome back", "Saved", "Payment failed"]

    #expect(presenter.shown == ["Welcome back", "Saved", "Payment failed"])
  }

  // MARK: Getting started

  @Test func aCommandWaitsForItsHandler() async {
    relay.dispatch(ToastFeature.self) { $0.show("Welcome back") }
    print(relay.pendingCount(ToastFeature.self))  // 1

    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    await relay.waitUntilIdle()
    print(presenter.shown)  // ["Welcome back"]

    #expect(presenter.shown == ["Welcome back"])
    #expect(relay.pendingCount == 0)
  }

  @Test func oneObjectForSeveralFeatures() {
    let coordinator = Coordinator()
    let registration = relay.register(
      coordinator, for: ToastFeature.self, NavigationFeature.self)
    relay.dispatch(NavigationFeature.self) { $0.open("inbox") }
    registration.cancel()  // ends both

    #expect(coordinator.log == ["screen inbox"])
    #expect(!relay.isRegistered(ToastFeature.self))
    #expect(!relay.isRegistered(NavigationFeature.self))
  }

  @Test func aBagEndsRegistrations() {
    let presenter = ToastPresenter()
    var bag: RegistrationBag? = RegistrationBag()
    relay.register(presenter, for: ToastFeature.self).store(in: bag!)
    bag = nil  // the registration has ended, the presenter lives on

    #expect(!relay.isRegistered(ToastFeature.self))
    #expect(bag == nil)
  }

  @Test func anOwnerIsNotKeptAlive() async {
    final class Model: Sendable {
      let relay: Relay
      let title = "Report"
      init(_ relay: Relay) { self.relay = relay }

      func save() {
        relay.dispatch(ToastFeature.self, owner: self) { toast, model in
          toast.show("\(model.title) saved")
        }
      }
    }
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)
    Model(relay).save()
    relay.unregister(ToastFeature.self)
    Model(relay).save()
    relay.register(presenter, for: ToastFeature.self)
    await relay.waitUntilIdle()

    #expect(presenter.shown == ["Report saved"])
    #expect(relay.counts.dropped(.ownerGone) == 1)
  }

  // MARK: Order, lanes and the main actor

  @Test func nothingIsOvertaken() async {
    let relay = relay
    let presenter = ToastPresenter()
    relay.register(presenter, for: ToastFeature.self)

    _ = await Task.detached {
      relay.dispatch(ToastFeature.self) { $0.show("first, from another thread") }
    }.value
    relay.dispatch(ToastFeature.self) { $0.show("second, from the main actor") }
    print(presenter.shown)  // both, in this order

    #expect(presenter.shown == ["first, from another thread", "second, from the main actor"])
  }

  @Test func aHandlerThatDispatchesToItselfFinishesFirst() {
    final class Chatty: ToastFeature {
      let relay: Relay
      private(set) var log: [String] = []
      init(_ relay: Relay) { self.relay = relay }

      func show(_ message: String) {
        log.append("\(message) begins")
        if message == "first" {
          relay.dispatch(ToastFeature.self) { $0.show("second") }
        }
        log.append("\(message) ends")
      }
    }
    let chatty = Chatty(relay)
    relay.register(chatty, for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { $0.show("first") }
    print(chatty.log)  // first begins, first ends, second begins, second ends

    #expect(chatty.log == ["first begins", "first ends", "second begins", "second ends"])
  }

  @Test func anAsynchronousCommandHoldsItsLane() async {
    let mailer = Mailer()
    relay.register(mailer, for: MailFeature.self)
    let acceptance = relay.dispatch(SendMail(text: "one"))  // waiting: it starts in a later turn
    relay.dispatch(MailFeature.self) { try await $0.send("two") }
    await relay.waitUntilIdle()
    print(mailer.sent)  // ["one", "two"]

    #expect(acceptance.outcome == .waiting)
    #expect(mailer.sent == ["one", "two"])
  }

  @Test func aConcurrentCommandLetsTheNextOneStart() async throws {
    struct Prefetch: AsyncRelayCommand {
      static let policy = CommandPolicy(lane: .concurrent)
      var latch: Latch
      func execute(on mail: any MailFeature) async throws { await latch.wait() }
    }
    let mailer = Mailer()
    let latch = Latch()
    relay.register(mailer, for: MailFeature.self)
    relay.dispatch(Prefetch(latch: latch))
    try await relay.request(MailFeature.self) { try await $0.send("meanwhile") }
    #expect(mailer.sent == ["meanwhile"])
    latch.open()
    await relay.waitUntilIdle()
  }
}
