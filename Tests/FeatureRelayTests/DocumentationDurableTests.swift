// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import Testing

/// The code of the article on durable commands.
@MainActor
struct DocumentationDurableTests {
  protocol MailFeature: RelayFeature {
    func send(_ orderID: String) async throws
  }

  struct SendReceipt: AsyncRelayCommand, DurableCommand, Equatable {
    static let commandName = "receipt.send"
    var orderID: String
    func execute(on mailer: any MailFeature) async throws { try await mailer.send(orderID) }
  }

  final class Mailer: MailFeature {
    private(set) var sent: [String] = []
    private func wasSent(_ orderID: String) -> Bool { sent.contains(orderID) }

    func send(_ orderID: String) async throws {
      if CommandContext.current?.isRedelivery == true, wasSent(orderID) { return }
      sent.append(orderID)
    }
  }

  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("relay-\(UUID().uuidString)")

  @Test func aCommandSurvivesARelaunch() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let outbox = try Relay(
      scope: "outbox", journal: .directory(directory), restoring: SendReceipt.self)
    print(await outbox.restore())  // empty
    let acceptance = outbox.dispatch(SendReceipt(orderID: "42"))
    print(acceptance.durability)  // survivesProcessDeath
    outbox.close()

    #expect(acceptance.durability == .survivesProcessDeath)

    let relaunched = try Relay(
      scope: "outbox", journal: .directory(directory), restoring: SendReceipt.self)
    let mailer = Mailer()
    relaunched.register(mailer, for: MailFeature.self)
    print(await relaunched.restore())  // restored 1
    await relaunched.waitUntilIdle()
    print(mailer.sent)  // ["42"]

    #expect(mailer.sent == ["42"])

    for letter in relaunched.deadLetters {
      print("\(letter.name) \(letter.reason), \(letter.attempts) attempts")
      relaunched.retry(letter)
    }

    #expect(relaunched.deadLetters.isEmpty)
    relaunched.close()
  }
}
