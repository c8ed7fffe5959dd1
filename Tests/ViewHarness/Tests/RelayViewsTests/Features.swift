// SPDX-License-Identifier: MIT

import FeatureRelay
import HarnessSupport
import Observation
import RelayViews
import SwiftUI
import Synchronization
import ViewHost

protocol BadgeFeature: RelayFeature {
  func set(_ number: Int)
}

/// Writes down what it is told, under its name.
@MainActor
final class Log {
  var lines: [String] = []

  /// Lets turns of the main actor pass until there is such a line.
  func waitFor(_ line: String) async {
    while !lines.contains(line) { await Task.yield() }
  }
}

final class Recorder: ToastFeature, BadgeFeature {
  var name: String
  let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
  }

  func show(_ message: String) { log.lines.append("\(name): \(message)") }
  func set(_ number: Int) { log.lines.append("\(name): badge \(number)") }
}

/// What a test changes.
@MainActor @Observable
final class Model {
  var screen = "a"
  var name = "a"
  var isEnabled = true
  var number = 0
  var path: [Int] = []
  @ObservationIgnored let log = Log()
}

/// Counts a relay's events of one kind.
final class EventCounter: RelayObserver {
  private let counts = Mutex<[String: Int]>([:])

  func observe(_ event: RelayEvent) {
    let kind = "\(event.kind)".split(separator: " ").first.map(String.init) ?? ""
    counts.withLock { $0[kind, default: 0] += 1 }
  }

  subscript(kind: String) -> Int { counts.withLock { $0[kind, default: 0] } }
}
