// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Synchronization

// The features, handlers and typed commands that the model's test sends through a real relay. What a command does is
// looked up in the harness by its number.

protocol ModelFeature: RelayFeature {
  func perform(_ number: Int) throws
  func performLater(_ number: Int) async throws
}

protocol FirstFeature: ModelFeature {}
protocol SecondFeature: ModelFeature {}
protocol ThirdFeature: ModelFeature {}

final class ModelHandler: FirstFeature, SecondFeature, ThirdFeature {
  let number: Int
  private let harness: ModelHarness

  init(_ number: Int, _ harness: ModelHarness) {
    self.number = number
    self.harness = harness
  }

  func perform(_ number: Int) throws {
    try harness.run(number, on: self.number)
  }

  func performLater(_ number: Int) async throws {
    try await harness.runLater(number, on: self.number)
  }
}

final class ModelOwner: Sendable {}

struct ModelError: RetryAdvising, Equatable {
  var isTransient: Bool
}

/// An asynchronous command that has begun, until the test lets it end.
final class HeldBody: Sendable {
  enum End: Sendable { case success, failure, finalFailure, cancelled }

  private struct State {
    var end: End?
    var continuation: CheckedContinuation<End, Never>?
  }

  private let state = Mutex(State())

  /// Waits for the end, which comes by way of the executor: a continuation would otherwise be
  /// resumed by way of the system's threads, and nobody knows when.
  @MainActor
  func wait(on executor: HandExecutor, heedsCancellation: Bool) async -> End {
    await withTaskCancellationHandler {
      await withTaskExecutorPreference(executor) {
        await withCheckedContinuation { continuation in
          let end = state.withLock { state in
            if state.end == nil { state.continuation = continuation }
            return state.end
          }
          if let end { continuation.resume(returning: end) }
        }
      }
    } onCancel: {
      if heedsCancellation { finish(.cancelled) }
    }
  }

  func finish(_ end: End) {
    let continuation = state.withLock { state in
      if state.end == nil { state.end = end }
      return state.continuation.take()
    }
    continuation?.resume(returning: end)
  }
}

// MARK: Types of commands

protocol PolicyKind: Sendable {
  static var policy: CommandPolicy { get }
}

/// What a type of command says, for the model; the real policy stands next to it.
struct ModelPolicy {
  var priority = 1
  var timeToLive: Int?
  var limit: Int?
  var refusesWhenFull: Bool?
  var retry: ModelRetry?
  var executionLimit: Int?
  var isConcurrent = false

  static let sync = [
    ModelPolicy(),
    ModelPolicy(retry: .later(5, attempts: 3)),
    ModelPolicy(retry: .inPlace(5, attempts: 3)),
    ModelPolicy(priority: 2, limit: 2, refusesWhenFull: true),
    ModelPolicy(retry: .later(0, attempts: 2)),
    ModelPolicy(priority: 0, timeToLive: 12, retry: .inPlace(3, attempts: 4)),
    ModelPolicy(retry: .inPlace(0, attempts: 2)),
  ]

  static let later = [
    ModelPolicy(),
    ModelPolicy(isConcurrent: true),
    ModelPolicy(retry: .later(5, attempts: 3), executionLimit: 10),
    ModelPolicy(retry: .inPlace(5, attempts: 3), isConcurrent: true),
    ModelPolicy(executionLimit: 8),
    ModelPolicy(priority: 2, retry: .inPlace(4, attempts: 3), executionLimit: 6),
    ModelPolicy(executionLimit: 7, isConcurrent: true),
  ]
}

enum Policy0: PolicyKind { static let policy = CommandPolicy() }
enum Policy1: PolicyKind {
  static let policy = CommandPolicy(retry: .later(.constant(.milliseconds(5), attempts: 3)))
}
enum Policy2: PolicyKind {
  static let policy = CommandPolicy(retry: .inPlace(.constant(.milliseconds(5), attempts: 3)))
}
enum Policy3: PolicyKind {
  static let policy = CommandPolicy(priority: .high, limit: 2, overflow: .dropNewest)
}
enum Policy4: PolicyKind {
  static let policy = CommandPolicy(retry: .later(.constant(.zero, attempts: 2)))
}
enum Policy5: PolicyKind {
  static let policy = CommandPolicy(
    priority: .low, timeToLive: .milliseconds(12),
    retry: .inPlace(.constant(.milliseconds(3), attempts: 4)))
}
enum Policy6: PolicyKind {
  static let policy = CommandPolicy(retry: .inPlace(.constant(.zero, attempts: 2)))
}

enum Later1: PolicyKind { static let policy = CommandPolicy(lane: .concurrent) }
enum Later2: PolicyKind {
  static let policy = CommandPolicy(
    retry: .later(.constant(.milliseconds(5), attempts: 3)), executionLimit: .milliseconds(10))
}
enum Later3: PolicyKind {
  static let policy = CommandPolicy(
    retry: .inPlace(.constant(.milliseconds(5), attempts: 3)), lane: .concurrent)
}
enum Later4: PolicyKind {
  static let policy = CommandPolicy(executionLimit: .milliseconds(8))
}
enum Later5: PolicyKind {
  static let policy = CommandPolicy(
    priority: .high, retry: .inPlace(.constant(.milliseconds(4), attempts: 3)),
    executionLimit: .milliseconds(6))
}
enum Later6: PolicyKind {
  static let policy = CommandPolicy(executionLimit: .milliseconds(7), lane: .concurrent)
}

/// A feature's type with its calls, which a generic type cannot make by itself.
protocol FeaturePort: Sendable {
  associatedtype Feature
  @MainActor static func perform(_ feature: Feature, _ number: Int) throws
  @MainActor static func performLater(_ feature: Feature, _ number: Int) async throws
}

enum FirstPort: FeaturePort {
  static func perform(_ feature: any FirstFeature, _ number: Int) throws {
    try feature.perform(number)
  }
  static func performLater(_ feature: any FirstFeature, _ number: Int) async throws {
    try await feature.performLater(number)
  }
}

enum SecondPort: FeaturePort {
  static func perform(_ feature: any SecondFeature, _ number: Int) throws {
    try feature.perform(number)
  }
  static func performLater(_ feature: any SecondFeature, _ number: Int) async throws {
    try await feature.performLater(number)
  }
}

enum ThirdPort: FeaturePort {
  static func perform(_ feature: any ThirdFeature, _ number: Int) throws {
    try feature.perform(number)
  }
  static func performLater(_ feature: any ThirdFeature, _ number: Int) async throws {
    try await feature.performLater(number)
  }
}

struct SyncCommand<Port: FeaturePort, Kind: PolicyKind>: RelayCommand {
  static var policy: CommandPolicy { Kind.policy }
  var number: Int
  func execute(on feature: Port.Feature) throws { try Port.perform(feature, number) }
}

struct LaterCommand<Port: FeaturePort, Kind: PolicyKind>: AsyncRelayCommand {
  static var policy: CommandPolicy { Kind.policy }
  var number: Int
  func execute(on feature: Port.Feature) async throws {
    try await Port.performLater(feature, number)
  }
}

struct Question<Port: FeaturePort, Kind: PolicyKind>: RelayRequest {
  static var policy: CommandPolicy { Kind.policy }
  var number: Int
  func execute(on feature: Port.Feature) async throws -> Int {
    try await Port.performLater(feature, number)
    return number
  }
}
