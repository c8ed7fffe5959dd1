// SPDX-License-Identifier: MIT

internal import Foundation
internal import Testing
internal import XCTest

/// Where in a test's source something was asked for.
struct SourcePlace: Sendable {
  let fileID: StaticString
  let file: StaticString
  let line: UInt
  let column: UInt
}

/// The test that runs, and how its runner is told that something is wrong with it.
package struct RunningTest: Sendable, Hashable {
  enum Runner: Sendable {
    case swiftTesting
    case xcTest
  }

  let runner: Runner
  /// Nil where the runner does not say.
  let name: String?

  /// The test of the current task, or the one that XCTest is at.
  static var current: RunningTest {
    guard let test = Test.current else {
      return RunningTest(runner: .xcTest, name: XCTestWatch.shared.testName)
    }
    return RunningTest(runner: .swiftTesting, name: "\(test.id)")
  }

  /// Takes failures in place of the runner. An object: a task-local closure is not passed rightly
  /// by the optimiser of Swift 6.3 (every test of messages would crash in release).
  private final class Capture: Sendable {
    let texts = SeenMutex<[String]>([])
  }

  @TaskLocal private static var capture: Capture?

  /// What is said while a test of messages runs its body, in place of telling the runner.
  package static func failures(of body: () throws -> Void) rethrows -> [String] {
    let capture = Capture()
    try $capture.withValue(capture) { try body() }
    return capture.texts.withLock { $0 }
  }

  /// The same around code that takes its time.
  @MainActor
  package static func failures(
    of body: @MainActor () async throws -> Void
  ) async rethrows -> [String] {
    let capture = Capture()
    try await $capture.withValue(capture) { try await body() }
    return capture.texts.withLock { $0 }
  }

  /// Fails the test.
  ///
  /// Code on a thread of its own does not know its test: then the runner is the one that the test
  /// has that this belongs to.
  func fail(_ message: String, at place: SourcePlace) {
    if let capture = Self.capture { return capture.texts.withLock { $0.append(message) } }
    if Test.current != nil || runner == .swiftTesting {
      Issue.record(
        Comment(rawValue: message),
        sourceLocation: SourceLocation(
          fileID: "\(place.fileID)", filePath: "\(place.file)", line: Int(place.line),
          column: Int(place.column)))
    } else {
      XCTFail(message, file: place.file, line: place.line)
    }
  }

  /// Says something without failing the test.
  static func warn(_ message: String) {
    if let capture { return capture.texts.withLock { $0.append(message) } }
    #if compiler(>=6.3)
      if let test = Test.current {
        Issue.record(
          Comment(rawValue: message), severity: .warning, sourceLocation: test.sourceLocation)
        return
      }
    #endif
    let name = current.name.map { "\($0): " } ?? ""
    FileHandle.standardError.write(Data("warning: \(name)\(message)\n".utf8))
  }
}

/// Knows which test XCTest is at, from the first time on that somebody asks.
private final class XCTestWatch: NSObject, XCTestObservation, Sendable {
  static let shared = XCTestWatch()

  private let test = SeenMutex<String?>(nil)

  nonisolated private override init() {
    super.init()
    XCTestObservationCenter.shared.addTestObserver(self)
  }

  nonisolated var testName: String? { test.withLock { $0 } }

  nonisolated func testCaseWillStart(_ testCase: XCTestCase) {
    let name = testCase.name
    test.withLock { $0 = name }
  }

  nonisolated func testCaseDidFinish(_ testCase: XCTestCase) {
    test.withLock { $0 = nil }
    SharedRelayReport.testEnded()
  }
}
