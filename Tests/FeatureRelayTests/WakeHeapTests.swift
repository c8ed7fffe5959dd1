// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private protocol WaitFeature: RelayFeature {
  func take(_ number: Int)
}

@Suite struct WakeHeapTests {
  @Test(arguments: 1...24)
  func commandsWithTimesToLiveOfTheirOwnCanEndInAnyOrder(count: Int) throws {
    let clock = ManualClock()
    let relay = Relay(
      scope: "heap", configuration: try RelayConfiguration(clock: clock.relayClock))
    var random = SeededGenerator(seed: UInt64(count))
    for number in (0..<count).shuffled(using: &random) {
      relay.dispatch(
        WaitFeature.self, tags: [CommandTag("\(number)")], timeToLive: .seconds(number + 1)
      ) { $0.take(number) }
    }
    // Half of them are cancelled, wherever they stand in the heap; time ends the others one by one.
    let cancelled = (0..<count).filter { $0 % 2 == 0 }.shuffled(using: &random)
    for number in cancelled { #expect(relay.cancel(tagged: CommandTag("\(number)")) == 1) }
    for number in 0..<count {
      clock.advance(to: .seconds(number + 1))
      #expect(relay.pendingCount == (number + 1..<count).count { $0 % 2 == 1 })
    }
    #expect(relay.counts.dropped(.expired) == UInt64(count - cancelled.count))
  }
}
