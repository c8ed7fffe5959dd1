// SPDX-License-Identifier: MIT

/// A reactor that lets others, the controls of a form for example, write a part of its state.
///
/// ```swift
/// struct State {
///   struct Form { var name = ""; var isPublic = false }
///   var form = Form()                              // may be bound
///   var error: String?                             // may not
/// }
/// static let editable: WritableKeyPath<State, State.Form> = \.form
/// ```
@MainActor
public protocol BindableReactor: Reactor {
  /// The part that others may write.
  associatedtype Editable

  /// Where it is in the state.
  static var editable: WritableKeyPath<State, Editable> { get }
}

extension BindableReactor {
  /// The editable part: a write from outside counts like one of the reactor's own.
  public var editable: Editable {
    get { state[keyPath: Self.editable] }
    set { container.state[keyPath: Self.editable] = newValue }
  }
}
