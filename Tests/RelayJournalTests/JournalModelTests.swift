// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayJournal
import Testing

@Suite(.timeLimit(.minutes(10)))
struct JournalModelTests {
  /// How many journals live through their random lives; `RELAY_JOURNAL_LIVES` says otherwise.
  private static var sequences: Int {
    ProcessInfo.processInfo.environment["RELAY_JOURNAL_LIVES"].flatMap { Int($0) } ?? 300
  }

  @Test func aRestartAfterACrashAtAnyPointYieldsExactlyTheModelsLiveSet() async throws {
    let first = ProcessInfo.processInfo.environment["RELAY_TEST_SEED"].flatMap { UInt64($0) } ?? 1
    print("journal model: seeds from \(first)")
    for sequence in 0..<UInt64(JournalModelTests.sequences) {
      try await live(seed: first &+ sequence)
    }
  }

  /// One journal through several processes, each of which dies somewhere.
  private func live(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    var fixture = JournalFixture()
    fixture.options.compactsByItself = false
    var model = JournalModel()
    var sinceSync: [JournalModel] = []
    for life in 0..<4 as Range<UInt64> {
      let steps = JournalScript.random(
        40, using: &generator, model: model, firstIdentifier: life * 1_000 + 1)
      let faulty = FaultyFiles(over: fixture.files.fileSystem)
      let fatal = Int.random(in: 1...220, using: &generator)
      let bytes = Int.random(in: 0...300, using: &generator)
      let cutsPower = Bool.random(using: &generator)
      // Now and then something fails before the end comes.
      let failing = Set((0..<3).map { _ in Int.random(in: 1...200, using: &generator) })
      faulty.setRule { operation in
        if operation.number == fatal { return .die(afterBytes: bytes) }
        return failing.contains(operation.number)
          ? .fail(.inputOutput, errno: 5, afterBytes: bytes) : nil
      }
      var script = JournalScript(
        fixture, faulty.fileSystem, startingWith: model, sinceSync: sinceSync)
      await script.run(steps) { faulty.isDead }
      if cutsPower { fixture.files.losePower() } else { fixture.files.closeAll() }
      let opening = fixture.open()
      let states = cutsPower ? script.sinceSync + script.possible : script.possible
      let found = try #require(
        states.last { $0.inOrder == opening.entries },
        "seed \(seed), life \(life), died at \(fatal) after \(bytes) bytes, power \(cutsPower)")
      if case .damaged = opening.outcome { Issue.record("seed \(seed): \(opening.outcome)") }
      model = found
      sinceSync = cutsPower ? [] : script.sinceSync + script.possible
      opening.journal?.close()
    }
  }
}
