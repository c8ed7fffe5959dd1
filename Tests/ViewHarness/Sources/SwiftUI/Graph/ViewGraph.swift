// SPDX-License-Identifier: MIT

/// The tree of views that are there, and what is to be told to them.
@MainActor
package final class ViewGraph {
  /// A view's appearing or disappearing, which is to be told to it.
  package struct Change {
    package enum Kind { case appear, disappear }
    package let kind: Kind
    package let node: ViewNode
    /// The views that the node stands in, from the outermost one.
    package let path: [Any.Type]
  }

  package private(set) var root: ViewNode?
  package var afterUpdate: [() -> Void] = []
  /// The tasks of views that were started.
  package var tasks: [Task<Void, Never>] = []
  private var changes: [Change] = []
  /// Views that have gone and whose state is still there.
  package private(set) var removed: [ViewNode] = []
  /// Whether what is dismissed stays until ``finishTransitions()``.
  package var holdsTransitions = false
  private(set) var finishedTransitions = 0

  package init() {}

  /// Shows a view; the one shown before goes unless it has the same type.
  package func setRoot(_ view: any View, environment: EnvironmentValues) {
    let node = ViewNode(
      view, key: .index(0), environment: environment, isShown: true, parent: nil, graph: self)
    root = node
  }

  /// Whether there are views that have to be evaluated.
  package var needsEvaluation: Bool { firstRaised(root) != nil }

  /// Evaluates the views that have to be.
  ///
  /// - Returns: whether there were any.
  package func evaluate() -> Bool {
    var isChanged = false
    var rounds = 0
    while let node = firstRaised(root) {
      rounds += 1
      precondition(rounds < 10_000, "The views change each other in a circle: \(node.viewType)")
      isChanged = true
      node.evaluate()
    }
    return isChanged
  }

  /// Sets what the whole tree has from above, and evaluates all of it.
  package func setEnvironment(_ environment: EnvironmentValues) {
    root?.setEnvironment(environment)
    root?.flag.raise()
  }

  private func firstRaised(_ node: ViewNode?) -> ViewNode? {
    guard let node else { return nil }
    if node.flag.isRaised { return node }
    for child in node.children {
      if let found = firstRaised(child) { return found }
    }
    return nil
  }

  func remove(_ node: ViewNode) {
    collectDisappearing(node)
    removed.append(node)
  }

  /// Finds out what has appeared and disappeared since the last time.
  ///
  /// - Returns: what is to be told, innermost views first.
  package func takeChanges() -> [Change] {
    if let root { collect(root, isVisible: true) }
    defer { changes = [] }
    return changes
  }

  /// Removes everything.
  package func removeRoot() {
    guard let root else { return }
    self.root = nil
    remove(root)
  }

  /// Lets go of the state of views that have gone.
  package func releaseRemoved() {
    let nodes = removed
    removed = []
    withExtendedLifetime(nodes) {}
  }

  /// Ends the animations with which something goes.
  package func finishTransitions() {
    finishedTransitions += 1
    for node in root?.tree ?? [] where node.storage is any Transitioning {
      node.flag.raise()
    }
  }

  private func collect(_ node: ViewNode, isVisible: Bool) {
    let isVisible = isVisible && node.isShown
    for child in node.children { collect(child, isVisible: isVisible) }
    guard node.lifecycle != nil, node.hasAppeared != isVisible else { return }
    node.hasAppeared = isVisible
    changes.append(
      Change(kind: isVisible ? .appear : .disappear, node: node, path: node.path))
  }

  private func collectDisappearing(_ node: ViewNode) {
    for child in node.children { collectDisappearing(child) }
    guard node.lifecycle != nil, node.hasAppeared else { return }
    node.hasAppeared = false
    changes.append(Change(kind: .disappear, node: node, path: node.path))
  }
}

/// What a view keeps that goes with an animation.
package protocol Transitioning {}

extension ViewNode {
  /// The types of the views around this one, the outermost first.
  package var path: [Any.Type] { ancestors.reversed().map(\.viewType) + [viewType] }
}
