// SPDX-License-Identifier: MIT

import Synchronization

/// A name on commands (a user, a screen, a view model) by which they can be cancelled together.
///
/// ```swift
/// relay.dispatch(ToastFeature.self, tags: [.user("42")]) { $0.show("Hello") }
/// relay.cancel(tagged: .user("42"))
/// ```
public struct CommandTag: Hashable, Sendable, Codable, CustomStringConvertible {
  private enum Name: Hashable, Sendable, Codable {
    case unique(UInt64)
    case named(String)
  }

  private static let counter = Atomic<UInt64>(0)
  private let name: Name

  /// Makes a tag that equals no other tag of this process.
  public init() {
    name = .unique(Self.counter.add(1, ordering: .relaxed).newValue)
  }

  /// Makes a tag that can still be named after a relaunch.
  public init(_ name: String) {
    self.name = .named(name)
  }

  /// The tag of everything that belongs to one user, so that it can go when that user logs out.
  public static func user(_ id: some CustomStringConvertible) -> CommandTag {
    CommandTag("user-\(id)")
  }

  /// The name under which a relaunched process finds it; nil for a tag of this process.
  var lastingName: String? {
    if case .named(let name) = name { name } else { nil }
  }

  /// The tag's name, or its number where it was made without one.
  public var description: String {
    switch name {
    case .unique(let number): "#\(number)"
    case .named(let name): name
    }
  }
}

extension CommandTag: ExpressibleByStringLiteral {
  /// Makes a named tag: `tags: ["checkout"]`.
  public init(stringLiteral name: String) {
    self.init(name)
  }
}
