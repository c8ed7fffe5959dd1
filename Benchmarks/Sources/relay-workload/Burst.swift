// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkProbes
import Dispatch
import FeatureRelay
import Foundation

/// Dispatches from other threads while the main actor is busy, then lets it come, and reports how often the main
/// queue was asked to.
///
/// The main thread waits for the producers, so that the burst is the same each time: with a free main actor it
/// depends on luck how many commands a hop finds.
@MainActor
func runBurst(_ count: Int, producers: Int) -> Never {
  let tally = Tally()
  let relay = Relay(scope: "burst")
  relay.register(tally, for: TickFeature.self)
  let before = main_queue_posts()
  tally.expect(count) {
    let posts = main_queue_posts() - before
    // What still comes would be a post too many: look again when everything has been done.
    DispatchQueue.main.async {
      let late = main_queue_posts() - before - 1 - posts
      report(["delivered": count, "posts": before < 0 ? -1 : Int(posts + late)])
      withExtendedLifetime((tally, relay)) {}
      exit(0)
    }
  }
  let done = DispatchSemaphore(value: 0)
  for _ in 0..<producers {
    Thread {
      for _ in 0..<(count / producers) { relay.dispatch(TickFeature.self) { $0.tick(1) } }
      done.signal()
    }.start()
  }
  for _ in 0..<producers { done.wait() }
  dispatchMain()
}

/// Prints figures for the suite to read.
func report(_ figures: [String: Int]) {
  print(figures.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
}
