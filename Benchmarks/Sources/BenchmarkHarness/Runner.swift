// SPDX-License-Identifier: MIT

/// Measures the subjects of a group against each other.
///
/// Each subject is run until it is warm and it is known how many operations fill a sample. Then come the rounds: in
/// each of them every subject gives one sample, one after the other, so that whatever the machine does in between
/// (another clock rate, a neighbour) hits all of them alike. Samples are short, so that many of them pass without
/// being interrupted, and the minimum is taken.
@MainActor
package struct Runner {
  package var rounds: Int
  package var sampleNanoseconds: Int64
  package var progress: Progress

  package init(rounds: Int, sampleNanoseconds: Int64 = 400_000, progress: Progress) {
    self.rounds = rounds
    self.sampleNanoseconds = sampleNanoseconds
    self.progress = progress
  }

  /// Measures a group; where bounds are broken, up to twice again.
  ///
  /// - Parameters:
  ///   - group: the group.
  ///   - filter: which of its rows.
  ///   - attempts: how often it is measured at most when a bound is broken.
  /// - Returns: its rows; empty when the filter selects none.
  /// - Throws: what went wrong in a child process that was to be counted.
  package func measure(_ group: Group, filter: String?, attempts: Int) async throws -> [Row] {
    let subjects = group.subjects(matching: filter)
    guard !subjects.isEmpty else { return [] }
    var rows = try await measure(subjects, of: group)
    var attempt = 1
    while attempt < attempts, !group.isCounted, rows.contains(where: \.isBroken) {
      attempt += 1
      let again = try await measure(subjects, of: group)
      rows = zip(rows, again).map { $0.isBroken ? $1 : $0 }
    }
    return rows
  }

  private func measure(_ subjects: [Subject], of group: Group) async throws -> [Row] {
    var runs: [Int] = []
    for subject in subjects {
      progress.show("\(group.name): warming up \(subject.title)")
      runs.append(await calibrate(subject))
    }
    var values = subjects.map { _ in [Double]() }
    for round in 0..<rounds {
      progress.show("\(group.name): round \(round + 1) of \(rounds)")
      for (index, subject) in subjects.enumerated() {
        if case .counted(let body) = subject.body {
          if round == 0, let value = try body() { values[index].append(value) }
          continue
        }
        values[index].append(await sample(subject, runs[index]))
      }
      if group.isCounted { break }
    }
    progress.clear()
    return Row.compare(subjects, values, group: group)
  }

  /// Runs a subject until it is warm.
  ///
  /// - Returns: how many operations, or runs of a fixed number of them, make a sample.
  private func calibrate(_ subject: Subject) async -> Int {
    if case .counted = subject.body { return 1 }
    var runs = 1
    while true {
      var elapsed = await run(subject, runs)
      // Another process may have had the processor meanwhile: too few operations would be the sample.
      for _ in 0..<3 where elapsed >= sampleNanoseconds {
        elapsed = min(elapsed, await run(subject, runs))
      }
      if elapsed >= sampleNanoseconds { break }
      // Aim a little beyond the sample, and never trust a first, cold run for more than tenfold.
      let factor = Double(sampleNanoseconds) * 1.2 / Double(max(elapsed, 1))
      runs = max(runs + 1, Int(Double(runs) * min(factor, 10)))
    }
    _ = await run(subject, runs)
    return runs
  }

  private func sample(_ subject: Subject, _ runs: Int) async -> Double {
    Double(await run(subject, runs)) / Double(runs * (subject.count ?? 1))
  }

  /// Nanoseconds of so many operations, or of so many runs of a fixed number of them.
  private func run(_ subject: Subject, _ runs: Int) async -> Int64 {
    guard let count = subject.count else { return await run(subject.body, runs) }
    var elapsed: Int64 = 0
    for _ in 0..<runs { elapsed += await run(subject.body, count) }
    return elapsed
  }

  private func run(_ body: Subject.Body, _ count: Int) async -> Int64 {
    switch body {
    case .loop(let body): time { body(count) }
    case .timed(let body): body(count)
    case .awaited(let body): await body(count)
    case .counted: 0
    }
  }
}

/// The time that an action takes, in nanoseconds.
@MainActor
package func time(_ action: () -> Void) -> Int64 {
  let start = Machine.nanoseconds
  action()
  return Machine.nanoseconds - start
}
