// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  public import RelayReactor
  public import SwiftUI

  extension Reactor {
    /// A binding whose value comes from the state and whose changes are sent as a synchronous
    /// action: the state has changed when the control has been told.
    ///
    /// ```swift
    /// TextField("Search", text: reactor.bind(\.query, action: { .enterQuery($0) }))
    /// ```
    ///
    /// - Parameters:
    ///   - member: where the value is in the state.
    ///   - action: the action for a new value.
    public func bind<Value>(
      _ member: any KeyPath<State, Value> & Sendable,
      action: @escaping @Sendable (Value) -> SyncAction
    ) -> Binding<Value> {
      Binding { [self] in
        self[dynamicMember: member]
      } set: { [self] value in
        send(action(value))
      }
    }

    /// A binding whose value comes from the state and whose changes are sent as a synchronous action
    /// that needs no value, such as a toggle's.
    public func bind<Value>(
      _ member: any KeyPath<State, Value> & Sendable, action: SyncAction
    ) -> Binding<Value> {
      bind(member, action: { _ in action })
    }

    /// A binding whose value comes from the state and whose changes are sent as an action.
    ///
    /// The state changes in a later turn; until then the control shows the old value again. For what
    /// is typed a synchronous action does better.
    ///
    /// - Parameters:
    ///   - member: where the value is in the state.
    ///   - action: the action for a new value.
    public func bind<Value>(
      _ member: any KeyPath<State, Value> & Sendable,
      action: @escaping @Sendable (Value) -> Action
    ) -> Binding<Value> {
      Binding { [self] in
        self[dynamicMember: member]
      } set: { [self] value in
        send(action(value))
      }
    }

    /// A binding whose value comes from the state and whose changes are sent as an action that needs
    /// no value.
    public func bind<Value>(
      _ member: any KeyPath<State, Value> & Sendable, action: Action
    ) -> Binding<Value> {
      bind(member, action: { _ in action })
    }
  }

  extension BindableReactor {
    /// A binding to a part of the state that the reactor allows others to write.
    ///
    /// ```swift
    /// TextField("Name", text: reactor.bind(\.name))
    /// ```
    public func bind<Value>(
      _ member: any WritableKeyPath<Editable, Value> & Sendable
    ) -> Binding<Value> {
      Binding { [self] in
        editable[keyPath: member]
      } set: { [self] value in
        editable[keyPath: member] = value
      }
    }
  }
#endif
