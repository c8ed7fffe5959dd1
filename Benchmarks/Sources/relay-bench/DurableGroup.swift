// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import BenchmarkHarness
import FeatureRelay
import Foundation

/// A command of about 64 bytes of JSON.
private struct Keep: RelayCommand, DurableCommand {
  static let commandName = Sample.name
  var orderID = "4242-1717"
  var address = "someone@example.org"
  var copies = 1
  func execute(on ticker: any TickFeature) { ticker.tick(copies) }
}

private let batch = 500
private let many = 10_000

/// A relay with a journal of its own.
@MainActor
private final class Outbox {
  let workshop = Workshop()
  let handler = makeTicker()
  private(set) var relay: Relay?

  func open(_ name: String, durability: Durability = .survivesProcessDeath) -> Relay {
    do {
      let relay = try Relay(
        scope: name,
        configuration: RelayConfiguration(durable: DurableConfiguration(limit: 1_000_000)),
        journal: .directory(
          URL(fileURLWithPath: workshop.path + "/" + name), durability: durability),
        restoring: Keep.self)
      self.relay = relay
      return relay
    } catch {
      preconditionFailure("There is no journal: \(error)")
    }
  }
}

/// The whole way of a durable command, its encoding included, beside what one would write instead:
/// the same payload encoded, and a transaction or a file for each.
let durableGroup = Group("durable", "the whole way, encoding included; per command") {
  let outbox = Outbox()
  let waiting = outbox.open("waiting")
  let handled = outbox.open("handled")
  let synced = outbox.open("synced", durability: .survivesPowerLoss)
  let encoder = JSONEncoder()
  let sqlite = outbox.workshop.sqlite("durable.sqlite", .normal)
  let full = outbox.workshop.sqlite("durable-full.sqlite", .full)
  let files = JSONFiles(folder: outbox.workshop.folder("durable-json"))
  var next: Int64 = 1
  handled.register(outbox.handler, for: TickFeature.self)
  func payload() -> [UInt8] {
    do { return Array(try encoder.encode(Keep())) } catch { preconditionFailure("\(error)") }
  }
  func ids(_ count: Int) -> Range<Int64> {
    defer { next += Int64(count) }
    return next..<next + Int64(count)
  }
  return [
    .timed("wait", "dispatch, nobody registered", count: batch, .faster(4, than: "sqlite")) {
      count in
      let elapsed = time { for _ in 0..<count { waiting.dispatch(Keep()) } }
      precondition(waiting.clearQueue() == count)
      return elapsed
    },
    .timed("handler", "dispatch with a handler", count: batch, .faster(4, than: "sqlite-both")) {
      count in
      let elapsed = time { for _ in 0..<count { handled.dispatch(Keep()) } }
      precondition(handled.pendingCount == 0)
      return elapsed
    },
    .timed("replay", "a handler comes", count: batch) { count in
      for _ in 0..<count { waiting.dispatch(Keep()) }
      let registration = waiting.register(outbox.handler, for: TickFeature.self)
      // One more is delivered at once, and what waits before it.
      let elapsed = time { waiting.dispatch(Keep()) }
      precondition(waiting.pendingCount == 0)
      registration.cancel()
      return elapsed
    },
    .timedPeer("encode", "encoding alone", count: batch) { count in
      time { for _ in 0..<count { blackHole(payload()) } }
    },
    sqliteSubject("sqlite", "encode, SQLite insert (WAL, NORMAL)", sqlite) { sqlite, count in
      let ids = ids(count)
      let elapsed = time { for id in ids { sqlite.insert(id, payload()) } }
      sqlite.execute("DELETE FROM commands")
      return elapsed
    },
    sqliteSubject("sqlite-both", "encode, SQLite insert, delete (WAL, NORMAL)", sqlite) {
      sqlite, count in
      let ids = ids(count)
      return time {
        for id in ids {
          sqlite.insert(id, payload())
          sqlite.delete(id)
        }
      }
    },
    .timedPeer("json", "encode, a JSON file for each", count: batch) { count in
      let ids = ids(count)
      let elapsed = time { for id in ids { files.insert(id, payload()) } }
      for id in ids { files.delete(id) }
      return elapsed
    },
    Subject(
      "synced", "dispatch and await the medium, 8 producers", count: 64,
      bounds: [.faster(8, than: "sqlite-full")],
      .awaited { count in
        let begin = Machine.nanoseconds
        await withTaskGroup { group in
          for producer in 0..<8 {
            group.addTask {
              for _ in stride(from: producer, to: count, by: 8) {
                await synced.waitUntilPersisted(synced.dispatch(Keep()))
              }
            }
          }
        }
        let elapsed = Machine.nanoseconds - begin
        synced.clearQueue()
        return elapsed
      }),
    sqliteSubject("sqlite-full", "encode, SQLite insert (WAL, FULL)", full, count: 64) {
      sqlite, count in
      let ids = ids(count)
      let elapsed = time { for id in ids { sqlite.insert(id, payload()) } }
      sqlite.execute("DELETE FROM commands")
      return elapsed
    },
    Subject(
      "restore", "restore 10,000, decode and deliver", count: many,
      .awaited { count in
        let before = outbox.open("restore")
        before.reset()
        for _ in 0..<count { before.dispatch(Keep()) }
        before.close()
        let begin = Machine.nanoseconds
        let relay = outbox.open("restore")
        relay.register(outbox.handler, for: TickFeature.self)
        await relay.restore()
        await relay.waitUntilIdle()
        let elapsed = Machine.nanoseconds - begin
        precondition(relay.counts.delivered == UInt64(count))
        relay.close()
        return elapsed
      }),
  ]
}

@inline(never)
private func blackHole(_ bytes: [UInt8]) {}
