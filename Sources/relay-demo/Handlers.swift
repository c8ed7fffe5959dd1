// SPDX-License-Identifier: MIT

import FeatureRelay

// The demo's app shell: what it does shows up as a line between the relay's events.

/// What a handler needs of the world it lives in.
@MainActor
struct Stage {
  let recorder: Recorder
  let scope: String

  func perform(_ feature: FeatureName, _ handler: AnyObject, _ what: String) {
    recorder.note(
      Deed(scope: scope, feature: feature, handler: "\(type(of: handler))", action: what))
  }
}

/// The person in front of the app, and the network around it.
@MainActor
final class Surroundings {
  var personAllows = true
  var networkIsUp = true
}

final class ToastPresenter: ToastFeature {
  private let stage: Stage
  init(_ stage: Stage) { self.stage = stage }
  func show(_ message: String) { stage.perform(.toast, self, "shows \(quoted(message))") }
}

final class SheetPresenter: ToastFeature {
  private let stage: Stage
  init(_ stage: Stage) { self.stage = stage }
  func show(_ message: String) {
    stage.perform(.toast, self, "shows \(quoted(message)) in the sheet")
  }
}

final class Navigator: NavigationFeature {
  private let stage: Stage
  init(_ stage: Stage) { self.stage = stage }
  func open(_ screen: String) { stage.perform(.navigation, self, "opens \(quoted(screen))") }
}

final class Tracker: AnalyticsFeature {
  private let stage: Stage
  init(_ stage: Stage) { self.stage = stage }
  func track(_ event: String) { stage.perform(.analytics, self, "counts \(quoted(event))") }
}

struct NetworkIsDown: Error {}

final class MailSender: MailFeature {
  private let stage: Stage
  private let surroundings: Surroundings
  init(_ stage: Stage, _ surroundings: Surroundings) {
    self.stage = stage
    self.surroundings = surroundings
  }

  func send(_ text: String) async throws {
    await Task.yield()
    guard surroundings.networkIsUp else { throw NetworkIsDown() }
    stage.perform(.mail, self, "sends \(quoted(text))")
  }
}

final class PermissionAlert: PermissionFeature {
  private let stage: Stage
  private let surroundings: Surroundings
  init(_ stage: Stage, _ surroundings: Surroundings) {
    self.stage = stage
    self.surroundings = surroundings
  }

  func request(_ resource: String) async -> Bool {
    stage.perform(.permission, self, "asks for \(quoted(resource))")
    await Task.yield()
    return surroundings.personAllows
  }
}
