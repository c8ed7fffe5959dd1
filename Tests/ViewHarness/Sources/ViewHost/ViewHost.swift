// SPDX-License-Identifier: MIT

import Foundation
import SwiftUI

/// Plays the system for views: gives them identity and state, evaluates bodies, and tells them what
/// happens to them.
///
/// Nothing happens by itself: a test changes something, calls ``update()``, and looks.
@MainActor
public final class ViewHost {
  package let graph = ViewGraph()
  /// How the system behaves.
  public var manners = Manners()
  /// What the views were told, in order.
  public private(set) var told: [Callback] = []
  private var environment = EnvironmentValues()
  private let inbox = SceneInbox()

  /// Makes an empty host.
  public init() {}

  /// Shows a view, and updates.
  public convenience init(phase: ScenePhase = .active, @ViewBuilder _ content: () -> some View) {
    self.init()
    show(phase: phase, content: content)
  }

  /// Shows a view instead of what was shown before, and updates.
  public func show(phase: ScenePhase = .active, @ViewBuilder content: () -> some View) {
    graph.removeRoot()
    environment = EnvironmentValues()
    environment.scenePhase = phase
    environment.inbox = inbox
    // In a group, so that what is shown has a parent like any other view.
    graph.setRoot(Group(content: content), environment: environment)
    update()
  }

  /// Removes everything, as the system does with a window that is closed.
  public func close() {
    graph.removeRoot()
    update()
  }

  /// Changes whether a person sees the scene, and updates.
  public func setPhase(_ phase: ScenePhase) {
    environment.scenePhase = phase
    graph.setEnvironment(environment)
    update()
  }

  /// Opens a URL, and updates.
  public func open(_ url: URL) {
    inbox.deliver(url)
    update()
  }

  /// Evaluates what has changed and tells the views, until nothing changes any more.
  public func update() {
    var rounds = 0
    repeat {
      rounds += 1
      precondition(rounds < 1_000, "The views' callbacks change them in a circle.")
      _ = graph.evaluate()
      let actions = graph.afterUpdate
      graph.afterUpdate = []
      for action in actions { action() }
      tell(graph.takeChanges())
      if !manners.keepsRemovedState { graph.releaseRemoved() }
    } while graph.needsEvaluation || !graph.afterUpdate.isEmpty
  }

  /// Waits for the tasks of the views to end, and updates.
  public func waitForTasks() async {
    while !graph.tasks.isEmpty {
      let tasks = graph.tasks
      graph.tasks = []
      for task in tasks { await task.value }
      update()
    }
  }

  private func tell(_ changes: [ViewGraph.Change]) {
    let appearing = changes.filter { $0.kind == .appear }
    let disappearing = changes.filter { $0.kind == .disappear }
    let order = manners.appearsFirst ? appearing + disappearing : disappearing + appearing
    for change in order {
      let callback = Callback(
        kind: change.kind == .appear ? .appear : .disappear, path: change.path)
      for _ in 0..<manners.times(callback) { tell(callback, change.node) }
    }
  }

  func tell(_ callback: Callback, _ node: ViewNode) {
    let action =
      callback.kind == .appear ? node.lifecycle?.appear : node.lifecycle?.disappear
    guard let action else { return }
    told.append(callback)
    action()
  }
}
