// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport

/// The feature that most tests dispatch to: it takes numbers down.
protocol LedgerFeature: RelayFeature {
  func write(_ number: Int) throws
}

/// A second feature, for what happens between two.
protocol MirrorFeature: RelayFeature {
  func show(_ number: Int) throws
}

/// A handler that keeps what it got and can be told to do something with it.
final class Ledger: LedgerFeature {
  private(set) var numbers: [Int] = []
  var onWrite: ((Int) throws -> Void)?

  init(onWrite: ((Int) throws -> Void)? = nil) {
    self.onWrite = onWrite
  }

  func write(_ number: Int) throws {
    numbers.append(number)
    try onWrite?(number)
  }
}

final class Mirror: MirrorFeature {
  private(set) var numbers: [Int] = []
  var onShow: ((Int) throws -> Void)?

  init(onShow: ((Int) throws -> Void)? = nil) {
    self.onShow = onShow
  }

  func show(_ number: Int) throws {
    numbers.append(number)
    try onShow?(number)
  }
}

struct Refusal: Error {}

/// An error with an opinion on further attempts.
struct Advice: RetryAdvising {
  var isTransient: Bool
}

extension Relay {
  @discardableResult
  func write(
    _ number: Int, priority: CommandPriority = .normal, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil
  ) -> Acceptance {
    dispatch(
      LedgerFeature.self, priority: priority, tags: tags, timeToLive: timeToLive, unique: unique
    ) { try $0.write(number) }
  }

  /// Hands a number over from a thread of its own, and returns when `dispatch` has returned there.
  func writeElsewhere(_ number: Int, priority: CommandPriority = .normal) {
    onAnotherThread { self.write(number, priority: priority) }
  }

  @discardableResult
  func show(_ number: Int) -> Acceptance {
    dispatch(MirrorFeature.self) { try $0.show(number) }
  }
}

/// Says when it goes.
final class Token: Sendable {
  private let onDeinit: @Sendable () -> Void

  init(_ onDeinit: @escaping @Sendable () -> Void) {
    self.onDeinit = onDeinit
  }

  deinit { onDeinit() }
}

/// Numbers that code on any thread takes down.
final class ReleaseTally: Sendable {
  private let state = Latched<[Int]>([])

  var numbers: [Int] { state.value }
  var count: Int { numbers.count }

  func add(_ number: Int) { state.update { $0.append(number) } }
}

/// A value behind a lock; one that the thread sanitizer knows.
final class Latched<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value { lock.withLock { stored } }

  @discardableResult
  func update<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&stored) }
  }
}
