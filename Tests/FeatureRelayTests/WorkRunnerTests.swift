// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import FeatureRelay

@MainActor
private protocol NoteFeature: AnyObject {
  func note(_ text: String) throws
}

@MainActor
private final class Notebook: NoteFeature {
  var notes: [String] = []
  var failures = 0

  func note(_ text: String) throws {
    if failures > 0 {
      failures -= 1
      throw Refused()
    }
    notes.append(text)
  }
}

private struct Refused: Error {}

private final class Captured: Sendable {
  let deaths: Tally
  init(_ deaths: Tally) { self.deaths = deaths }
  deinit { deaths.add() }
}

private struct Small: RelayCommand {
  typealias Feature = any NoteFeature
  let number: Int
  func execute(on feature: any NoteFeature) throws { try feature.note("\(number)") }
}

private struct Large: RelayCommand {
  typealias Feature = any NoteFeature
  let captured: Captured
  let text: String
  let more: (Int, Int, Int)
  func execute(on feature: any NoteFeature) throws { try feature.note("\(text) \(more.2)") }
}

/// Work that waits is run by a function for its own types where the compiler has made one: where it
/// optimises, as the release tests have it. Elsewhere it is run by way of its type.
@Suite
@MainActor
struct WorkRunnerTests {
  #if !DEBUG
    @Test func whereTheTypesAreKnownThereIsAFunctionForThem() {
      #expect(ClosureWork<any NoteFeature, Void>.runner.function != nil)
      #expect(ClosureWork<any NoteFeature, String>.runner.function != nil)
      #expect(CommandWork<Small>.runner.function != nil)
      #expect(CommandWork<Large>.runner.function != nil)
    }
  #endif

  @Test func withoutAFunctionTheTypeRunsTheWork() throws {
    let book = Notebook()
    try withCell(of: book) { cell in
      var work = UnmanagedWork(
        ClosureWork<any NoteFeature, Void> { try $0.note("by its type") })
      try work.run(on: cell, WorkRunner())
    }
    #expect(book.notes == ["by its type"])
  }

  @Test func whatIsRunIsGoneAndWhatThrowsStays() throws {
    let (book, deaths) = (Notebook(), Tally())
    try withCell(of: book) { cell in
      var work = closure(Captured(deaths))
      book.failures = 1
      #expect(throws: Refused.self) {
        try work.run(on: cell, ClosureWork<any NoteFeature, Int>.runner)
      }
      #expect(deaths.current == 0)
      try work.run(on: cell, ClosureWork<any NoteFeature, Int>.runner)
      #expect(deaths.current == 1)

      var large = UnmanagedWork(
        CommandWork(Large(captured: Captured(deaths), text: "large", more: (1, 2, 3))))
      book.failures = 1
      #expect(throws: Refused.self) { try large.run(on: cell, CommandWork<Large>.runner) }
      #expect(deaths.current == 1)
      try large.run(on: cell, CommandWork<Large>.runner)
      #expect(deaths.current == 2)
    }
    #expect(book.notes == ["captured", "large 3"])
  }

  @Test func whatWaitedIsDeliveredAndReleasedInOrder() async throws {
    let deaths = Tally()
    let relay = Relay(scope: "runner", configuration: try RelayConfiguration(limit: 1_000))
    let book = Notebook()
    for number in 0..<300 {
      let captured = Captured(deaths)
      switch number % 3 {
      case 0:
        relay.dispatch(NoteFeature.self) { feature in
          try withExtendedLifetime(captured) { try feature.note("\(number)") }
        }
      case 1: relay.dispatch(Small(number: number))
      default: relay.dispatch(Large(captured: captured, text: "", more: (0, 0, number)))
      }
    }
    #expect(deaths.current == 100)
    relay.register(book, for: NoteFeature.self)
    await relay.waitUntilIdle()
    #expect(book.notes == (0..<300).map { $0 % 3 == 2 ? " \($0)" : "\($0)" })
    #expect(deaths.current == 300)
    #expect(relay.counts.delivered == 300)
  }

  private func closure(_ captured: Captured) -> UnmanagedWork {
    UnmanagedWork(
      ClosureWork<any NoteFeature, Int> { feature in
        try withExtendedLifetime(captured) { try feature.note("captured") }
        return 1
      })
  }

  private func withCell(
    of book: Notebook, _ body: (UnsafeMutableRawPointer) throws -> Void
  ) throws {
    let cell = UnsafeMutablePointer<any NoteFeature>.allocate(capacity: 1)
    cell.initialize(to: book)
    defer {
      cell.deinitialize(count: 1)
      cell.deallocate()
    }
    try body(cell)
  }
}
