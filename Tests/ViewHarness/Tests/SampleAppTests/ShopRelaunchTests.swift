// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import HarnessSupport
import Testing
import ViewHost

@testable import SampleApp

/// The sample app after its process was killed: what was in the outbox goes out, once, in the next
/// one.
@MainActor @Suite(.timeLimit(.minutes(2)))
struct ShopRelaunchTests {
  private func makeDirectory() throws -> URL {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("shop-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  @Test func mailSurvivesAKill() async throws {
    let directory = try makeDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path

    // Somebody pays without a connection, and the process is killed.
    await #expect(processExitsWith: .signal(SIGKILL)) {
      @MainActor [path = path as String] in
      let shop = try ShopFixture(journal: .directory(URL(fileURLWithPath: path)))
      await shop.openPaymentSheet()
      await shop.save()
      precondition(shop.server.paths.isEmpty)
      kill(getpid(), SIGKILL)
    }

    // The next process is started for work in the background: no window, and there is a connection.
    var shop: ShopFixture? = try ShopFixture(journal: .directory(directory))
    shop?.server.setOnline(true)
    await shop?.settle()
    #expect(shop?.server.paths == ["receipts/42"])
    #expect(shop?.container.app.gate.isOpen == false)
    await shop?.container.outboxLifecycle.suspend()
    shop?.container.outbox.close()
    shop = nil

    // And the one after that has nothing left to do.
    let last = try ShopFixture(journal: .directory(directory))
    last.server.setOnline(true)
    last.host.openWindow()
    await last.settle()
    #expect(last.server.paths == [])
    last.container.outbox.close()
  }

  @Test func mailIsSentOnceAlthoughTheAppComesAndGoes() async throws {
    let directory = try makeDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let shop = try ShopFixture(journal: .directory(directory))
    await shop.openPaymentSheet()
    await shop.save()
    for _ in 1...3 {
      shop.host.setPhase(.background)
      shop.host.setPhase(.active)
      await shop.settle()
    }
    shop.server.setOnline(true)
    shop.clock.advance(by: .seconds(120))
    await shop.settle()
    #expect(shop.server.paths == ["receipts/42"])
    shop.container.outbox.close()
  }
}
