// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import FeatureRelay
import Foundation

/// Handlers that come and go, and questions that are answered.
let lifecycleGroup = Group("lifecycle", "registrations, requests, async commands") {
  let fixture = Fixture("lifecycle", isRegistered: false)
  let (relay, handler) = (fixture.relay, fixture.handler)
  let mortal = Relay(scope: "mortal")
  let answering = Fixture("answering")
  let center = NotificationCenter()
  let listener = Listener()
  return [
    fixture.floor,
    .loop("churn", "register, cancel", .faster(1, than: "observers")) { count in
      for _ in 0..<count { relay.register(handler, for: TickFeature.self).cancel() }
    },
    .peer("observers", "NotificationCenter, add and remove an observer") { count in
      for _ in 0..<count {
        let token = center.addObserver(forName: .tick, object: nil, queue: nil) {
          [weak listener] _ in listener?.tick(1)
        }
        center.removeObserver(token)
      }
    },
    .loop("death", "a handler comes, dies and is missed", .faster(1, than: "observer-death")) {
      count in
      for _ in 0..<count {
        mortal.register(makeTicker(), for: TickFeature.self)
        mortal.dispatch(TickFeature.self) { $0.tick(1) }
        mortal.clearQueue(TickFeature.self)
      }
    },
    .peer("observer-death", "the same with an observer of a notification") { count in
      for _ in 0..<count {
        let token = addMortalObserver(center)
        center.post(name: .tick, object: nil)
        center.removeObserver(token)
      }
    },
    Subject(
      "request", "request and answer", bounds: [.faster(1, than: "task-answer")],
      .awaited { count in
        let start = Machine.nanoseconds
        for _ in 0..<count {
          guard (try? await answering.relay.request(TickFeature.self, { await $0.work() })) != nil
          else { preconditionFailure("A request was not answered.") }
        }
        return Machine.nanoseconds - start
      }),
    Subject(
      "task-answer", "Task and continuation, with an answer", role: .peer,
      .awaited { count in
        let handler = answering.handler
        let start = Machine.nanoseconds
        for _ in 0..<count {
          _ = await withCheckedContinuation { continuation in
            Task { @MainActor in continuation.resume(returning: await handler.work()) }
          }
        }
        return Machine.nanoseconds - start
      }),
    Subject(
      "async", "async command, awaited", bounds: [.faster(1, than: "task")],
      .awaited { count in
        let start = Machine.nanoseconds
        for _ in 0..<count {
          await withCheckedContinuation { continuation in
            answering.relay.dispatch(TickFeature.self) {
              _ = await $0.work()
              continuation.resume()
            }
          }
        }
        return Machine.nanoseconds - start
      }),
    Subject(
      "task", "Task and continuation", role: .peer,
      .awaited { count in
        let handler = answering.handler
        let start = Machine.nanoseconds
        for _ in 0..<count {
          await withCheckedContinuation { continuation in
            Task { @MainActor in
              _ = await handler.work()
              continuation.resume()
            }
          }
        }
        return Machine.nanoseconds - start
      }),
  ]
}

@inline(never)
private func addMortalObserver(_ center: NotificationCenter) -> any NSObjectProtocol {
  let listener = Listener()
  return center.addObserver(forName: .tick, object: nil, queue: nil) { [weak listener] _ in
    listener?.tick(1)
  }
}
