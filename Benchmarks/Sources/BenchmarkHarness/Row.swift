// SPDX-License-Identifier: MIT

/// What was found for one subject.
package struct Row: Sendable, Codable {
  /// A bound and what became of it.
  package struct Verdict: Sendable, Codable {
    package let bound: String
    package let value: Double
    package let isMet: Bool
    /// Whether it is met without the margin.
    package let isWithinLimit: Bool
    package let reachesAim: Bool
  }

  package let group: String
  package let groupTitle: String
  package let name: String
  package let title: String
  package let role: Subject.Role
  package let unit: Subject.Unit
  /// Per operation; nil where it could not be found out.
  package let minimum: Double?
  package let median: Double?
  package let spread: Double?
  package let rounds: Int
  /// Times the floor of the same rounds.
  package let floors: Double?
  package let verdicts: [Verdict]

  package var isBroken: Bool { verdicts.contains { !$0.isMet } }
}

extension Row {
  /// Compares what the subjects of a group gave.
  package static func compare(_ subjects: [Subject], _ values: [[Double]], group: Group) -> [Row] {
    let samples = values.map { $0.isEmpty ? nil : Samples($0) }
    var figures: [String: Double] = [:]
    for (subject, samples) in zip(subjects, samples) { figures[subject.name] = samples?.minimum }
    return zip(subjects, samples).map { subject, samples in
      let floor = subject.unit == .nanoseconds ? figures[Subject.floorName] : nil
      let verdicts = subject.bounds.compactMap { bound -> Verdict? in
        guard let figure = samples?.minimum,
          let value = bound.value(of: figure, among: figures)
        else { return nil }
        let exact = Bound(measure: bound.measure, limit: bound.limit, aim: nil, margin: 0)
        return Verdict(
          bound: bound.description, value: value, isMet: bound.isMet(by: value),
          isWithinLimit: exact.isMet(by: value), reachesAim: bound.reachesAim(value))
      }
      return Row(
        group: group.name, groupTitle: group.title, name: subject.name, title: subject.title,
        role: subject.role, unit: subject.unit, minimum: samples?.minimum, median: samples?.median,
        spread: samples?.spread, rounds: samples?.sorted.count ?? 0,
        floors: floor.flatMap { floor in samples.map { $0.minimum / floor } }, verdicts: verdicts)
    }
  }
}
