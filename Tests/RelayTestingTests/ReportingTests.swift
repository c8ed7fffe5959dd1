// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import Testing
import XCTest

/// Failures come to the runner that runs, at the line of the expectation.
@Suite struct SwiftTestingReportTests {
  @Test func aFailureIsAnIssueAtTheLineOfTheExpectation() throws {
    let relay = Relay.testing()
    let taken = SeenMutex<[Issue]>([])
    let line = #line + 2
    withKnownIssue {
      relay.recorder.expectDispatched(ShowToast(message: "x"))
    } matching: { issue in
      taken.withLock { $0.append(issue) }
      return true
    }
    let issues = taken.withLock { $0 }
    let issue = try #require(issues.first)
    #expect(issues.count == 1)
    #expect(issue.sourceLocation?.line == line)
    #expect(issue.sourceLocation?.fileID == #fileID)
    #expect(
      issue.comments.map(\.rawValue) == [
        "No ShowToast(message: \"x\") was dispatched.\nDispatched: nothing"
      ])
  }
}

#if !canImport(Darwin)
  /// XCTest's failures are taken before they count, which only the open-source one lets a test do.
  final class XCTestReportTests: XCTestCase {
    private var taken: [(text: String, line: Int)] = []
    private var isTaking = false

    override func recordFailure(
      withDescription description: String, inFile filePath: String, atLine lineNumber: Int,
      expected: Bool
    ) {
      if isTaking {
        taken.append((description, lineNumber))
      } else {
        super.recordFailure(
          withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
      }
    }

    func testAFailureIsRecordedAtTheLineOfTheExpectation() {
      let relay = Relay.testing(in: self)
      isTaking = true
      let line = #line + 1
      relay.recorder.expectDispatched(ShowToast(message: "x"))
      isTaking = false
      XCTAssertEqual(
        taken.map(\.text),
        ["failed - No ShowToast(message: \"x\") was dispatched.\nDispatched: nothing"])
      XCTAssertEqual(taken.map(\.line), [line])
    }
  }
#endif
