// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names and shapes are those that Apple documents; only what the library and the sample use.

/// Lets a view that is presented go.
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
@MainActor @preconcurrency
public struct DismissAction {
  private let action: @MainActor () -> Void

  nonisolated init(_ action: @escaping @MainActor () -> Void) { self.action = action }

  public func callAsFunction() { action() }
}

private struct DismissKey: EnvironmentKey {
  static var defaultValue: DismissAction { DismissAction {} }
}

private struct AlertDismissalKey: EnvironmentKey {
  static var defaultValue: (() -> Void)? { nil }
}

extension EnvironmentValues {
  @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
  public internal(set) var dismiss: DismissAction {
    get { self[DismissKey.self] }
    set { self[DismissKey.self] = newValue }
  }

  /// What a button in an alert does besides its own action.
  package var alertDismissal: (() -> Void)? {
    get { self[AlertDismissalKey.self] }
    set { self[AlertDismissalKey.self] = newValue }
  }
}

/// What is presented, or goes with an animation.
@MainActor
final class SheetState: Transitioning {
  var presented: AnyHashable?
  /// How many transitions had ended when this one began.
  var closingSince: Int?
}

nonisolated struct SheetView<Content: View, Sheet: View>: View {
  typealias Body = Never
  let content: Content
  let presented: () -> (id: AnyHashable, view: () -> Sheet)?
  let dismiss: () -> Void
  let onDismiss: (() -> Void)?
}

@MainActor
extension SheetView: PrimitiveView {
  func build(_ pass: ViewPass) {
    let state = pass.node.storage as? SheetState ?? SheetState()
    pass.node.storage = state
    pass.child(content)
    let graph = pass.node.graph
    if let sheet = presented() {
      state.presented = sheet.id
      state.closingSince = nil
      var environment = pass.environment
      let dismiss = dismiss
      environment.dismiss = DismissAction { dismiss() }
      environment.navigation = nil
      environment.alertDismissal = nil
      pass.child(sheet.view(), key: .id(sheet.id), environment: environment)
    } else if let id = state.presented {
      let since = state.closingSince ?? graph.finishedTransitions
      state.closingSince = since
      if graph.holdsTransitions, graph.finishedTransitions == since {
        pass.keepChild(key: .id(id))
      } else {
        state.presented = nil
        if let onDismiss { pass.afterUpdate(onDismiss) }
      }
    }
  }
}

/// An alert: a title, actions of which each dismisses it, and a message.
nonisolated struct AlertView<Content: View, Actions: View, Message: View>: View {
  typealias Body = Never
  let content: Content
  let title: String
  let isPresented: Binding<Bool>
  let actions: Actions?
  let message: Message?
}

@MainActor
extension AlertView: PrimitiveView {
  func build(_ pass: ViewPass) {
    pass.child(content)
    guard isPresented.wrappedValue, let actions else { return }
    let isPresented = isPresented
    var environment = pass.environment
    environment.alertDismissal = { isPresented.wrappedValue = false }
    environment.navigation = nil
    pass.child(Text(title), key: .named("title"), environment: environment)
    if let message { pass.child(message, key: .named("message"), environment: environment) }
    pass.child(actions, key: .named("actions"), environment: environment)
  }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension View {
  public nonisolated func sheet<Content: View>(
    isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil,
    @ViewBuilder content: @escaping () -> Content
  ) -> some View {
    SheetView(
      content: self,
      presented: { isPresented.wrappedValue ? (AnyHashable(true), content) : nil },
      dismiss: { isPresented.wrappedValue = false }, onDismiss: onDismiss)
  }

  public nonisolated func sheet<Item: Identifiable, Content: View>(
    item: Binding<Item?>, onDismiss: (() -> Void)? = nil,
    @ViewBuilder content: @escaping (Item) -> Content
  ) -> some View {
    SheetView(
      content: self,
      presented: {
        item.wrappedValue.map { value in (AnyHashable(value.id), { content(value) }) }
      },
      dismiss: { item.wrappedValue = nil }, onDismiss: onDismiss)
  }

  @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
  public nonisolated func alert<S: StringProtocol, A: View, M: View, T>(
    _ title: S, isPresented: Binding<Bool>, presenting data: T?,
    @ViewBuilder actions: (T) -> A, @ViewBuilder message: (T) -> M
  ) -> some View {
    AlertView(
      content: self, title: String(title), isPresented: isPresented, actions: data.map(actions),
      message: data.map(message))
  }
}
