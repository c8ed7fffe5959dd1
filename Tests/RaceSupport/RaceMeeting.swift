// SPDX-License-Identifier: MIT

import Foundation
import XCTest

/// Wants a race to have met the moment that it is about, where rounds are run in full number.
///
/// Whether two threads meet within nanoseconds is luck. Where a sanitizer makes rounds slow and few
/// (`RELAY_RACE_DIVISOR`), a race that never met is said, not failed: what it checks held, and the
/// same rounds in full number have to meet.
public func requireMet(
  _ hasMet: Bool, _ sentence: @autoclosure () -> String, file: StaticString = #filePath,
  line: UInt = #line
) {
  if hasMet { return }
  guard ProcessInfo.processInfo.environment["RELAY_RACE_DIVISOR"] == nil else {
    print("Race at \(file):\(line) did not meet: \(sentence())")
    return
  }
  XCTFail(sentence(), file: file, line: line)
}
