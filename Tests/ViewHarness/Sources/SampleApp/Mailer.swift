// SPDX-License-Identifier: MIT

/// The server, as far as this app knows it.
package protocol Server: Sendable {
  func post(_ path: String) async throws
}

/// Sends mail by way of the server. Being offline is an error; the command comes again.
final class Mailer: MailFeature {
  private let server: any Server

  init(_ server: any Server) { self.server = server }

  func sendReceipt(orderID: String) async throws {
    try await server.post("receipts/\(orderID)")
  }
}
