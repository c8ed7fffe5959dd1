// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

struct RelayConfigurationTests {
  private func error(_ make: () throws -> Any) -> ConfigurationError? {
    do {
      _ = try make()
      return nil
    } catch {
      return error as? ConfigurationError
    }
  }

  @Test func standardSettingsAreTheDocumentedOnes() throws {
    for configuration in [RelayConfiguration.standard, try RelayConfiguration()] {
      #expect(configuration.limit == 100)
      #expect(configuration.timeToLive == .seconds(300))
      #expect(configuration.overflow == .dropOldest)
      #expect(configuration.retry == .drop)
      #expect(configuration.transitLimit == 65_536)
      #expect(configuration.eventBuffer == 1_024)
      #expect(configuration.replay == .nextTurn)
      #expect(configuration.seed == nil)
    }
  }

  @Test(arguments: [0, -1, Int.min, Int.max])
  func nonsenseLimitsAreNamedWithTheirValue(_ value: Int) {
    let relay = error { try RelayConfiguration(limit: value) }
    #expect(relay?.field == "limit" && relay?.value == "\(value)")
    let transit = error { try RelayConfiguration(transitLimit: value) }
    #expect(transit?.field == "transitLimit" && transit?.value == "\(value)")
    let buffer = error { try RelayConfiguration(eventBuffer: value) }
    #expect(buffer?.field == "eventBuffer" && buffer?.value == "\(value)")
    let feature = error { try FeatureConfiguration(limit: value) }
    #expect(feature?.field == "limit" && feature?.value == "\(value)")
    let durable = error { try FeatureConfiguration.Durable(limit: value) }
    #expect(durable?.field == "limit" && durable?.value == "\(value)")
    let policy = error { try CommandPolicy(validating: .normal, limit: value) }
    #expect(policy?.field == "limit" && policy?.value == "\(value)")
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(-1)])
  func nonsenseTimesAreNamedWithTheirValue(_ value: Duration) {
    let relay = error { try RelayConfiguration(timeToLive: .limited(value)) }
    #expect(relay?.field == "timeToLive" && relay?.value == "\(value)")
    #expect(relay?.description.contains(".unlimited") == true)
    let feature = error { try FeatureConfiguration(timeToLive: .limited(value)) }
    #expect(feature?.field == "timeToLive" && feature?.value == "\(value)")
    let durable = error { try FeatureConfiguration.Durable(timeToLive: .limited(value)) }
    #expect(durable?.field == "timeToLive" && durable?.value == "\(value)")
    let policy = error { try CommandPolicy(validating: .low, timeToLive: .limited(value)) }
    #expect(policy?.field == "timeToLive" && policy?.value == "\(value)")
    let execution = error { try CommandPolicy(validating: .low, executionLimit: value) }
    #expect(execution?.field == "executionLimit" && execution?.value == "\(value)")
  }

  @Test func noTimeToLiveIsACaseOfItsOwn() throws {
    #expect(try RelayConfiguration(timeToLive: .unlimited).timeToLive == .unlimited)
    #expect(try FeatureConfiguration(timeToLive: .unlimited).timeToLive == .unlimited)
    #expect(try CommandPolicy(validating: .low, timeToLive: .unlimited).timeToLive == .unlimited)
  }

  @Test func theSmallestAndLargestLimitsAreTaken() throws {
    #expect(try RelayConfiguration(limit: 1, transitLimit: 1, eventBuffer: 1).limit == 1)
    #expect(try RelayConfiguration(limit: 2_147_483_647).limit == 2_147_483_647)
    #expect(throws: ConfigurationError.self) { try RelayConfiguration(limit: 2_147_483_648) }
  }

  @Test(arguments: ["", " ", "\t\n "])
  func aBlankScopeTrapsWithASentence(_ scope: String) async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [scope] in
      _ = Relay(scope: scope)
    }
    #expect(text(result.standardErrorContent).contains("it needs a name"))
  }

  @Test func aPolicyOfNonsenseConstantsTrapsWithASentence() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = CommandPolicy(limit: 0)
    }
    #expect(text(result.standardErrorContent).contains("CommandPolicy: limit is 0"))
  }
}
