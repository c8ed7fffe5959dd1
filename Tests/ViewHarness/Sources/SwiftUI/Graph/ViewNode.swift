// SPDX-License-Identifier: MIT

import Observation

/// A view's identity: its state, its children and its place in the tree. It lives from the first
/// evaluation that has the view to the one that has it no more.
@MainActor
package final class ViewNode {
  package let key: ViewKey
  package let viewType: Any.Type
  package let graph: ViewGraph
  package private(set) weak var parent: ViewNode?
  package private(set) var children: [ViewNode] = []
  /// The newest value of the view.
  package private(set) var view: any View
  package private(set) var environment: EnvironmentValues
  package let flag = UpdateFlag()
  /// How often the view's body was evaluated.
  package private(set) var evaluations = 0

  /// The places of the view's state, by where the properties lie in it.
  var locations: [Int: AnyObject] = [:]
  /// What a view of the system's keeps from one evaluation to the next.
  package var storage: Any?
  /// What the system calls when the view appears and disappears.
  package var lifecycle: Lifecycle?
  /// False for what is there but covered.
  private(set) var isShown: Bool
  /// Whether the view was last told that it appeared.
  package var hasAppeared = false

  package struct Lifecycle {
    package var appear: (() -> Void)?
    package var disappear: (() -> Void)?

    package init(appear: (() -> Void)? = nil, disappear: (() -> Void)? = nil) {
      self.appear = appear
      self.disappear = disappear
    }
  }

  init(
    _ view: any View, key: ViewKey, environment: EnvironmentValues, isShown: Bool,
    parent: ViewNode?, graph: ViewGraph
  ) {
    self.view = view
    self.key = key
    self.environment = environment
    self.isShown = isShown
    self.parent = parent
    self.graph = graph
    viewType = type(of: view)
  }

  /// Evaluates the view, and those of its children that follow from it.
  func evaluate() {
    flag.lower()
    let pass = ViewPass(self)
    UpdateFlag.$current.withValue(flag) {
      withObservationTracking {
        build(view, pass)
      } onChange: { [flag] in
        flag.raise()
      }
    }
    reconcile(pass.children)
  }

  private func build<V: View>(_ view: V, _ pass: ViewPass) {
    evaluations += 1
    if let primitive = view as? any PrimitiveView {
      primitive.build(pass)
    } else {
      var view = view
      link(&view)
      pass.child(view.body)
    }
  }

  /// Gives the dynamic properties in a value their places in this identity.
  package func link<T>(_ value: inout T) {
    withUnsafeMutablePointer(to: &value) { pointer in
      DynamicProperties.link(UnsafeMutableRawPointer(pointer), of: T.self, offset: 0, to: self)
    }
  }

  private func reconcile(_ wanted: [ViewPass.Child]) {
    var before: [ViewKey: ViewNode] = [:]
    for child in children { before[child.key] = child }
    var after: [ViewNode] = []
    for want in wanted {
      let known = before[want.key]
      guard let view = want.view else {
        if let known {
          before[want.key] = nil
          after.append(known)
        }
        continue
      }
      if let known, known.viewType == type(of: view) {
        before[want.key] = nil
        known.view = view
        known.environment = want.environment
        known.isShown = want.isShown
        after.append(known)
        children = after + before.values
        known.evaluate()
      } else {
        let child = ViewNode(
          view, key: want.key, environment: want.environment, isShown: want.isShown, parent: self,
          graph: graph)
        after.append(child)
        child.evaluate()
      }
    }
    let gone = children.filter { child in before[child.key] === child }
    children = after
    for child in gone { graph.remove(child) }
  }

  /// Sets what the view has from above, for this evaluation.
  package func setEnvironment(_ environment: EnvironmentValues) {
    self.environment = environment
  }

  /// Forgets a child without telling it.
  package func drop(_ child: ViewNode) {
    children.removeAll { $0 === child }
    flag.raise()
  }

  /// This node and all below it, from the top.
  package var tree: [ViewNode] { [self] + children.flatMap(\.tree) }

  /// This node and those below it that are not covered.
  package var visibleTree: [ViewNode] {
    [self] + children.filter(\.isShown).flatMap(\.visibleTree)
  }

  /// The nodes above, the nearest one first.
  package var ancestors: [ViewNode] {
    var all: [ViewNode] = []
    var node = parent
    while let current = node {
      all.append(current)
      node = current.parent
    }
    return all
  }
}
