// SPDX-License-Identifier: MIT

import Testing

@testable import RelayJournal

struct JournalErrorTests {
  @Test func itNamesTheOperationTheLastComponentAndTheNumberOnly() {
    let error = JournalError(.noSpace, operation: "write", file: "/a/secret/one.journal", errno: 28)
    #expect(error.description == "write one.journal: no space is left (errno 28)")
  }
}
