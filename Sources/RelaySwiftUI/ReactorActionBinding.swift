// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  public import RelayReactor
  public import SwiftUI

  /// A value of the state of the reactor in the environment, whose changes are sent to it as an
  /// action.
  ///
  /// ```swift
  /// struct SearchOptions: View {
  ///   @ActionBinding(SearchReactor.self, keyPath: \.query, action: SearchReactor.SyncAction.enterQuery)
  ///   private var query: String
  ///
  ///   @ActionBinding(SearchReactor.self, keyPath: \.hidePrivate, action: .toggleHidePrivate)
  ///   private var hidePrivate: Bool
  ///
  ///   var body: some View {
  ///     TextField("Search", text: $query)
  ///     Toggle("Hide private ones", isOn: $hidePrivate)
  ///   }
  /// }
  /// ```
  ///
  /// A synchronous action has been handled when the change returns. Any other changes the state in a
  /// later turn; until then the control shows the old value again.
  @propertyWrapper
  public struct ActionBinding<R: Reactor, Value>: DynamicProperty {
    @Environment(R.self) private var reactor: R
    private let binding: @MainActor (R) -> Binding<Value>

    private init(_ binding: @escaping @MainActor (R) -> Binding<Value>) {
      self.binding = binding
    }

    /// Sends a synchronous action with the new value.
    ///
    /// - Parameters:
    ///   - reactor: the type of the reactor in the environment.
    ///   - keyPath: where the value is in the state.
    ///   - action: the action for a new value.
    public init(
      _ reactor: R.Type, keyPath: any KeyPath<R.State, Value> & Sendable,
      action: @escaping @Sendable (Value) -> R.SyncAction
    ) {
      self.init { $0.bind(keyPath, action: action) }
    }

    /// Sends a synchronous action that needs no value.
    public init(
      _ reactor: R.Type, keyPath: any KeyPath<R.State, Value> & Sendable, action: R.SyncAction
    ) {
      self.init { $0.bind(keyPath, action: action) }
    }

    /// Sends an action with the new value.
    public init(
      _ reactor: R.Type, keyPath: any KeyPath<R.State, Value> & Sendable,
      action: @escaping @Sendable (Value) -> R.Action
    ) {
      self.init { $0.bind(keyPath, action: action) }
    }

    /// Sends an action that needs no value.
    public init(
      _ reactor: R.Type, keyPath: any KeyPath<R.State, Value> & Sendable, action: R.Action
    ) {
      self.init { $0.bind(keyPath, action: action) }
    }

    /// The value in the state; setting it sends the action.
    @MainActor
    public var wrappedValue: Value {
      get { projectedValue.wrappedValue }
      nonmutating set { projectedValue.wrappedValue = newValue }
    }

    /// The binding for a control.
    @MainActor
    public var projectedValue: Binding<Value> { binding(reactor) }
  }
#endif
