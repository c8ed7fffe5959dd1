// SPDX-License-Identifier: MIT

import FeatureRelay
import Testing

/// In processes of their own, since `Relay.shared` is set up once.
struct SharedRelayTests {
  @Test func bootstrapBeforeTheFirstUseSetsItUp() async {
    await #expect(processExitsWith: .success) {
      try Relay.bootstrap(configuration: try RelayConfiguration(limit: 7))
      precondition(Relay.shared.configuration.limit == 7)
      precondition(Relay.shared.scope == "app" && Relay.shared.parent == nil)
    }
  }

  @Test func withoutBootstrapItHasTheStandardSettings() async {
    await #expect(processExitsWith: .success) {
      precondition(Relay.shared.configuration.limit == 100)
      precondition(Relay.shared === Relay.shared)
    }
  }

  @Test func bootstrapAfterTheFirstUseIsATypedError() async {
    await #expect(processExitsWith: .success) {
      _ = Relay.shared
      do {
        try Relay.bootstrap()
        preconditionFailure("bootstrap came too late and said nothing")
      } catch let error as RelayError {
        precondition(error.code == .sharedInUse)
        precondition(error.description.contains("call bootstrap once"))
      }
    }
  }

  @Test func aSecondBootstrapIsATypedErrorAndChangesNothing() async {
    await #expect(processExitsWith: .success) {
      try Relay.bootstrap(configuration: try RelayConfiguration(limit: 7))
      do {
        try Relay.bootstrap(configuration: try RelayConfiguration(limit: 8))
        preconditionFailure("the second bootstrap was taken")
      } catch let error as RelayError {
        precondition(error.code == .sharedInUse)
      }
      precondition(Relay.shared.configuration.limit == 7)
    }
  }

  @Test func manyThreadsGetOneSharedRelay() async {
    await #expect(processExitsWith: .success) {
      await withTaskGroup(of: ObjectIdentifier.self) { group in
        for _ in 0..<16 { group.addTask { ObjectIdentifier(Relay.shared) } }
        var ids: Set<ObjectIdentifier> = []
        for await id in group { ids.insert(id) }
        precondition(ids.count == 1)
      }
    }
  }
}
