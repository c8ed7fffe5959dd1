// SPDX-License-Identifier: MIT

import FeatureRelay
import RelaySwiftUI
import UIKit

// Every piece of code that "Relays in UIKit" shows, and what it takes for granted: checked against
// the stubs, not run.

protocol ToastFeature: RelayFeature {
  func show(_ message: String)
}

protocol BadgeFeature: RelayFeature {
  func set(_ number: Int)
}

final class BadgePresenter: BadgeFeature {
  func set(_ number: Int) {}
}

final class BannerPresenter: ToastFeature {
  func show(_ message: String) {}
}

final class InboxViewController: UIViewController, ToastFeature {
  override func viewDidLoad() {
    super.viewDidLoad()
    Relay.shared.register(self, for: ToastFeature.self)
  }

  func show(_ message: String) { title = message }
}

final class ProfileViewController: UIViewController, ToastFeature {
  override func viewDidLoad() {
    super.viewDidLoad()
    addRelayHandler(self, for: ToastFeature.self)
    addRelayHandler(BadgeFeature.self) { BadgePresenter() }
  }

  func show(_ message: String) { title = message }
}

@MainActor
final class Coordinator {
  private let toasts = HandlerAttachment(ToastFeature.self, in: .shared) { BannerPresenter() }

  func start() { toasts.appear() }
  func stop() { toasts.disappear() }
}

final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
  private var lifecycle: RelayLifecycle { AppDelegate.lifecycle }

  func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession,
    options connectionOptions: UIScene.ConnectionOptions
  ) {
    lifecycle.follow(scene)
  }
}

final class AppDelegate: UIResponder, UIApplicationDelegate {
  static let lifecycle = RelayLifecycle(.shared)

  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    Self.lifecycle.launch()
    return true
  }
}
