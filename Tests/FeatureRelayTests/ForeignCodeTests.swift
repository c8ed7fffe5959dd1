// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import XCTest

// Law 9: nothing foreign runs under a lock. What is released by a relay calls back into it; under a
// lock it would never return.

private protocol RiskyFeature: RelayFeature {
  func fail(_ error: any Error) throws
}

private final class Risky: RiskyFeature {
  func fail(_ error: any Error) throws { throw error }
}

/// Something that calls the relay when it goes.
private final class Farewell: Sendable {
  let relay: Relay
  let farewells: Tally

  init(_ relay: Relay, _ farewells: Tally) {
    self.relay = relay
    self.farewells = farewells
  }

  deinit {
    _ = relay.pendingCount
    _ = relay.isRegistered(RiskyFeature.self)
    _ = relay.snapshot()
    farewells.add()
  }
}

private struct LoadedError: Error {
  let load: Farewell
}

@MainActor
final class ForeignCodeTests: XCTestCase {
  func testErrorsAreReleasedOutsideAnyLock() async {
    let relay = Relay(scope: "errors")
    let risky = Risky()
    let farewells = Tally()
    relay.register(risky, for: RiskyFeature.self)
    for number in 0..<100 {
      let error = LoadedError(load: Farewell(relay, farewells))
      relay.dispatch(RiskyFeature.self) { try $0.fail(error) }
      if number % 2 == 0 {
        // An error of its own: a thread's end, and with it the release of what it captured, is not
        // waited for.
        onAnotherThread {
          let error = LoadedError(load: Farewell(relay, farewells))
          relay.dispatch(RiskyFeature.self) { try $0.fail(error) }
        }
        await relay.waitUntilIdle()
      }
    }
    // What a relay remembers of a problem is not what the handler threw: nobody looks at that any
    // more.
    XCTAssertEqual(farewells.current, 150)
    XCTAssertEqual(relay.snapshot().problems.count, 32)
  }

  func testErrorsAreReleasedOutsideAnyLockWhenNobodyReadsTheEvents() async throws {
    let relay = Relay(scope: "errors", configuration: try RelayConfiguration(eventBuffer: 4))
    let risky = Risky()
    let farewells = Tally()
    let events = relay.events
    relay.register(risky, for: RiskyFeature.self)
    for _ in 0..<100 {
      let error = LoadedError(load: Farewell(relay, farewells))
      relay.dispatch(RiskyFeature.self) { try $0.fail(error) }
    }
    XCTAssertGreaterThan(farewells.current, 90)
    withExtendedLifetime(events) {}
  }
}
