// SPDX-License-Identifier: MIT

/// What a row has to reach, and what is aimed at.
///
/// A figure breaks its bound when it is off by more than the margin: what is left of the noise once the minimum of
/// many interleaved rounds has been taken, on a machine that does other things as well.
package struct Bound: Sendable {
  package enum Measure: Sendable {
    /// Times the floor: one method call through a weak delegate.
    case floors
    /// Times another row of the group.
    case times(of: String)
    /// How many times faster than another row of the group.
    case fasterThan(String)
    /// What it costs more than another row of the group, in floors.
    case floorsOver(String)
    /// The figure itself, in the row's unit; what is below the least cannot have been counted rightly.
    case count(atLeast: Double)
  }

  package let measure: Measure
  package let limit: Double
  package let aim: Double?
  package let margin: Double

  /// At most so many times the floor.
  package static func floors(_ limit: Double, aim: Double? = nil, margin: Double = 0.10) -> Bound {
    Bound(measure: .floors, limit: limit, aim: aim, margin: margin)
  }

  /// At most so many times another row.
  package static func times(
    _ limit: Double, of row: String, aim: Double? = nil, margin: Double = 0.10
  ) -> Bound {
    Bound(measure: .times(of: row), limit: limit, aim: aim, margin: margin)
  }

  /// At least so many times faster than another row.
  package static func faster(
    _ limit: Double, than row: String, aim: Double? = nil, margin: Double = 0.10
  ) -> Bound {
    Bound(measure: .fasterThan(row), limit: limit, aim: aim, margin: margin)
  }

  /// At most so many floors more than another row. The margin is in floors.
  package static func floors(
    _ limit: Double, over row: String, aim: Double? = nil, margin: Double = 0.10
  ) -> Bound {
    Bound(measure: .floorsOver(row), limit: limit, aim: aim, margin: margin)
  }

  /// At most so many, and not fewer than can be.
  package static func count(_ limit: Double, atLeast least: Double = 0, margin: Double = 0) -> Bound
  {
    Bound(measure: .count(atLeast: least), limit: limit, aim: nil, margin: margin)
  }

  /// The rows that it compares with.
  package var peers: [String] {
    switch measure {
    case .floors: [Subject.floorName]
    case .times(let row), .fasterThan(let row): [row]
    case .floorsOver(let row): [row, Subject.floorName]
    case .count: []
    }
  }

  /// The figure that the bound is about.
  ///
  /// - Parameters:
  ///   - figure: the row's own.
  ///   - figures: those of the group's rows by name.
  /// - Returns: nil when a row that it compares with was not measured.
  package func value(of figure: Double, among figures: [String: Double]) -> Double? {
    let floor = figures[Subject.floorName]
    switch measure {
    case .floors: return floor.map { figure / $0 }
    case .times(let row): return figures[row].map { figure / $0 }
    case .fasterThan(let row): return figures[row].map { $0 / figure }
    case .floorsOver(let row):
      guard let floor, let other = figures[row] else { return nil }
      return (figure - other) / floor
    case .count: return figure
    }
  }

  /// Whether a value is within the limit, the margin included.
  package func isMet(by value: Double) -> Bool {
    switch measure {
    case .fasterThan: value >= limit * (1 - margin)
    case .floorsOver: value <= limit + margin
    case .floors, .times: value <= limit * (1 + margin)
    case .count(let least): value >= least && value <= limit * (1 + margin)
    }
  }

  /// Whether a value is what was aimed at, or better.
  package func reachesAim(_ value: Double) -> Bool {
    guard let aim else { return false }
    if case .fasterThan = measure { return value >= aim }
    return value <= aim
  }

  /// What is to be reached, in words.
  package var description: String {
    let aim = aim.map { " (\(format($0)))" } ?? ""
    switch measure {
    case .floors: return "≤ \(format(limit)) F\(aim)"
    case .times(let row): return "≤ \(format(limit)) × \(row)\(aim)"
    case .fasterThan(let row): return "\(format(limit)) × faster than \(row)\(aim)"
    case .floorsOver(let row): return "\(row) + ≤ \(format(limit)) F\(aim)"
    case .count(let least):
      return least > 0 ? "\(format(least)) to \(format(limit))" : "≤ \(format(limit))"
    }
  }
}

/// A number with as many digits as are worth reading.
package func format(_ number: Double) -> String {
  let digits = abs(number) < 0.01 ? 4 : abs(number) < 10 ? 2 : abs(number) < 100 ? 1 : 0
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let rounded = (number * scale).rounded() / scale
  return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
}
