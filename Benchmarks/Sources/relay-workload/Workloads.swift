// SPDX-License-Identifier: MIT

import AllocationCounter
import BenchmarkHandlers
import Dispatch
import FeatureRelay
import Foundation
import Synchronization

/// A handler is there: what the direct path costs.
@MainActor let directWorkloads = [
  Workload("floor") { count in
    let bench = Bench()
    let sender = Sender()
    sender.delegate = bench.handler
    return {
      for _ in 0..<count { sender.delegate?.tick(1) }
      withExtendedLifetime(bench) {}
    }
  },
  Workload("direct") { count in
    let bench = Bench(.weak)
    return { bench.closures(count) }
  },
  Workload("direct-capture") { count in
    let bench = Bench(.weak)
    return { bench.captures(count) }
  },
  Workload("direct-string") { count in
    let bench = Bench(.weak)
    let text = makeText()
    return { bench.strings(count, text) }
  },
  Workload("direct-typed") { count in
    let bench = Bench(.weak)
    return { bench.commands(count) }
  },
  Workload("direct-owned") { count in
    let bench = Bench(.owned)
    return { bench.closures(count) }
  },
  Workload("direct-shared") { count in
    let bench = Bench()
    Relay.shared.register(bench.handler, for: TickFeature.self)
    return {
      for _ in 0..<count { Relay.shared.dispatch(TickFeature.self) { $0.tick(1) } }
      withExtendedLifetime(bench) {}
    }
  },
  Workload("direct-nonisolated") { count in
    let bench = Bench(.weak)
    return { bench.closuresFromNowhere(count) }
  },
  Workload("direct-parent") { count in
    let bench = Bench(.weak)
    let child = Bench(parent: bench.relay)
    return {
      child.closures(count)
      withExtendedLifetime(bench) {}
    }
  },
]

/// What else costs: for a profiler.
@MainActor let otherWorkloads = [
  Workload("observed") { count in
    let bench = Bench(.weak)
    bench.relay.observe(SilentObserver())
    return { bench.closures(count) }
  },
  Workload("observed-capture") { count in
    let bench = Bench(.weak)
    bench.relay.observe(SilentObserver())
    return { bench.captures(count) }
  },
  Workload("consumed") { count in
    let bench = Bench(.weak)
    let events = bench.relay.events
    return {
      bench.closures(count)
      withExtendedLifetime(events) {}
    }
  },
  Workload("churn") { count in
    let bench = Bench(replay: .nextTurn)
    return {
      for _ in 0..<count { bench.relay.register(bench.handler, for: TickFeature.self).cancel() }
    }
  },
  Workload("death") { count in
    let bench = Bench(replay: .nextTurn)
    return {
      for _ in 0..<count {
        bench.relay.register(makeTicker(), for: TickFeature.self)
        bench.closures(1)
        bench.relay.clearQueue(TickFeature.self)
      }
    }
  },
  Workload("cancel") { count in
    let bench = Bench()
    let tag = CommandTag()
    for number in 0..<(count * 10) {
      bench.relay.dispatch(TickFeature.self, tags: number % 10 == 0 ? [tag] : []) { $0.tick(1) }
    }
    return { bench.relay.cancel(tagged: tag) }
  },
  Workload("flood") { count in
    let bench = Bench(limit: 100)
    bench.closures(100)
    return { bench.closures(count) }
  },
  Workload("flood-capture") { count in
    let bench = Bench(limit: 100)
    bench.captures(100)
    return { bench.captures(count) }
  },
]

private struct SilentObserver: RelayObserver {
  func observe(_ event: RelayEvent) {}
}

/// Dispatch from another thread while the main actor is busy; that thread counts its own allocations.
@MainActor let threadWorkloads = [
  Workload("off-main") { count in
    let bench = Bench().warmed(count).registeredWithUsualLimit()
    let relay = bench.relay
    return {
      onAnotherThread { for _ in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(1) } } }
      withExtendedLifetime(bench) {}
    }
  },
  Workload("off-main-capture") { count in
    let bench = Bench().warmed(count).registeredWithUsualLimit()
    let relay = bench.relay
    return {
      onAnotherThread {
        for number in 0..<count { relay.dispatch(TickFeature.self) { $0.tick(number) } }
      }
      withExtendedLifetime(bench) {}
    }
  },
]

private func onAnotherThread(_ action: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  Thread {
    let before = allocation_counter_get()
    action()
    workerAllocations.store(allocation_counter_get() - before, ordering: .releasing)
    done.signal()
  }.start()
  done.wait()
}

/// What a workload's own thread has allocated.
let workerAllocations = Atomic<Int64>(0)

/// Keeps the functions whose sizes are compared from being stripped.
@MainActor let callSiteWorkloads = [
  Workload("call-sites") { count in
    let bench = Bench(.weak)
    return {
      for _ in 0..<count {
        oneCallSite(bench.relay)
        tenCallSites(bench.relay)
      }
    }
  }
]

/// Nobody is there yet: what waiting costs, and being delivered later.
@MainActor let queueWorkloads = [
  Workload("enqueue") { count in
    let bench = Bench().warmed(count)
    return { bench.closures(count) }
  },
  Workload("enqueue-capture") { count in
    let bench = Bench().warmed(count)
    return { bench.captures(count) }
  },
  Workload("enqueue-typed") { count in
    let bench = Bench().warmed(count)
    return { bench.commands(count) }
  },
  Workload("replay") { count in
    let bench = Bench().warmed(count)
    bench.closures(count)
    return { bench.relay.register(bench.handler, for: TickFeature.self) }
  },
  Workload("replay-capture") { count in
    let bench = Bench().warmed(count)
    bench.captures(count)
    return { bench.relay.register(bench.handler, for: TickFeature.self) }
  },
  Workload("replay-typed") { count in
    let bench = Bench().warmed(count)
    bench.commands(count)
    return { bench.relay.register(bench.handler, for: TickFeature.self) }
  },
]

/// What things take in memory; the queues are new.
@MainActor let memoryWorkloads = [
  Workload("waiting-closure") { count in
    let bench = Bench()
    return { bench.closures(count) }
  },
  Workload("waiting-capture") { count in
    let bench = Bench()
    return { bench.captures(count) }
  },
  Workload("waiting-typed") { count in
    let bench = Bench()
    return { bench.commands(count) }
  },
  Workload("relay") { count in
    { keep((0..<count).map { _ in Relay(scope: "idle") }) }
  },
  Workload("slot") { count in
    let relays = (0..<count).map { _ in Relay(scope: "idle") }
    return {
      for relay in relays { _ = relay.gate(for: TickFeature.self) }
      keep(relays)
    }
  },
  Workload("registration") { count in
    let handler = makeTicker()
    let relays = (0..<count).map { _ in Relay(scope: "idle") }
    for relay in relays { _ = relay.gate(for: TickFeature.self) }
    return {
      for relay in relays { relay.register(handler, for: TickFeature.self) }
      keep(relays)
    }
  },
]

@MainActor private var kept: [Relay] = []

/// Keeps relays until the process ends, so that their memory is counted.
@MainActor
private func keep(_ relays: [Relay]) {
  kept = relays
}
