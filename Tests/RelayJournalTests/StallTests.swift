// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayJournal
import Testing

/// A disk that does not answer. "Returns at once" means: while the disk still hangs.
@Suite(.timeLimit(.minutes(5)))
struct StallTests {
  private final class Events: Sendable {
    private let list = Handover<[JournalEvent]>()

    func add(_ event: JournalEvent) { list.current = (list.current ?? []) + [event] }
    var all: [JournalEvent] { list.current ?? [] }
  }

  /// A journal whose next write hangs on a thread of its own until the latch is opened.
  private struct Stalled {
    let fixture: JournalFixture
    let journal: Journal
    let latch = ThreadLatch()
    let ended = ThreadLatch()
    let events = Events()

    init(behindLimit: Int = 1 << 20) throws {
      var fixture = JournalFixture()
      fixture.options.waitLimit = .milliseconds(1)
      fixture.options.behindLimit = behindLimit
      fixture.options.onEvent = { [events] in events.add($0) }
      self.fixture = fixture
      let faulty = FaultyFiles(over: fixture.files.fileSystem)
      journal = try #require(fixture.open(faulty.fileSystem).journal)
      let hangs = ThreadLatch()
      let latch = latch
      faulty.setRule { operation in
        guard operation.kind == .write else { return nil }
        faulty.clearRule()
        return .hang {
          hangs.open()
          latch.wait("the disk")
        }
      }
      let (journal, ended) = (journal, ended)
      Thread.detachNewThread {
        journal.append(.accepted(JournalFixture.entry(1, "hangs")))
        ended.open()
      }
      hangs.wait("the hanging write")
    }

    func answer() {
      latch.open()
      ended.wait("the hanging append")
    }
  }

  @Test func whileTheDiskHangsAppendsGoBehindAndAreWrittenInOrderWhenItAnswers() async throws {
    let stalled = try Stalled()
    var tickets: [JournalTicket] = []
    for id in 2...100 as ClosedRange<UInt64> {
      let write = stalled.journal.append(.accepted(JournalFixture.entry(id, "\(id)")))
      guard case .behind(let ticket) = write else {
        Issue.record("\(id): \(write)")
        continue
      }
      tickets.append(ticket)
    }
    tickets.append(stalled.journal.post([.acknowledged(50)]))
    #expect(stalled.journal.isStalled)
    #expect(stalled.events.all == [.stalled])
    stalled.answer()
    for ticket in tickets { try await ticket.written() }
    stalled.journal.close()
    #expect(!stalled.journal.isStalled)
    #expect(stalled.events.all == [.stalled, .answered])
    let texts = ["hangs"] + (2...100).filter { $0 != 50 }.map { "\($0)" }
    #expect(stalled.fixture.reopened() == texts)
  }

  @Test func onlySoManyBytesWaitForTheDisk() throws {
    let stalled = try Stalled(behindLimit: 2_000)
    let payload = String(repeating: "x", count: 872)
    #expect(stalled.journal.append(.accepted(JournalFixture.entry(2, payload))).isBehind)
    #expect(stalled.journal.append(.accepted(JournalFixture.entry(3, payload))).isBehind)
    let error = stalled.journal.append(.accepted(JournalFixture.entry(4, payload))).error
    #expect(error?.code == .behind)
    stalled.answer()
    stalled.journal.close()
    #expect(stalled.fixture.reopened().map(\.count) == [5, 872, 872])
  }

  @Test func whatWaitedLearnsThatItFailed() async throws {
    let stalled = try Stalled()
    let large = JournalEntry(
      id: 2, place: JournalPlace(run: 1, sequence: 2), name: "n", group: "g", acceptedAt: 0,
      payload: ArraySlice(repeating: 0, count: (16 << 20) + 1))
    let ticket = stalled.journal.post([.acknowledged(1)])
    guard case .failed(let error) = stalled.journal.append(.accepted(large)) else {
      Issue.record("too much was queued")
      return
    }
    #expect(error.code == .behind)
    stalled.answer()
    try await ticket.written()
    stalled.journal.close()
    #expect(stalled.fixture.reopened() == [])
  }

  @Test func callbacksOfWhatWaitedMayUseTheJournal() async throws {
    let stalled = try Stalled()
    guard case .behind(let ticket) = stalled.journal.append(.started(1, attempt: 1)) else {
      Issue.record("it should have gone behind")
      return
    }
    let latch = Latch()
    let journal = stalled.journal
    let result = Handover<Bool>()
    ticket.whenWritten { error in
      result.current =
        error == nil && journal.append(.accepted(JournalFixture.entry(2, "again"))).isWritten
      latch.open()
    }
    stalled.answer()
    await latch.wait()
    #expect(result.current == true)
    journal.close()
    #expect(stalled.fixture.reopened() == ["hangs", "again"])
  }

  @Test func aCallThatWaitsForAnothersWriteIsWrittenWithIt() throws {
    var fixture = JournalFixture()
    fixture.options.waitLimit = .seconds(100)
    let faulty = FaultyFiles(over: fixture.files.fileSystem)
    let journal = try #require(fixture.open(faulty.fileSystem).journal)
    let (hangs, latch, ended) = (ThreadLatch(), ThreadLatch(), ThreadLatch())
    faulty.setRule { operation in
      guard operation.kind == .write else { return nil }
      faulty.clearRule()
      return .hang {
        hangs.open()
        latch.wait()
      }
    }
    Thread.detachNewThread {
      journal.append(.accepted(JournalFixture.entry(1, "first")))
      ended.open()
    }
    hangs.wait()
    // Handed over while the first one hangs; all of them go out together.
    let before = faulty.count
    for id in 2...9 as ClosedRange<UInt64> {
      journal.post([.accepted(JournalFixture.entry(id, "\(id)"))])
    }
    latch.open()
    ended.wait()
    journal.close()
    let writes = faulty.log.dropFirst(before).filter { $0.kind == .write }
    #expect(writes.count == 1)
    #expect(fixture.reopened() == ["first"] + (2...9).map { "\($0)" })
  }
}
