// SPDX-License-Identifier: MIT

import RelayTesting
import Testing

@Suite struct ManualClockTests {
  /// Safe: the clock runs what is due on the thread that moves it.
  private final class Log: Sendable {
    private nonisolated(unsafe) var lines: [String] = []

    func append(_ line: String) { lines.append(line) }
    var all: [String] { lines }
  }

  @Test func runsWhatIsDueInOrderEachAtItsOwnTime() {
    let clock = ManualClock()
    let log = Log()
    for seconds in [3, 1, 2] {
      clock.schedule(at: .seconds(seconds)) { log.append("\(seconds) at \(clock.now)") }
    }
    clock.advance(by: .seconds(2))
    #expect(log.all == ["1 at 1.0 seconds", "2 at 2.0 seconds"])
    #expect(clock.nextDeadline == .seconds(3))
    #expect(clock.advanceToNextDeadline())
    #expect(log.all.last == "3 at 3.0 seconds")
    #expect(!clock.advanceToNextDeadline())
  }

  @Test func doesNotGoBack() {
    let clock = ManualClock(now: .seconds(5))
    clock.advance(to: .seconds(1))
    #expect(clock.now == .seconds(5))
  }
}
