// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

/// Every single operation on the disk fails: once, or it and all that follow it.
struct FailureTests {
  private static let steps = JournalScript.everything()
  private static let errors: [JournalError.Code] = [.noSpace, .inputOutput, .notPermitted]

  @Test(arguments: [true, false])
  func aRestartFindsExactlyWhatWasReportedAsWritten(once: Bool) async throws {
    let fixture = JournalFixture()
    let faultless = FaultyFiles(over: fixture.files.fileSystem)
    var script = JournalScript(fixture, faultless.fileSystem)
    await script.run(FailureTests.steps)
    for operation in faultless.log {
      for bytes in operation.kind == .write ? [0, 7, 1_000_000] : [0] {
        let code = FailureTests.errors[operation.number % 3]
        let fixture = JournalFixture()
        let faulty = FaultyFiles(over: fixture.files.fileSystem)
        let number = operation.number
        faulty.setRule { operation in
          guard once ? operation.number == number : operation.number >= number else { return nil }
          return .fail(code, errno: 5, afterBytes: bytes)
        }
        var script = JournalScript(fixture, faulty.fileSystem)
        await script.run(FailureTests.steps)
        fixture.files.closeAll()
        let opening = fixture.open()
        // If nothing works any more, a write that failed when all was written cannot be taken back.
        let isThere = !once && opening.entries == script.ifFirstFailureIsThere?.inOrder
        #expect(
          isThere || opening.entries == script.model.inOrder,
          "\(operation) after \(bytes) bytes, \(code)")
        if case .damaged = opening.outcome { Issue.record("\(operation): \(opening.outcome)") }
      }
    }
  }
}
