// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RelayTesting
import Testing
import XCTest

protocol MailFeature: RelayFeature {
  func send(_ orderID: String) async throws
}

struct SendReceipt: AsyncRelayCommand, DurableCommand, Equatable {
  static let commandName = "receipt.send"
  var orderID: String
  func execute(on mailer: any MailFeature) async throws { try await mailer.send(orderID) }
}

struct ShowOffer: RelayCommand, DurableCommand, Equatable {
  static let commandName = "offer.show"
  var name: String
  func execute(on toast: any ToastFeature) { toast.show(name) }
}

final class MockMailer: MailFeature {
  private(set) var sent: [String] = []
  private(set) var redelivered: [Bool] = []
  var latch: Latch?

  nonisolated init() {}

  func send(_ orderID: String) async throws {
    redelivered.append(CommandContext.current?.isRedelivery == true)
    await latch?.wait()
    sent.append(orderID)
  }
}

@Suite(.relay(journal: .temporary, restoring: SendReceipt.self, ShowOffer.self)) @MainActor
struct RelaunchTests {
  @Test func whatWaitsIsThereInTheNextProcess() async {
    let relay = Relay.testing(journal: .temporary, restoring: SendReceipt.self)
    relay.dispatch(SendReceipt(orderID: "42"))
    let next = await relay.relaunch()
    next.recorder.expectWaiting(.command(SendReceipt(orderID: "42")))
    #expect(relay.snapshot().isClosed && next !== relay)
    let mailer = MockMailer()
    next.register(mailer, for: MailFeature.self)
    await next.waitUntilIdle()
    #expect(mailer.sent == ["42"])
    #expect(await next.relaunch().pendingCount == 0)
  }

  @Test func aCrashInTheHandlerDeliversTheCommandAgainAndSaysSo() async {
    let relay = Relay.testing(journal: .temporary, restoring: SendReceipt.self)
    relay.register(MockMailer(), for: MailFeature.self)
    let next = await relay.relaunch(afterCrashIn: SendReceipt(orderID: "42"))
    let mailer = MockMailer()
    next.register(mailer, for: MailFeature.self)
    await next.waitUntilIdle()
    #expect(mailer.sent == ["42"] && mailer.redelivered == [true])
  }

  @Test func aCrashInAHandlerThatNeverEnds() async {
    let relay = Relay.testing(journal: .inMemory, restoring: SendReceipt.self)
    let stuck = MockMailer()
    let latch = Latch()
    stuck.latch = latch
    relay.register(stuck, for: MailFeature.self)
    let next = await relay.relaunch(afterCrashIn: SendReceipt(orderID: "42"))
    #expect(stuck.sent == [])
    let mailer = MockMailer()
    next.register(mailer, for: MailFeature.self)
    await next.waitUntilIdle()
    #expect(mailer.sent == ["42"] && mailer.redelivered == [true])
    latch.open()
  }

  @Test func aSynchronousHandlerCrashesToo() async {
    let relay = Relay.shared
    relay.dispatch(ShowOffer(name: "earlier"))
    relay.register(MockToast(), for: ToastFeature.self)
    let next = await relay.relaunch(afterCrashIn: ShowOffer(name: "crash"))
    #expect(Relay.shared === next)
    next.recorder.expectWaiting(.command(ShowOffer(name: "crash")), times: 1)
    next.recorder.expectNoDispatch(of: .command(ShowOffer(name: "earlier")))
    let toast = MockToast()
    next.register(toast, for: ToastFeature.self)
    #expect(toast.messages == ["crash"])
  }

