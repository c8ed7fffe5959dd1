// SPDX-License-Identifier: MIT

/// A view that the system shows by itself: it says which views are its children.
@MainActor
package protocol PrimitiveView: View {
  func build(_ pass: ViewPass)
}

/// What tells a view from its siblings.
package enum ViewKey: Hashable {
  case index(Int)
  case id(AnyHashable)
  case named(String)
}

/// One evaluation of a view: collects its children.
@MainActor
package final class ViewPass {
  struct Child {
    let key: ViewKey
    /// nil keeps the child as it is.
    let view: (any View)?
    let environment: EnvironmentValues
    let isShown: Bool
  }

  package let node: ViewNode
  private(set) var children: [Child] = []

  init(_ node: ViewNode) {
    self.node = node
  }

  /// What the view has from above.
  package var environment: EnvironmentValues { node.environment }

  /// Adds a child.
  ///
  /// - Parameters:
  ///   - view: the child.
  ///   - key: what tells it from its siblings.
  ///   - environment: what it has from above, if that is not what its parent has.
  ///   - isShown: false for what is there but covered by something else.
  package func child(
    _ view: any View, key: ViewKey = .index(0), environment: EnvironmentValues? = nil,
    isShown: Bool = true
  ) {
    children.append(
      Child(
        key: key, view: view, environment: environment ?? node.environment, isShown: isShown))
  }

  /// Keeps a child as it is, in case there is one.
  package func keepChild(key: ViewKey) {
    children.append(Child(key: key, view: nil, environment: node.environment, isShown: true))
  }

  /// Runs an action when this update of the whole tree is done, before anything appears.
  package func afterUpdate(_ action: @escaping () -> Void) {
    node.graph.afterUpdate.append(action)
  }
}
