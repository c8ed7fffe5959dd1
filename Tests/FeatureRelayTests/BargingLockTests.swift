// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayTesting
import XCTest

@testable import FeatureRelay

/// What a lock says of itself: two counters that only agree while nobody else is inside, and who
/// was there.
private struct Book {
  var first = 0
  var second = 0
  /// What each thread wrote last.
  var last: [Int]
  var isOrdered = true
}

private final class Shelf: Sendable {
  let lock: BargingLock<Book>

  init(threads: Int) { lock = BargingLock(Book(last: Array(repeating: -1, count: threads))) }
}

private final class Mortal: Sendable {
  let ends: Tally
  init(_ ends: Tally) { self.ends = ends }
  deinit { ends.add() }
}

private struct Interruption: Error {}

final class BargingLockTests: XCTestCase {
  /// Runs an action on so many threads at once and returns when all have ended. A thread that is
  /// never woken up ends the process.
  private func crowd(_ threads: Int, _ action: @escaping @Sendable (Int) -> Void) {
    let start = SpinBarrier(parties: threads)
    let end = ThreadLatch()
    for number in 0..<threads {
      startThread {
        start.meet()
        action(number)
        end.open()
      }
    }
    for _ in 0..<threads { end.wait("a thread that wanted the lock") }
  }

  func testOneAtATimeIsInsideAndNothingIsLost() {
    for threads in [2, 3, 8, 16] {
      let seed = SeededGenerator.freshSeed()
      print("RELAY_TEST_SEED=\(seed)")
      let shelf = Shelf(threads: threads)
      let rounds = raceRounds(40_000 / threads)
      crowd(threads) { number in
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        for round in 0..<rounds {
          let stay = Int.random(in: 0..<64, using: &random)
          shelf.lock.withLock { book in
            book.first += 1
            // Now and then whoever is inside loses its core there, so that others go to sleep.
            if stay == 0 { sched_yield() } else if stay < 8 { spin(stay * 8) }
            if book.last[number] != round - 1 { book.isOrdered = false }
            book.last[number] = round
            book.second += 1
            if book.first != book.second { book.isOrdered = false }
          }
          if stay == 1 { sched_yield() }
        }
      }
      let (first, second, isOrdered) = shelf.lock.withLock {
        ($0.first, $0.second, $0.isOrdered)
      }
      XCTAssertEqual(first, threads * rounds, "seed \(seed)")
      XCTAssertEqual(second, threads * rounds, "seed \(seed)")
      XCTAssertTrue(isOrdered, "seed \(seed)")
    }
  }

  func testWhoeverSleepsIsWokenUp() {
    let threads = 8
    for round in 0..<raceRounds(300) {
      let shelf = Shelf(threads: threads)
      let coming = Tally()
      let isInside = ThreadLatch()
      let end = ThreadLatch()
      startThread {
        shelf.lock.withLock { book in
          isInside.open()
          // Until all of them are at the door, and for so long that they sleep in most rounds.
          while coming.current < threads { sched_yield() }
          for _ in 0..<(round % 64) { sched_yield() }
          book.first += 1
        }
        end.open()
      }
      isInside.wait()
      for _ in 0..<threads {
        startThread {
          coming.add()
          shelf.lock.withLock { $0.first += 1 }
          end.open()
        }
      }
      for _ in 0...threads { end.wait("a thread that slept before the lock") }
      XCTAssertEqual(shelf.lock.withLock { $0.first }, threads + 1)
    }
  }

  func testAnErrorGivesTheLockBack() {
    let shelf = Shelf(threads: 1)
    XCTAssertThrowsError(
      try shelf.lock.withLock { book throws(Interruption) in
        book.first += 1
        throw Interruption()
      })
    XCTAssertEqual(shelf.lock.withLock { $0.first }, 1)
  }

  func testWhatItHoldsGoesWithIt() {
    let ends = Tally()
    do {
      let lock = BargingLock(Mortal(ends))
      XCTAssertEqual(lock.withLock { $0.ends.current }, 0)
    }
    XCTAssertEqual(ends.current, 1)
  }
}
