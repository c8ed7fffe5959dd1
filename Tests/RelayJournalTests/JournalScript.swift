// SPDX-License-Identifier: MIT

import RelayJournal

/// Something that is done to a journal.
enum JournalStep: Sendable {
  case append([JournalRecord])
  case compact
  case erase
  case sync
  case suspendAndResume
  case adopt
  case checkPlace
  case reopen
}

/// Does steps on a journal and on the model of it, whatever the disk does meanwhile.
struct JournalScript {
  /// What the journal should hold now.
  private(set) var model: JournalModel
  /// What it may hold if the process died in the step that failed last.
  private(set) var possible: [JournalModel]
  /// All states since the last sync that succeeded.
  private(set) var sinceSync: [JournalModel]
  /// What it holds if the first append that failed is on disk all the same.
  private(set) var ifFirstFailureIsThere: JournalModel?
  private(set) var outcomes: [JournalOutcome] = []
  private var journal: Journal?
  private let fixture: JournalFixture
  private let fileSystem: FileSystem

  /// - Parameters:
  ///   - model: what the journal holds already.
  ///   - sinceSync: what it has held since it was last synced.
  init(
    _ fixture: JournalFixture, _ fileSystem: FileSystem, startingWith model: JournalModel = .init(),
    sinceSync: [JournalModel] = []
  ) {
    self.fixture = fixture
    self.fileSystem = fileSystem
    self.model = model
    possible = [model]
    self.sinceSync = sinceSync + [model]
  }

  /// Does the steps until one says that the process is dead.
  mutating func run(_ steps: [JournalStep], isDead: () -> Bool = { false }) async {
    open()
    for step in steps {
      if isDead() { return }
      await run(step)
      if isDead() { return }
      possible = [model]
    }
    journal?.close()
  }

  private mutating func open() {
    let opening = fixture.open(fileSystem)
    outcomes.append(opening.outcome)
    journal = opening.journal
  }

  private mutating func run(_ step: JournalStep) async {
    switch step {
    case .append(let records):
      if journal == nil { open() }
      guard let journal else { return }
      // Death in the middle leaves the first of them.
      possible = JournalScript.states(from: model, records)
      let before = possible
      if journal.append(records).isWritten {
        model.apply(records)
        sinceSync += before.dropFirst()
        sinceSync.append(model)
      } else {
        sinceSync += before.dropFirst()
        if ifFirstFailureIsThere == nil { ifFirstFailureIsThere = before.last }
      }
    case .compact: try? journal?.compact()
    case .erase: try? journal?.compact(erasing: [])
    case .sync:
      guard let journal else { return }
      do {
        try await journal.sync()
        sinceSync = [model]
      } catch {
        // Nothing is promised then.
      }
    case .suspendAndResume:
      try? journal?.suspend()
      for _ in 0..<2 {
        guard let resumption = journal?.resume() else { return }
        outcomes.append(resumption.outcome)
        if case .unavailable = resumption.outcome { continue }
        return
      }
    case .adopt:
      _ = try? journal?.adoptInboxes { JournalPlace(run: 9, sequence: 9) }
    case .checkPlace: try? journal?.checkPlace()
    case .reopen:
      journal?.close()
      open()
    }
  }
}

extension JournalScript {
  /// What is there before records, and after each of them.
  static func states(from model: JournalModel, _ records: [JournalRecord]) -> [JournalModel] {
    var states = [model]
    for record in records {
      var next = states.last!
      next.apply(record)
      states.append(next)
    }
    return states
  }

  /// What may be there if so many steps were done and the process died in the next one.
  static func states(of steps: [JournalStep], done: Int) -> [JournalModel] {
    var model = JournalModel()
    for step in steps.prefix(done) {
      if case .append(let records) = step { model.apply(records) }
    }
    guard done < steps.count, case .append(let records) = steps[done] else { return [model] }
    return states(from: model, records)
  }

  /// Any steps that make sense, in any order.
  static func random(
    _ count: Int, using generator: inout some RandomNumberGenerator, model: JournalModel,
    firstIdentifier: UInt64
  ) -> [JournalStep] {
    var model = model
    var next = firstIdentifier
    func records() -> [JournalRecord] {
      var records: [JournalRecord] = []
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let record = record()
        model.apply(record)
        records.append(record)
      }
      return records
    }
    func record() -> JournalRecord {
      let some = (model.live + model.dead).randomElement(using: &generator)
      switch (Int.random(in: 0..<20, using: &generator), some) {
      case (0..<7, _), (_, nil):
        defer { next += 1 }
        var entry = JournalFixture.entry(
          next, String(repeating: "\(next) ", count: .random(in: 0..<60, using: &generator)),
          name: "name.\(next % 5)", group: "Group\(next % 3)")
        if next.isMultiple(of: 7) { entry.replaces = model.live.first }
        if next.isMultiple(of: 3) { entry.labels = ["user-\(next)"] }
        return next.isMultiple(of: 4) ? .acceptedAndStarted(entry) : .accepted(entry)
      case (7..<11, let id?): return .acknowledged(id)
      case (11, let id?): return .ended(id, reason: 3)
      case (12..<14, let id?):
        return .started(id, attempt: (model.entries[id]?.attempts ?? 0) + 1)
      case (14, let id?): return .interrupted(id)
      case (15, let id?):
        return .failed(id, place: next % 2 == 0 ? JournalPlace(run: 2, sequence: next) : nil)
      case (16, let id?): return .dead(id, JournalDeath(reason: 1, detail: "d", at: 5))
      case (17, let id?): return .revived(id)
      case (18, _) where next.isMultiple(of: 9): return .barrier
      case (_, let id?): return .started(id, attempt: 9)
      }
    }
    return (0..<count).map { _ in
      switch Int.random(in: 0..<24, using: &generator) {
      case 0: .compact
      case 1: .sync
      case 2: .suspendAndResume
      case 3: .reopen
      case 4: .checkPlace
      default: .append(records())
      }
    }
  }

  /// Steps that make use of everything a journal can do.
  static func everything() -> [JournalStep] {
    func entry(_ id: UInt64, replaces: UInt64? = nil) -> JournalEntry {
      var entry = JournalFixture.entry(id, "entry \(id)", name: "name.\(id % 3)")
      entry.replaces = replaces
      if id % 2 == 0 { entry.labels = ["user-\(id)"] }
      return entry
    }
    return [
      .append([.accepted(entry(1))]),
      .append([.acceptedAndStarted(entry(2))]),
      .append([.accepted(entry(3)), .accepted(entry(4))]),
      .append([.acknowledged(2)]),
      .sync,
      .append([.started(3, attempt: 1)]),
      .compact,
      .append([.accepted(entry(5, replaces: 4))]),
      .append([.interrupted(3)]),
      .suspendAndResume,
      .append([.dead(1, JournalDeath(reason: 1, detail: "why", at: 7)), .accepted(entry(6))]),
      .checkPlace,
      .erase,
      .append([.failed(5, place: JournalPlace(run: 1, sequence: 50))]),
      .reopen,
      .append([.ended(6, reason: 2), .accepted(entry(7)), .revived(1)]),
      .sync,
      .append([.acknowledged(3)]),
      .compact,
      .append([.accepted(entry(8))]),
      .reopen,
      .append([.acknowledged(7)]),
    ]
  }
}
