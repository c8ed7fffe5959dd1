// SPDX-License-Identifier: MIT

/// The system's questions. In the app: `AVCaptureDevice.requestAccess(for: .video)` and a
/// `CLLocationManager`.
@MainActor
package protocol SystemPermissions: AnyObject, Sendable {
  func askForCamera() async -> Bool
  func askForLocation() async -> Bool
}

/// Asks the system, one question at a time: the feature's lane sees to it.
final class Permissions: PermissionFeature {
  private let system: any SystemPermissions

  init(_ system: any SystemPermissions) { self.system = system }

  func requestCamera() async -> Bool { await system.askForCamera() }
  func requestLocation() async -> Bool { await system.askForLocation() }
}
