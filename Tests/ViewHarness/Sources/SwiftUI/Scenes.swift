// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names and shapes are those that Apple documents; only what the library and the sample use.

import Foundation

/// Whether a person sees a scene, and can use it.
@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
public enum ScenePhase: Comparable, Sendable {
  case background
  case inactive
  case active
}

private struct ScenePhaseKey: EnvironmentKey {
  static let defaultValue = ScenePhase.background
}

private struct SceneURLKey: EnvironmentKey {
  static var defaultValue: SceneInbox? { nil }
}

extension EnvironmentValues {
  @available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
  public var scenePhase: ScenePhase {
    get { self[ScenePhaseKey.self] }
    set { self[ScenePhaseKey.self] = newValue }
  }

  package var inbox: SceneInbox? {
    get { self[SceneURLKey.self] }
    set { self[SceneURLKey.self] = newValue }
  }
}

/// Where the views of a scene say what they do with a URL.
@MainActor
package final class SceneInbox {
  private var actions: [(node: WeakNode, action: (URL) -> Void)] = []

  private struct WeakNode { weak var node: ViewNode? }

  package nonisolated init() {}

  func set(_ action: @escaping (URL) -> Void, for node: ViewNode) {
    actions.removeAll { $0.node.node == nil || $0.node.node === node }
    actions.append((WeakNode(node: node), action))
  }

  package func deliver(_ url: URL) {
    for (node, action) in actions where node.node != nil { action(url) }
  }
}

nonisolated struct OpenURLView<Content: View>: View {
  typealias Body = Never
  let content: Content
  let action: (URL) -> Void
}

@MainActor
extension OpenURLView: PrimitiveView {
  func build(_ pass: ViewPass) {
    pass.environment.inbox?.set(action, for: pass.node)
    pass.child(content)
  }
}

extension View {
  @available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
  public nonisolated func onOpenURL(perform action: @escaping (URL) -> Void) -> some View {
    OpenURLView(content: self, action: action)
  }
}

/// A part of the app's user interface that the system shows and hides as a whole.
@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
@MainActor @preconcurrency
public protocol Scene {
  associatedtype Body: Scene

  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
extension Never: Scene {}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
extension Scene where Body == Never {
  public var body: Never { fatalError("\(Self.self) has no body: the system shows it.") }
}

/// Makes one scene of the statements in an app's body.
@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
@resultBuilder
public struct SceneBuilder {
  public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
  public static func buildBlock<Content: Scene>(_ content: Content) -> some Scene { content }
}

/// Windows of the same kind, each with state of its own.
@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
public nonisolated struct WindowGroup<Content: View>: Scene {
  public typealias Body = Never
  let content: Content
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
extension WindowGroup {
  public nonisolated init(@ViewBuilder content: () -> Content) {
    self.init(content: content())
  }
}

/// What the host needs of a group of windows.
@MainActor
package protocol WindowScene: Scene {
  /// The template of each window.
  var template: any View { get }
}

@MainActor
extension WindowGroup: WindowScene {
  package var template: any View { content }
}

/// The app: its state and its scenes.
@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
@MainActor @preconcurrency
public protocol App {
  associatedtype Body: Scene

  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }

  @MainActor @preconcurrency init()
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
extension App {
  @MainActor @preconcurrency
  public static func main() {
    fatalError("\(Self.self) has no screen here: a host plays the system.")
  }
}
