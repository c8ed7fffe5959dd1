// SPDX-License-Identifier: MIT

/// The name under which actions and tasks of one reactor belong together: they wait for each other,
/// replace each other, are cancelled together and are seen as running.
///
/// A string says it; an action that is given no name goes by the name of its case.
///
/// ```swift
/// extension ActionID {
///   static let page: ActionID = "page"
///   static func download(_ file: Int) -> ActionID { "download-\(file)" }
/// }
/// ```
public struct ActionID: Hashable, Sendable {
  /// The name.
  public let name: String

  /// Makes a name out of a string.
  public init(_ name: String) {
    self.name = name
  }

  /// The name of an action's case, without what the case carries; the whole description of a value
  /// that is no enumeration.
  ///
  /// It is read by reflection, which costs about a microsecond: a policy that is asked for often
  /// had better name its id.
  public init<Action>(caseOf action: Action) {
    let mirror = Mirror(reflecting: action)
    if mirror.displayStyle == .enum, let label = mirror.children.first?.label {
      self.init(label)
    } else {
      self.init(String(describing: action))
    }
  }
}

extension ActionID: ExpressibleByStringInterpolation {
  /// Makes a name out of a string literal.
  public init(stringLiteral name: String) {
    self.init(name)
  }
}

extension ActionID: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
