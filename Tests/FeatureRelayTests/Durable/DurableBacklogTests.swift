// SPDX-License-Identifier: MIT

import RelayJournal
import Testing

@testable import FeatureRelay

struct DurableBacklogTests {
  private var backlog = DurableBacklog()

  private func entry(_ id: UInt64, replaces: UInt64? = nil) -> JournalEntry {
    JournalEntry(
      id: id, place: JournalPlace(run: 1, sequence: id), name: "n", group: "g", acceptedAt: 0,
      payload: [], replaces: replaces)
  }

  private mutating func taken(_ records: [JournalRecord]) -> [JournalRecord] {
    for record in records { backlog.add(DurableWrite(record)) }
    return backlog.take().map(\.record)
  }

  @Test mutating func whatCameAndWentLeavesNothing() {
    #expect(taken([.accepted(entry(1)), .started(1, attempt: 1), .acknowledged(1)]) == [])
    #expect(taken([.acceptedAndStarted(entry(1)), .ended(1, reason: 3)]) == [])
    #expect(backlog.isEmpty)
  }

  @Test mutating func theEndOfWhatIsOnDiskIsKept() {
    #expect(taken([.started(1, attempt: 2), .acknowledged(1)]) == [.acknowledged(1)])
  }

  @Test mutating func aStartThatWasInterruptedIsNoStart() {
    #expect(
      taken([.accepted(entry(1)), .started(1, attempt: 1), .interrupted(1)]) == [
        .accepted(entry(1))
      ])
    #expect(taken([.interrupted(1)]) == [.interrupted(1)])
  }

  @Test mutating func manyAttemptsAreTheLastOne() {
    var records: [JournalRecord] = [.accepted(entry(1))]
    for attempt in 1...9 as ClosedRange<UInt32> {
      records += [
        .started(1, attempt: attempt),
        .failed(1, place: JournalPlace(run: 1, sequence: 10 + UInt64(attempt))),
      ]
    }
    var moved = entry(1)
    moved.place.sequence = 19
    #expect(
      taken(records) == [
        .accepted(moved), .started(1, attempt: 9),
        .failed(1, place: JournalPlace(run: 1, sequence: 19)),
      ])
  }

  @Test mutating func aBarrierGoesFirstAndEndsWhatWasThere() {
    #expect(
      taken([.accepted(entry(1)), .acknowledged(7), .barrier, .accepted(entry(2))]) == [
        .barrier, .accepted(entry(2)),
      ])
  }

  @Test mutating func whatTookAnotherOnesPlaceEndsIt() {
    #expect(taken([.accepted(entry(2, replaces: 1))]) == [.accepted(entry(2, replaces: 1))])
    // The one that it replaces is not on disk.
    #expect(
      taken([.accepted(entry(1)), .accepted(entry(2, replaces: 1))]) == [.accepted(entry(2))])
    // Replaced and cancelled: the first one must not come back.
    #expect(
      taken([.accepted(entry(2, replaces: 1)), .ended(2, reason: 3)]) == [.ended(1, reason: 7)])
    #expect(
      taken([.accepted(entry(2, replaces: 1)), .accepted(entry(3, replaces: 2))]) == [
        .accepted(entry(3, replaces: 1))
      ])
  }
}
