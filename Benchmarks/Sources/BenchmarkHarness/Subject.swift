// SPDX-License-Identifier: MIT

/// One thing that is measured, next to others of its group.
package struct Subject {
  package enum Role: String, Sendable, Codable {
    case ours
    case peer
    /// One method call through `weak var delegate: (any P)?`.
    case floor
  }

  package enum Unit: String, Sendable, Codable {
    case nanoseconds = "ns"
    case bytes = "B"
    case allocations = "allocations"
    case instructions = "instructions"
    case hops = "hops"
  }

  /// How it is measured.
  package enum Body {
    /// Runs the operation so many times; timed from outside.
    case loop(@MainActor (Int) -> Void)
    /// Runs the operation so many times and says how many nanoseconds that took.
    case timed(@MainActor (Int) -> Int64)
    /// The same with other turns of the main actor in between.
    case awaited(@MainActor (Int) async -> Int64)
    /// Is counted, once; nil where it cannot be.
    case counted(@MainActor () throws -> Double?)
  }

  package static let floorName = "F"

  package let name: String
  package let title: String
  package let role: Role
  package let unit: Unit
  /// How many operations one run has; nil for as many as fill a sample.
  package let count: Int?
  package let bounds: [Bound]
  package let body: Body

  package init(
    _ name: String, _ title: String, role: Role = .ours, unit: Unit = .nanoseconds,
    count: Int? = nil, bounds: [Bound] = [], _ body: Body
  ) {
    self.name = name
    self.title = title
    self.role = role
    self.unit = unit
    self.count = count
    self.bounds = bounds
    self.body = body
  }

  /// Ours: a synchronous operation in a loop.
  package static func loop(
    _ name: String, _ title: String, _ bounds: Bound..., body: @escaping @MainActor (Int) -> Void
  ) -> Subject {
    Subject(name, title, bounds: bounds, .loop(body))
  }

  /// What a user would pick instead: a synchronous operation in a loop.
  package static func peer(
    _ name: String, _ title: String, body: @escaping @MainActor (Int) -> Void
  ) -> Subject {
    Subject(name, title, role: .peer, .loop(body))
  }

  /// Ours: runs of a fixed number of operations, which time themselves since they have something to prepare.
  package static func timed(
    _ name: String, _ title: String, count: Int, _ bounds: Bound...,
    body: @escaping @MainActor (Int) -> Int64
  ) -> Subject {
    Subject(name, title, count: count, bounds: bounds, .timed(body))
  }

  /// What a user would pick instead, in runs of a fixed number of operations.
  package static func timedPeer(
    _ name: String, _ title: String, count: Int, body: @escaping @MainActor (Int) -> Int64
  ) -> Subject {
    Subject(name, title, role: .peer, count: count, .timed(body))
  }
}

/// Rows that are measured together, round by round, and compared with each other.
package struct Group {
  package let name: String
  package let title: String
  /// Whether its figures are counted, so that they are the same each time.
  package let isCounted: Bool
  /// Makes the subjects; what they need lives only while the group is measured.
  package let subjects: @MainActor () -> [Subject]

  package init(
    _ name: String, _ title: String, isCounted: Bool = false,
    subjects: @escaping @MainActor () -> [Subject]
  ) {
    self.name = name
    self.title = title
    self.isCounted = isCounted
    self.subjects = subjects
  }

  /// The subjects that a filter selects, with those that they are compared with; all of them without a filter.
  @MainActor
  package func subjects(matching filter: String?) -> [Subject] {
    guard let filter else { return subjects() }
    // What cannot match need not be made.
    if let slash = filter.firstIndex(of: "/"), !name.hasSuffix(filter[..<slash]) { return [] }
    let all = subjects()
    let selected = all.filter { "\(name)/\($0.name)".contains(filter) }
    guard !selected.isEmpty else { return [] }
    let needed = Set(selected.map(\.name) + selected.flatMap { $0.bounds.flatMap(\.peers) })
    return all.filter { needed.contains($0.name) || $0.role == .floor }
  }
}
