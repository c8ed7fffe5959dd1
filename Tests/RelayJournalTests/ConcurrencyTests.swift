// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayJournal
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ConcurrencyTests {
  @Test func manyThreadsAppendWhileOthersCompactAndSync() async throws {
    var fixture = JournalFixture()
    fixture.options.waitLimit = .seconds(100)
    fixture.options.compactsByItself = true
    fixture.options.compactionFloor = 2_000
    let journal = try #require(fixture.open().journal)
    let rounds = UInt64(raceRounds(2_000, atLeast: 100))
    let threads: UInt64 = 4
    await withTaskGroup { group in
      for thread in 0..<threads {
        group.addTask {
          await withCheckedContinuation { continuation in
            startThread {
              for round in 0..<rounds {
                let id = thread * 1_000_000 + round
                let entry = JournalEntry(
                  id: id, place: JournalPlace(run: thread, sequence: round), name: "n\(thread)",
                  group: "g", acceptedAt: 0, payload: ArraySlice("\(id)".utf8))
                #expect(journal.append(.accepted(entry)).isWritten)
                if round % 5 != 0 {
                  #expect(
                    journal.append([.started(id, attempt: 1), .acknowledged(id)]).isWritten)
                }
              }
              continuation.resume()
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<20 {
          try? await journal.sync()
          try? journal.compact()
        }
      }
    }
    try await journal.sync()
    journal.close()
    fixture.files.losePower()
    let entries = fixture.open().entries
    let wanted = (0..<threads).flatMap { thread in
      stride(from: 0, to: rounds, by: 5).map { "\(thread * 1_000_000 + $0)" }
    }
    #expect(entries.map(\.text) == wanted)
  }

  @Test func closingWhileOthersAppendLosesNothingThatWasReportedAsWritten() async throws {
    for _ in 0..<raceRounds(50, atLeast: 10) {
      let fixture = JournalFixture()
      let journal = try #require(fixture.open().journal)
      let count = await withTaskGroup(of: Int.self) { group in
        for thread in 0..<3 as Range<UInt64> {
          group.addTask {
            var written = 0
            for id in 1...50 as ClosedRange<UInt64> {
              let write = journal.append(
                .accepted(JournalFixture.entry(thread * 100 + id, "x")))
              if write.isWritten { written += 1 }
              if write.error?.code == .closed { break }
            }
            return written
          }
        }
        journal.close()
        return await group.reduce(0, +)
      }
      #expect(fixture.reopened().count == count)
    }
  }
}
