// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import Testing
import XCTest

/// The app's own `Relay.shared` says so when a test uses it.
@Suite struct SharedRelayReportTests {
  @Test func isSaidOncePerTest() {
    SharedRelayReport.forgetCurrentTest()
    let texts = failures {
      _ = Relay.shared
      _ = Relay.shared
    }
    #expect(texts.count == 1)
    #expect(texts.first?.hasPrefix("Relay.shared was used here and no test's relay") == true)
  }

  @Test func isSaidInTheNextTestAsWell() {
    SharedRelayReport.forgetCurrentTest()
    #expect(failures { _ = Relay.shared }.count == 1)
  }

  @Test(.relay) func isNotSaidWhereARelayStandsIn() {
    #expect(failures { _ = Relay.shared }.isEmpty)
  }

  @Test(.relay) func aDetachedTaskHasTheAppsOwn() async {
    let relay = Relay.shared
    #expect(await Task.detached { Relay.shared !== relay && Relay.shared.scope == "app" }.value)
    #expect(await Task { Relay.shared === relay }.value)
  }
}

final class SharedRelayReportXCTests: XCTestCase {
  func testIsSaidOncePerTest() {
    XCTAssertEqual(
      failures {
        _ = Relay.shared
        _ = Relay.shared
      }.count, 1)
  }

  func testIsSaidInTheNextTestAsWell() {
    XCTAssertEqual(failures { _ = Relay.shared }.count, 1)
  }

  func testIsNotSaidWhereARelayStandsIn() {
    let relay = Relay.testing(in: self)
    XCTAssertEqual(failures { _ = Relay.shared }, [])
    XCTAssertTrue(Relay.shared === relay)
  }
}
