// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names and shapes are those that Apple documents; only what the library and the sample use.

/// Values of any type, one for each view on a stack.
@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
public struct NavigationPath: Equatable {
  fileprivate(set) var elements: [AnyHashable] = []

  public init() {}

  public init<S: Sequence>(_ elements: S) where S.Element: Hashable {
    self.elements = elements.map { AnyHashable($0) }
  }

  public var count: Int { elements.count }
  public var isEmpty: Bool { elements.isEmpty }
  public mutating func append<V: Hashable>(_ value: V) { elements.append(AnyHashable(value)) }
  public mutating func removeLast(_ k: Int = 1) { elements.removeLast(k) }
}

/// Knows how to show the values on a stack's path.
package final class NavigationRegistry {
  fileprivate var destinations: [ObjectIdentifier: (AnyHashable) -> (any View)?] = [:]
  fileprivate var flags: [UpdateFlag] = []
  fileprivate var ownPath: [AnyHashable] = []
  fileprivate var read: () -> [AnyHashable] = { [] }
  fileprivate var append: (AnyHashable) -> Void = { _ in }
  fileprivate var removeFrom: (Int) -> Void = { _ in }

  /// Goes back by one view, as the system's button does.
  package func goBack() {
    let count = read().count
    if count > 0 { removeFrom(count - 1) }
  }
}

private struct NavigationKey: EnvironmentKey {
  static var defaultValue: NavigationRegistry? { nil }
}

extension EnvironmentValues {
  package var navigation: NavigationRegistry? {
    get { self[NavigationKey.self] }
    set { self[NavigationKey.self] = newValue }
  }
}

/// A root view, and those pushed onto it.
@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
public nonisolated struct NavigationStack<Data, Root: View>: View {
  public typealias Body = Never
  let root: Root
  let connect: (NavigationRegistry, UpdateFlag) -> Void
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
extension NavigationStack {
  public nonisolated init(@ViewBuilder root: () -> Root) where Data == NavigationPath {
    self.init(root: root()) { registry, flag in
      registry.read = { [unowned registry] in registry.ownPath }
      registry.append = { [unowned registry] value in
        registry.ownPath.append(value)
        flag.raise()
      }
      registry.removeFrom = { [unowned registry] index in
        registry.ownPath.removeSubrange(index...)
        flag.raise()
      }
    }
  }

  public nonisolated init(path: Binding<NavigationPath>, @ViewBuilder root: () -> Root)
  where Data == NavigationPath {
    self.init(root: root()) { registry, _ in
      registry.read = { path.wrappedValue.elements }
      registry.append = { path.wrappedValue.elements.append($0) }
      registry.removeFrom = { path.wrappedValue.elements.removeSubrange($0...) }
    }
  }

  public nonisolated init(path: Binding<Data>, @ViewBuilder root: () -> Root)
  where
    Data: MutableCollection & RandomAccessCollection & RangeReplaceableCollection,
    Data.Element: Hashable
  {
    self.init(root: root()) { registry, _ in
      registry.read = { path.wrappedValue.map { AnyHashable($0) } }
      registry.append = { value in
        if let element = value.base as? Data.Element { path.wrappedValue.append(element) }
      }
      registry.removeFrom = { index in
        path.wrappedValue.removeLast(path.wrappedValue.count - index)
      }
    }
  }
}

@MainActor
extension NavigationStack: PrimitiveView {
  package func build(_ pass: ViewPass) {
    let registry = pass.node.storage as? NavigationRegistry ?? NavigationRegistry()
    pass.node.storage = registry
    connect(registry, pass.node.flag)
    var environment = pass.environment
    environment.navigation = registry
    let path = registry.read()
    pass.child(root, key: .named("root"), environment: environment, isShown: path.isEmpty)
    for (index, value) in path.enumerated() {
      environment.dismiss = DismissAction { registry.removeFrom(index) }
      pass.child(
        NavigationDestination(value: value),
        key: .id(AnyHashable([AnyHashable(index), value])), environment: environment,
        isShown: index == path.count - 1)
    }
  }
}

nonisolated struct NavigationDestination: View {
  typealias Body = Never
  let value: AnyHashable
}

@MainActor
extension NavigationDestination: PrimitiveView {
  func build(_ pass: ViewPass) {
    guard let registry = pass.environment.navigation else { return }
    registry.flags.append(pass.node.flag)
    let type = ObjectIdentifier(Swift.type(of: value.base))
    if let view = registry.destinations[type]?(value) { pass.child(view) }
  }
}

nonisolated struct DestinationView<Content: View, D: Hashable, C: View>: View {
  typealias Body = Never
  let content: Content
  let destination: (D) -> C
}

@MainActor
extension DestinationView: PrimitiveView {
  func build(_ pass: ViewPass) {
    if let registry = pass.environment.navigation {
      let destination = destination
      registry.destinations[ObjectIdentifier(D.self)] = { value in
        (value.base as? D).map { destination($0) }
      }
      for flag in registry.flags { flag.raise() }
      registry.flags = []
    }
    pass.child(content)
  }
}

extension View {
  @available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
  public nonisolated func navigationDestination<D: Hashable, C: View>(
    for data: D.Type, @ViewBuilder destination: @escaping (D) -> C
  ) -> some View {
    DestinationView(content: self, destination: destination)
  }
}

/// Pushes a value when it is tapped.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct NavigationLink<Label: View, Destination: View>: View {
  public typealias Body = Never
  let label: Label
  let value: AnyHashable?
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
extension NavigationLink where Destination == Never {
  public nonisolated init<P: Hashable>(value: P?, @ViewBuilder label: () -> Label) {
    self.init(label: label(), value: value.map { AnyHashable($0) })
  }

  public nonisolated init<S: StringProtocol, P: Hashable>(_ title: S, value: P?)
  where Label == Text {
    self.init(label: Text(title), value: value.map { AnyHashable($0) })
  }
}

@MainActor
extension NavigationLink: ControlView {
  package var control: Control {
    let value = value
    return .button { node in
      if let value { node.environment.navigation?.append(value) }
    }
  }

  package func build(_ pass: ViewPass) { pass.child(label) }
}
