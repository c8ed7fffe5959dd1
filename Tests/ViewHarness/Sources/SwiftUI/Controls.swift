// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names and shapes are those that Apple documents; only what the library and the sample use.

/// What a person can do with a view, or read on it.
package enum Control {
  case text(String)
  case button((ViewNode) -> Void)
  case textField(String, Binding<String>)
  case toggle(Binding<Bool>)
}

/// A view of the system's that a person sees or touches.
@MainActor
package protocol ControlView: PrimitiveView {
  var control: Control { get }
}

/// A string for a person to read.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct Text: View, Equatable {
  public typealias Body = Never
  let string: String

  public init<S: StringProtocol>(_ content: S) { string = String(content) }
}

@MainActor
extension Text: ControlView {
  package var control: Control { .text(string) }
  package func build(_ pass: ViewPass) {}
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
public struct ButtonRole: Equatable, Sendable {
  private let name: String
  public static let destructive = ButtonRole(name: "destructive")
  public static let cancel = ButtonRole(name: "cancel")
}

/// Does something when it is tapped.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct Button<Label: View>: View {
  public typealias Body = Never
  let role: ButtonRole?
  let label: Label
  let action: @MainActor () -> Void
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension Button {
  @preconcurrency
  public nonisolated init(
    action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
  ) {
    self.init(role: nil, label: label(), action: action)
  }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension Button where Label == Text {
  @preconcurrency
  public nonisolated init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {
    self.init(role: nil, label: Text(title), action: action)
  }

  @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
  @preconcurrency
  public nonisolated init<S: StringProtocol>(
    _ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: role, label: Text(title), action: action)
  }
}

@MainActor
extension Button: ControlView {
  package var control: Control {
    let action = action
    return .button { node in
      action()
      node.environment.alertDismissal?()
    }
  }

  package func build(_ pass: ViewPass) { pass.child(label) }
}

/// Text for a person to write.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct TextField<Label: View>: View {
  public typealias Body = Never
  let title: String
  let label: Label
  let text: Binding<String>
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension TextField where Label == Text {
  public nonisolated init<S: StringProtocol>(_ title: S, text: Binding<String>) {
    self.init(title: String(title), label: Text(title), text: text)
  }
}

@MainActor
extension TextField: ControlView {
  package var control: Control { .textField(title, text) }
  package func build(_ pass: ViewPass) {}
}

/// Something that is on or off.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct Toggle<Label: View>: View {
  public typealias Body = Never
  let isOn: Binding<Bool>
  let label: Label
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension Toggle {
  public nonisolated init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
    self.init(isOn: isOn, label: label())
  }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension Toggle where Label == Text {
  public nonisolated init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {
    self.init(isOn: isOn, label: Text(title))
  }
}

@MainActor
extension Toggle: ControlView {
  package var control: Control { .toggle(isOn) }
  package func build(_ pass: ViewPass) { pass.child(label) }
}

private struct EnabledKey: EnvironmentKey {
  static let defaultValue = true
}

extension EnvironmentValues {
  @available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
  public var isEnabled: Bool {
    get { self[EnabledKey.self] }
    set { self[EnabledKey.self] = newValue }
  }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension View {
  public nonisolated func disabled(_ disabled: Bool) -> some View {
    transformEnvironment(\.isEnabled) { $0 = $0 && !disabled }
  }
}