  @Test func aCrashThatCannotHappenIsAFailure() async {
    let relay = Relay.testing(journal: .inMemory, restoring: SendReceipt.self)
    let texts = await failures {
      _ = await relay.relaunch(afterCrashIn: SendReceipt(orderID: "42"))
    }
    #expect(
      texts == [
        """
        SendReceipt was to be crashed in, and was not started.
        Dispatched:
          1  MailFeature  SendReceipt(orderID: "42")  normal  waiting
        """
      ])
  }

  @Test func aCrashBehindAClosedGateIsAFailureToo() async {
    let relay = Relay.testing(journal: .inMemory, restoring: SendReceipt.self)
    relay.register(MockMailer(), for: MailFeature.self)
    relay.gate.close(for: "login")
    let texts = await failures {
      _ = await relay.relaunch(afterCrashIn: SendReceipt(orderID: "42"))
    }
    #expect(texts.count == 1 && texts[0].contains("and was not started"))
  }

  @Test func aDiskThatLosesItsPowerKeepsWhatReachedTheMedium() async throws {
    let disk = FaultInjectingFileSystem()
    func launch() throws -> Relay {
      try Relay(
        scope: "power", journal: disk.location("/power", durability: .survivesPowerLoss),
        restoring: SendReceipt.self)
    }
    let relay = try launch()
    let first = relay.dispatch(SendReceipt(orderID: "1"))
    #expect(await relay.waitUntilPersisted(first) == .survivesPowerLoss)
    disk.fail(.sync, with: .inputOutput)
    #expect(relay.dispatch(SendReceipt(orderID: "2")).durability == .survivesProcessDeath)
    disk.losePower()
    relay.close()
    let next = try launch()
    #expect(await next.restore() == .restored(1))
    next.close()
  }

  @Test(arguments: [FaultInjectingFileSystem.Operation.open, .read, .lock])
  func aJournalThatIsLockedAwayIsUnavailableAndNotLost(
    operation: FaultInjectingFileSystem.Operation
  ) async {
    let disk = FaultInjectingFileSystem()
    let relay = Relay.testing(journal: .on(disk), restoring: SendReceipt.self)
    relay.dispatch(SendReceipt(orderID: "1"))
    let locked = await relay.relaunch(restores: false)
    locked.close()
    disk.fail(operation, with: .notPermitted)
    let next = await locked.relaunch(restores: false)
    disk.fail(operation, with: .notPermitted)
    _ = await next.restore()
    disk.heal()
    let last = await next.relaunch()
    #expect(last.recorder.commands(of: SendReceipt.self) == [SendReceipt(orderID: "1")])
  }

  @Test func timeGoesOnOverARelaunch() async {
    let relay = Relay.testing(journal: .inMemory, restoring: SendReceipt.self)
    relay.dispatch(SendReceipt(orderID: "old"), timeToLive: .seconds(60))
    relay.manualClock.advance(by: .seconds(59))
    let second = await relay.relaunch()
    #expect(second.pendingCount == 1)
    second.manualClock.advance(by: .seconds(1))
    let third = await second.relaunch()
    #expect(third.pendingCount == 0)
    #expect(third.deadLetters.isEmpty)
  }

  @Test func aDiskThatIsFullLosesWhatWasSentThen() async {
    let disk = FaultInjectingFileSystem()
    let relay = Relay.testing(journal: .on(disk), restoring: SendReceipt.self)
    relay.dispatch(SendReceipt(orderID: "1"))
    disk.fail(.write, with: .noSpace)
    #expect(relay.dispatch(SendReceipt(orderID: "2")).durability == .inMemory)
    let next = await relay.relaunch()
    #expect(next.recorder.commands(of: SendReceipt.self) == [SendReceipt(orderID: "1")])
  }

  @Test func aFaultCanComeLater() async {
    let disk = FaultInjectingFileSystem()
    let relay = Relay.testing(journal: .on(disk), restoring: SendReceipt.self)
    await relay.waitUntilPersisted(relay.dispatch(SendReceipt(orderID: "1")))
    let before = disk.operationCount(.write)
    disk.fail(.write, with: .inputOutput, after: 1)
    let reached = (2...3).map { relay.dispatch(SendReceipt(orderID: "\($0)")).durability }
    #expect(reached == [.survivesProcessDeath, .inMemory])
    #expect(disk.operationCount(.write) > before)
    disk.heal()
    await relay.waitUntilPersisted(relay.dispatch(SendReceipt(orderID: "4")))
    let left = await relay.relaunch().recorder.commands(of: SendReceipt.self).map(\.orderID)
    #expect(left.prefix(2) == ["1", "2"] && left.last == "4")
  }

  @Test func withoutAJournalNothingIsLeft() async {
    let relay = Relay.testing()
    relay.dispatch(ShowToast(message: "x"))
    #expect(await relay.relaunch().pendingCount == 0)
  }

  @Test(arguments: 1...10) func eachTestHasADirectoryOfItsOwn(number: Int) async {
    Relay.shared.dispatch(ShowOffer(name: "\(number)"))
    let next = await Relay.shared.relaunch()
    #expect(next.recorder.commands(of: ShowOffer.self) == [ShowOffer(name: "\(number)")])
  }
}

