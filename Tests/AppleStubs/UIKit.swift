// SPDX-License-Identifier: MIT
// swift-format-ignore-file

// Names and shapes are Apple's. The few declarations of the system's module that the library uses on Apple platforms, so that
// those lines are type-checked elsewhere. Signatures after Apple's documentation; nothing is run.

@_exported import Foundation

@MainActor open class UIResponder: NSObject {}

@MainActor open class UIView: UIResponder {
  public init(frame: CGRect) {}
  open var frame: CGRect { get { .zero } set {} }
  open var isHidden: Bool { get { false } set {} }
  open func addSubview(_ view: UIView) {}
}

@MainActor open class UIViewController: UIResponder {
  public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {}
  public required init?(coder: NSCoder) {}
  open var view: UIView! { get { nil } set {} }
  open var title: String? { get { nil } set {} }
  open func viewDidLoad() {}
  open func viewDidAppear(_ animated: Bool) {}
  open func viewDidDisappear(_ animated: Bool) {}
  open func addChild(_ childController: UIViewController) {}
  open func didMove(toParent parent: UIViewController?) {}
}

@MainActor open class UIScene: UIResponder {
  public enum ActivationState: Int, Sendable {
    case unattached = -1
    case foregroundActive = 0
    case foregroundInactive = 1
    case background = 2
  }

  open var activationState: UIScene.ActivationState { .background }

  public nonisolated class var didActivateNotification: NSNotification.Name { .init("") }
  public nonisolated class var willDeactivateNotification: NSNotification.Name { .init("") }
  public nonisolated class var willEnterForegroundNotification: NSNotification.Name { .init("") }
  public nonisolated class var didEnterBackgroundNotification: NSNotification.Name { .init("") }
  public nonisolated class var didDisconnectNotification: NSNotification.Name { .init("") }
}

@MainActor open class UISceneSession: NSObject {}

extension UIScene {
  @MainActor open class ConnectionOptions: NSObject {}
}

@MainActor public protocol UISceneDelegate: NSObjectProtocol {
  func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession,
    options connectionOptions: UIScene.ConnectionOptions
  )
}

@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {}

@MainActor open class UIApplication: UIResponder {
  public struct LaunchOptionsKey: Hashable, Sendable {}
}

@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
}
