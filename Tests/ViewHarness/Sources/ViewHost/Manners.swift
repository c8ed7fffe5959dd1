// SPDX-License-Identifier: MIT

import SwiftUI

/// What a view is told.
public struct Callback {
  /// What happened.
  public enum Kind: Sendable { case appear, disappear }

  /// What happened.
  public let kind: Kind
  /// The types of the views around it, the outermost first.
  public let path: [Any.Type]

  /// Whether it is about something in the body of a view of this type.
  public func isIn<V: View>(_ type: V.Type) -> Bool { path.contains { $0 == type } }
}

/// The system's manners: good ones by default, bad ones where a test wants them.
public struct Manners {
  /// Whether what comes appears before what goes disappears. That is how SwiftUI does it.
  public var appearsFirst = true
  /// How often a callback is told: 0 forgets it, 2 tells it twice.
  public var times: (Callback) -> Int = { _ in 1 }
  /// Whether the state of views that have gone stays until ``ViewHost/releaseRemovedState()``.
  public var keepsRemovedState = false
}

extension ViewHost {
  /// Whether what is dismissed stays on the screen until ``finishTransitions()``.
  public var holdsTransitions: Bool {
    get { graph.holdsTransitions }
    set { graph.holdsTransitions = newValue }
  }

  /// Ends the animations with which something goes, and updates.
  public func finishTransitions() {
    graph.finishTransitions()
    update()
  }

  /// Lets go of the state of views that have gone.
  public func releaseRemovedState() {
    graph.releaseRemoved()
  }

  /// Tells views of a type that they appear though they do not, also those that have gone and whose
  /// state is still there; and updates.
  public func ghostAppear<V: View>(_ type: V.Type) { ghost(.appear, type) }

  /// Tells views of a type that they disappear though they do not, and updates.
  public func ghostDisappear<V: View>(_ type: V.Type) { ghost(.disappear, type) }

  private func ghost<V: View>(_ kind: Callback.Kind, _ type: V.Type) {
    for node in nodes(of: type, includingRemoved: true) {
      for node in node.tree where node.lifecycle != nil {
        tell(Callback(kind: kind, path: node.path), node)
      }
    }
    update()
  }

  /// Loses the state of views of a type, without a callback for what was lost; and updates.
  public func dropState<V: View>(of type: V.Type) {
    for node in nodes(of: type) { node.parent?.drop(node) }
    update()
  }

  func nodes<V: View>(of type: V.Type, includingRemoved: Bool = false) -> [ViewNode] {
    let roots = (graph.root.map { [$0] } ?? []) + (includingRemoved ? graph.removed : [])
    return roots.flatMap(\.tree).filter { $0.viewType == type }
  }
}
