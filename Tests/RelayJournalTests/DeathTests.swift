// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

/// The process, or the power, is gone at every single operation on the disk.
struct DeathTests {
  private static let steps = JournalScript.everything()

  /// Operations of a run in which nothing happens.
  private static func operations() async -> [FaultyFiles.Operation] {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    var script = JournalScript(fixture, faulty.fileSystem)
    await script.run(steps)
    #expect(fixture.open().entries == script.model.inOrder)
    return faulty.log
  }

  /// Runs the steps until the process dies at an operation.
  private static func die(at number: Int, afterBytes: Int) async -> (
    JournalFixture, JournalScript
  ) {
    let fixture = JournalFixture()
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    faulty.setRule { $0.number == number ? .die(afterBytes: afterBytes) : nil }
    var script = JournalScript(fixture, faulty.fileSystem)
    await script.run(steps) { faulty.isDead }
    return (fixture, script)
  }

  private static func variants(_ operation: FaultyFiles.Operation) -> [Int] {
    operation.kind == .write ? [0, 1, 15, 16, 30, 70, 1_000_000] : [0]
  }

  @Test func aRestartFindsWhatWasWrittenAndNothingIsLeftOver() async throws {
    let operations = await DeathTests.operations()
    #expect(operations.count > 100)
    for operation in operations {
      for bytes in DeathTests.variants(operation) {
        let (fixture, script) = await DeathTests.die(at: operation.number, afterBytes: bytes)
        fixture.files.closeAll()
        let opening = fixture.open()
        let what = "\(operation) after \(bytes) bytes"
        #expect(script.possible.contains { $0.inOrder == opening.entries }, "\(what)")
        expectNoDamage(opening.outcome, what)
        let left = fixture.files.paths.filter {
          $0.hasSuffix(".new") || $0.contains("quarantine") || $0.hasSuffix(".damaged")
        }
        #expect(left.isEmpty, "\(what): \(left)")
        let journal = try #require(opening.journal)
        #expect(journal.append(.accepted(JournalFixture.entry(100, "after"))).isWritten)
        try journal.compact()
        journal.close()
        let again = fixture.open()
        #expect(again.entries.map(\.text).contains("after"), "\(what)")
        #expect(again.entries.count == opening.entries.count + 1, "\(what)")
      }
    }
  }

  @Test func aPowerCutTakesNothingThatWasSynced() async throws {
    for operation in await DeathTests.operations() {
      for bytes in DeathTests.variants(operation) {
        let (fixture, script) = await DeathTests.die(at: operation.number, afterBytes: bytes)
        fixture.files.losePower()
        let opening = fixture.open()
        #expect(
          (script.sinceSync + script.possible).contains { $0.inOrder == opening.entries },
          "\(operation) after \(bytes) bytes")
        expectNoDamage(opening.outcome, "\(operation)")
      }
    }
  }

  private func expectNoDamage(_ outcome: JournalOutcome, _ what: String) {
    switch outcome {
    case .empty, .recovered: break
    default: Issue.record("\(what): \(outcome)")
    }
  }
}
