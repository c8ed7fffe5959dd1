// SPDX-License-Identifier: MIT

import HarnessSupport
import SampleApp
import Synchronization

/// A person who is asked by the system, and takes their time.
final class TestPermissions: SystemPermissions {
  private(set) var asked: [String] = []
  private var answer: CheckedContinuation<Bool, Never>?

  func askForCamera() async -> Bool { await ask("camera") }
  func askForLocation() async -> Bool { await ask("location") }

  func respond(_ isAllowed: Bool) {
    answer?.resume(returning: isAllowed)
    answer = nil
  }

  private func ask(_ what: String) async -> Bool {
    await withCheckedContinuation { continuation in
      answer = continuation
      asked.append(what)
    }
  }

  func waitForQuestion(_ count: Int) async {
    while asked.count < count { await Task.yield() }
  }
}

/// A server that can be reached or not.
final class TestServer: Server {
  struct Offline: Error {}

  private let state = Mutex((isOnline: false, paths: [String]()))

  var paths: [String] { state.withLock { $0.paths } }

  func setOnline(_ isOnline: Bool) { state.withLock { $0.isOnline = isOnline } }

  func post(_ path: String) async throws {
    try state.withLock { state in
      if !state.isOnline { throw Offline() }
      state.paths.append(path)
    }
  }
}

/// Waits by a manual clock, and tells how many waits have begun.
final class TestPause: Sendable {
  private let clock: ManualClock
  private let count = Mutex(0)

  init(_ clock: ManualClock) { self.clock = clock }

  func pause(_ duration: Duration) async throws {
    let wait = Wait()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        wait.begin(continuation)
        if Task.isCancelled { wait.end(CancellationError()) }
        clock.schedule(at: clock.now + duration) { wait.end(nil) }
        count.withLock { $0 += 1 }
      }
    } onCancel: {
      wait.end(CancellationError())
    }
  }

  func waitForPause(_ number: Int) async {
    while count.withLock({ $0 }) < number { await Task.yield() }
  }

  /// One wait, which ends once.
  private final class Wait: Sendable {
    private let waiting = Mutex<CheckedContinuation<Void, any Error>?>(nil)

    func begin(_ continuation: CheckedContinuation<Void, any Error>) {
      waiting.withLock { $0 = continuation }
    }

    func end(_ error: (any Error)?) {
      let continuation = waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }
      if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
    }
  }
}
