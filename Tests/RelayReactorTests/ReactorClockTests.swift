// SPDX-License-Identifier: MIT

import RaceSupport
import RelayReactor
import Testing

@MainActor
struct ReactorClockTests {
  @Test func aClockOfSwiftsHoldsActionsBack() async {
    let clock = StoppedClock()
    let reactor = SearchReactor(clock: ReactorClock(clock)) { _ in
      .latestWins.debounced(for: .seconds(5))
    }
    let run = reactor.send(.search("a"))
    await clock.latch.arrival()
    #expect(run.outcome == nil)
    #expect(reactor.log.isEmpty)
    clock.time.current = .seconds(5)
    clock.latch.open()
    #expect(await run.finished() == .finished)
    #expect(reactor.state.results == "a")
  }

  @Test func aClockThatIsEarlyIsAskedAgain() async {
    let clock = ManualClock()
    let early = ReactorClock(
      now: { clock.now },
      schedule: { time, action in clock.schedule(at: time - .milliseconds(1), action) })
    let reactor = SearchReactor(clock: early) { _ in .serial.debounced(for: .seconds(1)) }
    reactor.send(.search("a"))
    clock.advance(by: .milliseconds(999))
    await reactor.waitUntilIdle()
    #expect(reactor.log.isEmpty)
    clock.advance(by: .milliseconds(1))
    await reactor.waitUntilIdle()
    #expect(reactor.log == ["start a", "end a"])
  }
}

/// A clock that stands still, and whose sleepers wake up when a test says so.
private final class StoppedClock: Clock {
  struct Instant: InstantProtocol {
    var time: Duration
    func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
    func duration(to other: Instant) -> Duration { other.time - time }
    static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
  }

  let latch = Latch()
  let time = Handover<Duration>()
  var now: Instant { Instant(time: time.current ?? .zero) }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws { await latch.wait() }
}
