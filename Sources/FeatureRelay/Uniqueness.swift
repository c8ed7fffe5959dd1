// SPDX-License-Identifier: MIT

/// What happens to a command when another one with the same key is there already.
///
/// Keys belong to one feature of one relay.
public struct Uniqueness: Hashable, Sendable, Codable, CustomStringConvertible {
  enum Rule: Hashable, Sendable, Codable {
    case keepFirst(within: Duration)
    case keepLatest
  }

  /// The name under which commands are the same.
  public let key: String
  let rule: Rule

  /// The first command counts: another one is refused as a duplicate while the first one waits or
  /// runs, and for the given time after its delivery.
  ///
  /// A relay remembers the last 1,024 delivered keys of a feature and forgets the oldest.
  public static func keepFirst(_ key: String, within window: Duration = .seconds(60)) -> Uniqueness
  {
    Uniqueness(key: key, rule: .keepFirst(within: window))
  }

  /// The latest command counts: it takes the place of one that waits, with its own payload, time to
  /// live and tags.
  ///
  /// With another priority it goes to that priority's end instead. A command that runs is not
  /// replaced.
  public static func keepLatest(_ key: String) -> Uniqueness {
    Uniqueness(key: key, rule: .keepLatest)
  }

  /// The rule and its key.
  public var description: String {
    switch rule {
    case .keepFirst(let window): "keep first \"\(key)\" within \(window)"
    case .keepLatest: "keep latest \"\(key)\""
    }
  }
}
