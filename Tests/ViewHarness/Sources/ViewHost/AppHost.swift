// SPDX-License-Identifier: MIT

import Foundation
import SwiftUI

/// Plays the system for an app: starts it, opens its windows, and brings them to the front and to
/// the background.
@MainActor
public final class AppHost<A: App> {
  /// The app's views.
  public let views = ViewHost()
  private let windows = WindowList()

  /// Starts the app, without a window, as the system does for work in the background.
  public init(_ type: A.Type) {
    start(A())
  }

  /// Starts an app that gets what it needs from a test.
  public init(_ app: A) {
    start(app)
  }

  private func start(_ app: A) {
    views.graph.setRoot(AppView(app: app, windows: windows), environment: EnvironmentValues())
    views.update()
  }

  /// Opens a window, and updates.
  @discardableResult
  public func openWindow(phase: ScenePhase = .active) -> Int {
    windows.next += 1
    windows.list.append(WindowList.Window(id: windows.next, phase: phase))
    change()
    return windows.next
  }

  /// Brings a window to another phase, and updates.
  public func setPhase(_ phase: ScenePhase, of window: Int = 1) {
    guard let index = windows.list.firstIndex(where: { $0.id == window }) else { return }
    windows.list[index].phase = phase
    change()
  }

  /// Closes a window, and updates.
  public func closeWindow(_ window: Int) {
    windows.list.removeAll { $0.id == window }
    change()
  }

  /// Opens a URL in a window, and updates.
  public func open(_ url: URL, in window: Int = 1) {
    windows.list.first { $0.id == window }?.inbox.deliver(url)
    views.update()
  }

  private func change() {
    views.graph.root?.flag.raise()
    views.update()
  }
}

/// The windows of an app.
@MainActor
final class WindowList {
  struct Window {
    let id: Int
    var phase: ScenePhase
    let inbox = SceneInbox()
  }

  var next = 0
  var list: [Window] = []

  /// What the app itself is told: the phase of the window that is most in front.
  var phase: ScenePhase { list.map(\.phase).max() ?? .background }
}

nonisolated struct AppView<A: App>: View {
  typealias Body = Never
  let app: A
  let windows: WindowList
}

@MainActor
extension AppView: PrimitiveView {
  func build(_ pass: ViewPass) {
    var environment = pass.environment
    environment.scenePhase = windows.phase
    pass.node.setEnvironment(environment)
    var app = app
    pass.node.link(&app)
    guard let scene = window(in: app.body) else { return }
    for window in windows.list {
      environment.scenePhase = window.phase
      environment.inbox = window.inbox
      pass.child(scene.template, key: .id(AnyHashable(window.id)), environment: environment)
    }
  }

  private func window<S: Scene>(in scene: S) -> (any WindowScene)? {
    if let window = scene as? any WindowScene { return window }
    return S.Body.self == Never.self ? nil : window(in: scene.body)
  }
}
