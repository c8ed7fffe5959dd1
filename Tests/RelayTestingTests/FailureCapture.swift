// SPDX-License-Identifier: MIT

import Foundation
import RelayTesting
import Testing

/// What expectations say when they fail, in place of a failure.
func failures(of body: () throws -> Void) rethrows -> [String] {
  try RunningTest.failures(of: body)
}

/// The same around code that takes its time.
@MainActor
func failures(of body: @MainActor () async throws -> Void) async rethrows -> [String] {
  try await RunningTest.failures(of: body)
}

/// The article that shows what expectations say.
enum Article {
  static let text: String = {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent(
      "Sources/RelayTesting/RelayTesting.docc/TestingCodeThatDispatches.md")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }()
}