/// What is left when tests have ended, although somebody keeps the relay.
@Suite(.serialized) struct TemporaryJournalTests {
  private struct Left: Sendable {
    let relay: Relay
    let path: String
    weak var mock: MockToast?
    let calls: SeenMutex<Int>
  }

  private static let kept = SeenMutex<[Left]>([])

  private struct Failure: Error {}

  @Test(
    .relay(
      configuration: try! RelayConfiguration(
        limit: 5, retry: .later(.constant(.seconds(5), attempts: 3))),
      journal: .temporary, restoring: ShowOffer.self))
  func aTestLeavesCommandsARetryAndAClosedGateBehind() async throws {
    let relay = Relay.shared
    let toast = MockToast()
    let calls = SeenMutex(0)
    relay.register(toast, for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { _ in
      calls.withLock { $0 += 1 }
      throw Failure()
    }
    await relay.waitUntilIdle()
    #expect(calls.withLock { $0 } == 1 && relay.pendingCount == 1)
    relay.gate.close(for: "a reason")
    for number in 1...3 { relay.dispatch(ShowOffer(name: "\(number)")) }
    let path = try #require(relay.journalPathForTests)
    #expect(FileManager.default.fileExists(atPath: path))
    Self.kept.withLock { $0.append(Left(relay: relay, path: path, mock: toast, calls: calls)) }
    #expect(relay.pendingCount == 4)
  }

  @Test(.relay(journal: .temporary, restoring: ShowOffer.self))
  func theNextOneSeesDefaultsNothingPendingAndAnotherDirectory() async throws {
    let before = try #require(Self.kept.withLock { $0.last })
    let relay = Relay.shared
    #expect(await relay.restore() == .empty)
    #expect(relay.pendingCount == 0 && relay.gate.isOpen)
    #expect(relay.configuration.limit == 100 && relay.configuration.retry == .drop)
    #expect(relay.journalPathForTests != before.path)
    #expect(before.relay.snapshot().isClosed)
    #expect(!FileManager.default.fileExists(atPath: before.path))
    // Handlers are let go of on the main actor, in the turn that was asked for when the relay closed.
    await Task { @MainActor in }.value
    #expect(before.mock == nil)
    // The retry that was due never comes.
    before.relay.manualClock.advance(by: .seconds(600))
    await Task { @MainActor in }.value
    #expect(before.calls.withLock { $0 } == 1)
  }

  @Test func theDirectoryGoesWithTheLastRelay() async throws {
    var path: String?
    do {
      let relay = Relay.testing(journal: .temporary, restoring: ShowOffer.self)
      relay.dispatch(ShowOffer(name: "x"))
      path = relay.journalPathForTests
      #expect(FileManager.default.fileExists(atPath: try #require(path)))
    }
    // A relay's last turn of the main actor has to pass.
    await Task { @MainActor in }.value
    #expect(!FileManager.default.fileExists(atPath: try #require(path)))
  }
}

@MainActor
final class RelaunchXCTests: XCTestCase {
  func testTheNextRelayStandsInForTheSharedOne() async {
    let relay = Relay.testing(in: self, journal: .temporary, restoring: ShowOffer.self)
    Relay.shared.dispatch(ShowOffer(name: "x"))
    let next = await relay.relaunch()
    XCTAssertTrue(Relay.shared === next)
    next.recorder.expectWaiting(.any(ShowOffer.self))
  }
}
