// SPDX-License-Identifier: MIT

#if canImport(UIKit) && !os(watchOS)
  internal import FeatureRelay
  internal import Foundation
  public import UIKit

  extension RelayLifecycle {
    /// Follows a scene of UIKit's until it is disconnected. For apps with scene delegates; SwiftUI
    /// has ``SwiftUI/View/relayLifecycle(_:)``.
    ///
    /// ```swift
    /// func scene(
    ///   _ scene: UIScene, willConnectTo session: UISceneSession,
    ///   options: UIScene.ConnectionOptions
    /// ) {
    ///   lifecycle.follow(scene)
    /// }
    /// ```
    ///
    /// - Parameter scene: the scene; it is not kept alive.
    public func follow(_ scene: UIScene) {
      update(Phase(scene.activationState), of: scene)
      let phases: [(Notification.Name, Phase?)] = [
        (UIScene.didActivateNotification, .active),
        (UIScene.willDeactivateNotification, .inactive),
        (UIScene.willEnterForegroundNotification, .inactive),
        (UIScene.didEnterBackgroundNotification, .background),
        (UIScene.didDisconnectNotification, nil),
      ]
      let center = NotificationCenter.default
      for (name, phase) in phases {
        // The token lives as long as the center: it says nothing any more once one of both is gone.
        _ = center.addObserver(forName: name, object: scene, queue: nil) {
          [weak self, weak scene] _ in
          // UIKit posts these on the main actor.
          MainActor.assumeIsolated {
            guard let self, let scene else { return }
            if let phase { self.update(phase, of: scene) } else { self.end(scene) }
          }
        }
      }
    }
  }

  extension RelayLifecycle.Phase {
    fileprivate init(_ state: UIScene.ActivationState) {
      switch state {
      case .foregroundActive: self = .active
      case .foregroundInactive: self = .inactive
      case .background, .unattached: self = .background
      @unknown default: self = .inactive
      }
    }
  }
#elseif canImport(AppKit)
  public import AppKit
  internal import FeatureRelay
  internal import Foundation

  extension RelayLifecycle {
    /// Follows the application: hidden it is in the background, and otherwise active or inactive.
    ///
    /// - Parameter application: the application.
    public func follow(_ application: NSApplication) {
      let names = [
        NSApplication.didBecomeActiveNotification, NSApplication.didResignActiveNotification,
        NSApplication.didHideNotification, NSApplication.didUnhideNotification,
      ]
      update(Phase(application), of: application)
      for name in names {
        _ = NotificationCenter.default.addObserver(
          forName: name, object: application, queue: nil
        ) { [weak self, weak application] _ in
          // AppKit posts these on the main actor.
          MainActor.assumeIsolated {
            guard let self, let application else { return }
            self.update(Phase(application), of: application)
          }
        }
      }
    }
  }

  extension RelayLifecycle.Phase {
    @MainActor
    fileprivate init(_ application: NSApplication) {
      if application.isHidden {
        self = .background
      } else {
        self = application.isActive ? .active : .inactive
      }
    }
  }
#endif
