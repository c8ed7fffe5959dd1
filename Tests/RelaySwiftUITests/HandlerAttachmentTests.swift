// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

@testable import RelaySwiftUI

@MainActor
struct HandlerAttachmentTests {
  protocol ToastFeature: RelayFeature {
    func show(_ message: String)
  }

  final class Presenter: ToastFeature {
    let name: String
    let log: Log

    init(_ name: String, _ log: Log) {
      self.name = name
      self.log = log
    }

    func show(_ message: String) { log.lines.append("\(name): \(message)") }
  }

  @MainActor final class Log { var lines: [String] = [] }

  let relay: Relay
  let log = Log()

  init() throws {
    relay = Relay(
      scope: "app", configuration: try RelayConfiguration(clock: ManualClock().relayClock))
  }

  private func attach(
    _ name: String, while presence: HandlerPresence = .visible
  ) -> HandlerAttachment<ToastFeature> {
    let log = log
    return HandlerAttachment(ToastFeature.self, in: relay, while: presence) {
      log.lines.append("\(name) made")
      return Presenter(name, log)
    }
  }

  private func show(_ message: String) {
    relay.dispatch(ToastFeature.self) { $0.show(message) }
  }

  @Test func theHandlerIsMadeOnceWhenItIsNeededFirst() {
    let attachment = attach("a")
    #expect(log.lines.isEmpty)
    attachment.appear()
    attachment.disappear()
    attachment.appear()
    show("1")
    #expect(log.lines == ["a made", "a: 1"])
  }

  @Test func appearBeforeTheOthersDisappear() {
    let (first, second) = (attach("a"), attach("b"))
    first.appear()
    second.appear()
    first.disappear()
    show("1")
    #expect(log.lines.last == "b: 1")
    #expect(!first.isRegistered && second.isRegistered)
  }

  @Test func whatWasCoveredIsBackWithoutACall() {
    let (screen, sheet) = (attach("screen"), attach("sheet"))
    screen.appear()
    sheet.appear()
    show("1")
    sheet.disappear()
    show("2")
    #expect(log.lines.suffix(2) == ["sheet: 1", "screen: 2"])
  }

  @Test func aGhostEndsWithItsState() {
    var home: HandlerAttachment<ToastFeature>? = attach("home")
    home?.appear()
    home?.disappear()
    let login = attach("login")
    login.appear()
    home?.appear()
    home = nil
    show("1")
    #expect(log.lines.last == "login: 1")
    #expect(home == nil)
  }

  @Test func aMissingDisappearEndsWithTheState() {
    var attachment: HandlerAttachment<ToastFeature>? = attach("a")
    attachment?.appear()
    attachment = nil
    show("1")
    #expect(relay.pendingCount == 1)
    #expect(!relay.isRegistered(ToastFeature.self))
    #expect(attachment == nil)
  }

  @Test func aMountedHandlerStaysUntilItEnds() {
    let (root, screen) = (attach("root", while: .mounted), attach("screen"))
    root.appear()
    screen.appear()
    root.disappear()
    screen.disappear()
    show("1")
    #expect(log.lines.last == "root: 1")
    root.end()
    show("2")
    #expect(relay.pendingCount == 1)
    root.appear()
    #expect(root.isRegistered)
  }

  @Test func aDisabledHandlerIsNeitherMadeNorRegistered() {
    let attachment = attach("a")
    attachment.isEnabled = false
    attachment.appear()
    #expect(log.lines.isEmpty && !relay.isRegistered(ToastFeature.self))
    attachment.isEnabled = true
    show("1")
    attachment.isEnabled = false
    show("2")
    #expect(log.lines == ["a made", "a: 1"])
    #expect(relay.pendingCount == 1)
  }

  @Test func appearingDeliversInALaterTurn() async {
    show("1")
    show("2")
    let attachment = attach("a")
    attachment.appear()
    #expect(log.lines == ["a made"])
    await relay.waitUntilIdle()
    #expect(log.lines == ["a made", "a: 1", "a: 2"])
    #expect(attachment.isRegistered)
  }

  @Test func anExistingObjectIsNotKept() {
    var presenter: Presenter? = Presenter("a", log)
    let attachment = HandlerAttachment<ToastFeature>(
      presenter!, for: ToastFeature.self, in: relay)
    attachment.appear()
    show("1")
    presenter = nil
    show("2")
    attachment.appear()
    #expect(log.lines == ["a: 1"])
    #expect(relay.pendingCount == 1)
    #expect(presenter == nil)
  }

  @Test func anAttachmentMovesToAnotherRelayWithoutAGap() {
    let other = Relay(scope: "other")
    let attachment = attach("a")
    attachment.appear()
    let handler = attachment.madeHandler
    attachment.prepare(in: other, while: .visible, isEnabled: true) { handler! }
    attachment.move()
    #expect(!relay.isRegistered(ToastFeature.self))
    other.dispatch(ToastFeature.self) { $0.show("1") }
    #expect(log.lines == ["a made", "a: 1"])
  }
}
