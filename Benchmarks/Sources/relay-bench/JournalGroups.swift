// SPDX-License-Identifier: MIT
// swift-format-ignore-file: NeverUseForceTry
// A benchmark whose disk fails has nothing to say.

import BenchmarkHarness
import Foundation
import JournalUnderTest

/// What is stored: 64 bytes of JSON, as a small command would have.
enum Sample {
  static let name = "receipt.send"
  static let group = "MailFeature"
  static let payload = Array(
    #"{"orderID":"4242-1717","address":"someone@example.org","copies":1}"#.utf8.prefix(64))

  static func entry(_ id: UInt64) -> JournalEntry {
    JournalEntry(
      id: id, place: JournalPlace(run: 1, sequence: id), name: name, group: group, priority: 1,
      acceptedAt: 1_700_000_000_000, payload: payload[...])
  }
}

/// A directory of its own for each store; all on the disk of the temporary directory, or on that of
/// `RELAY_BENCH_DIRECTORY`.
final class Workshop {
  let path: String

  init() {
    let base =
      ProcessInfo.processInfo.environment["RELAY_BENCH_DIRECTORY"]
      ?? FileManager.default.temporaryDirectory.path
    path = base + "/relay-bench-\(UUID().uuidString)"
    must {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func journal(_ name: String) -> Journal {
    var options = JournalOptions()
    options.compactsByItself = false
    options.sizeLimit = 1 << 30
    return Journal.open(path + "/" + name, options: options).journal!
  }

  func sqlite(_ name: String, _ level: SQLiteStore.Level) -> SQLiteStore? {
    SQLiteStore(path: path + "/" + name, level)
  }

  func folder(_ name: String) -> String {
    must {
      try FileManager.default.createDirectory(
        atPath: path + "/" + name, withIntermediateDirectories: true)
    }
    return path + "/" + name
  }

  func bytes(_ name: String) -> Int {
    let files = FileManager.default.enumerator(atPath: path + "/" + name)
    var sum = 0
    while let file = files?.nextObject() as? String {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/\(name)/\(file)")
      if attributes?[.type] as? FileAttributeType == .typeRegular {
        sum += attributes?[.size] as? Int ?? 0
      }
    }
    return sum
  }
}

/// One JSON file for each command: the simplest thing that survives.
struct JSONFiles {
  let folder: String

  func insert(_ id: Int64, _ payload: [UInt8]) {
    let file = open("\(folder)/\(id).json", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0 && write(file, payload, payload.count) == payload.count)
    close(file)
  }

  func delete(_ id: Int64) { precondition(unlink("\(folder)/\(id).json") == 0) }

  func readAll(_ body: ([UInt8]) -> Void) {
    for name in must({ try FileManager.default.contentsOfDirectory(atPath: folder) }) {
      body(Array(must { try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)) }))
    }
  }
}

private let batch = 500

/// Storing and removing one command at a time: a record, a transaction, or a file for each.
let journalGroup = Group("journal", "64 bytes; per command, in the kernel when the call returns") {
  let workshop = Workshop()
  let journal = workshop.journal("records")
  let sqlite = workshop.sqlite("records.sqlite", .normal)
  let files = JSONFiles(folder: workshop.folder("records-json"))
  var next: UInt64 = 1
  func ids(_ count: Int) -> Range<UInt64> {
    defer { next += UInt64(count) }
    return next..<next + UInt64(count)
  }
  func append(_ ids: Range<UInt64>) {
    for id in ids { precondition(isWritten(journal.append(.accepted(Sample.entry(id))))) }
  }
  func acknowledge(_ ids: Range<UInt64>) {
    for id in ids { precondition(isWritten(journal.append(.acknowledged(id)))) }
  }
  func tidy() {
    withExtendedLifetime(workshop) {}
    if journal.statistics.bytes > 32 << 20 { must { try journal.compact() } }
  }
  return [
    .timed("append", "append", count: batch, .faster(8, than: "sqlite-insert")) { count in
      let ids = ids(count)
      let elapsed = time { append(ids) }
      journal.append(.barrier)
      tidy()
      return elapsed
    },
    .timed("append-started", "append with its first attempt", count: batch) { count in
      let ids = ids(count)
      let elapsed = time {
        for id in ids { journal.append(.acceptedAndStarted(Sample.entry(id))) }
      }
      journal.append(.barrier)
      tidy()
      return elapsed
    },
    .timed("append-100", "append 100 at once", count: batch) { count in
      let ids = ids(count)
      let elapsed = time {
        for start in stride(from: 0, to: count, by: 100) {
          journal.append(
            ids.dropFirst(start).prefix(100).map { .accepted(Sample.entry($0)) })
        }
      }
      journal.append(.barrier)
      tidy()
      return elapsed
    },
    .timed("acknowledge", "acknowledge", count: batch, .faster(8, than: "sqlite-delete")) { count in
      let ids = ids(count)
      append(ids)
      let elapsed = time { acknowledge(ids) }
      tidy()
      return elapsed
    },
    sqliteSubject("sqlite-insert", "SQLite insert (WAL, NORMAL)", sqlite) { sqlite, count in
      let ids = ids(count)
      let elapsed = time { for id in ids { sqlite.insert(Int64(id), Sample.payload) } }
      sqlite.execute("DELETE FROM commands")
      return elapsed
    },
    sqliteSubject("sqlite-delete", "SQLite delete (WAL, NORMAL)", sqlite) { sqlite, count in
      let ids = ids(count)
      sqlite.execute("BEGIN")
      for id in ids { sqlite.insert(Int64(id), Sample.payload) }
      sqlite.execute("COMMIT")
      return time { for id in ids { sqlite.delete(Int64(id)) } }
    },
    .timedPeer("json-write", "a JSON file for each: write", count: batch) { count in
      let ids = ids(count)
      let elapsed = time { for id in ids { files.insert(Int64(id), Sample.payload) } }
      for id in ids { files.delete(Int64(id)) }
      return elapsed
    },
    .timedPeer("json-remove", "a JSON file for each: remove", count: batch) { count in
      let ids = ids(count)
      for id in ids { files.insert(Int64(id), Sample.payload) }
      return time { for id in ids { files.delete(Int64(id)) } }
    },
  ]
}

private let many = 100_000

/// Reading what a dead process has left, and writing it anew.
let journalRestoreGroup = Group("journal-restore", "100,000 commands of 64 bytes; per command") {
  let workshop = Workshop()
  func fill(_ name: String) {
    let journal = workshop.journal(name)
    for start in stride(from: 1, to: many, by: 1_000) {
      journal.append((start..<start + 1_000).map { .accepted(Sample.entry(UInt64($0))) })
    }
    journal.close()
  }
  fill("restore")
  let files = JSONFiles(folder: workshop.folder("restore-json"))
  if let sqlite = workshop.sqlite("restore.sqlite", .normal) {
    sqlite.execute("BEGIN")
    for id in 1...many { sqlite.insert(Int64(id), Sample.payload) }
    sqlite.execute("COMMIT")
    sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
  for id in 1...many / 10 { files.insert(Int64(id), Sample.payload) }
  return [
    .timed("restore", "restore", count: many, .faster(2, than: "sqlite-select")) { _ in
      var bytes = 0
      let elapsed = time {
        let opening = Journal.open(workshop.path + "/restore")
        precondition(opening.recovered.count == many)
        opening.recovered.forEach { bytes += $0.entry.payload.count }
        opening.journal?.close()
      }
      precondition(bytes == many * 64)
      return elapsed
    },
    .timed("compact", "compaction, half of them dead", count: many) { _ in
      fill("compact")
      let journal = workshop.journal("compact")
      journal.append((1...many / 2).map { .acknowledged(UInt64($0 * 2)) })
      let elapsed = time { must { try journal.compact() } }
      precondition(journal.statistics.live == many / 2)
      must { try journal.erase() }
      return elapsed
    },
    sqliteSubject("sqlite-select", "SQLite select", SQLite.functions, count: many) { _, _ in
      var bytes = 0
      let elapsed = time {
        let sqlite = workshop.sqlite("restore.sqlite", .normal)
        sqlite?.readAll { _, _, _, payload in bytes += payload.count }
      }
      precondition(bytes == many * 64)
      return elapsed
    },
    .timedPeer("json-read", "a JSON file for each: read (10,000)", count: many / 10) { count in
      var bytes = 0
      let elapsed = time { files.readAll { bytes += $0.count } }
      precondition(bytes == count * 64)
      return elapsed
    },
  ]
}

/// On the medium when the wait is over; eight producers wait at once.
let journalSyncGroup = Group("journal-sync", "on the medium; 8 producers at once; per command") {
  let workshop = Workshop()
  let journal = workshop.journal("sync")
  let sqlite = workshop.sqlite("sync.sqlite", .full)
  var next: UInt64 = 1
  return [
    Subject(
      "sync", "append and await the medium", count: 64,
      bounds: [.faster(8, than: "sqlite-full")],
      .awaited { count in
        let start = next
        next += UInt64(count)
        let begin = Machine.nanoseconds
        await withTaskGroup { group in
          for producer in 0..<8 as Range<UInt64> {
            group.addTask {
              for id in stride(from: start + producer, to: start + UInt64(count), by: 8) {
                journal.append(.accepted(Sample.entry(id)))
                // A disk that fails leaves nothing to measure.
                do { try await journal.sync() } catch { fatalError("\(error)") }
              }
            }
          }
        }
        let elapsed = Machine.nanoseconds - begin
        journal.append(.barrier)
        withExtendedLifetime(workshop) {}
        if journal.statistics.bytes > 8 << 20 { must { try journal.compact() } }
        return elapsed
      }),
    sqliteSubject("sqlite-full", "SQLite insert (WAL, FULL)", sqlite, count: 64) { sqlite, count in
      let start = next
      next += UInt64(count)
      let elapsed = time {
        for id in start..<next { sqlite.insert(Int64(id), Sample.payload) }
      }
      sqlite.execute("DELETE FROM commands")
      return elapsed
    },
  ]
}

/// What a waiting command takes on disk besides its 64 bytes.
let journalBytesGroup = Group(
  "journal-bytes", "10,000 waiting commands; bytes besides the payload, per command",
  isCounted: true
) {
  func each(_ bytes: Int) -> Double { Double(bytes) / 10_000 - 64 }
  return [
    Subject(
      "record", "journal", unit: .bytes, bounds: [.count(64, atLeast: 16)],
      .counted {
        let workshop = Workshop()
        let journal = workshop.journal("bytes")
        for id in 1...10_000 as ClosedRange<UInt64> {
          journal.append(.accepted(Sample.entry(id)))
        }
        journal.close()
        return each(workshop.bytes("bytes"))
      }),
    Subject(
      "sqlite-row", "SQLite", role: .peer, unit: .bytes,
      .counted {
        let workshop = Workshop()
        _ = workshop.folder("sqlite")
        guard let sqlite = workshop.sqlite("sqlite/bytes", .normal) else { return nil }
        for id in 1...10_000 { sqlite.insert(Int64(id), Sample.payload) }
        sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return each(workshop.bytes("sqlite"))
      }),
    Subject(
      "json-file", "a JSON file for each, in blocks of 4 KiB", role: .peer, unit: .bytes,
      .counted { 4_096 - 64 }),
  ]
}

/// What cannot fail unless the disk does; then there is nothing to measure.
private func must<Result>(_ body: () throws -> Result) -> Result {
  do { return try body() } catch { fatalError("\(error)") }
}

private func isWritten(_ write: JournalWrite) -> Bool {
  if case .written = write { return true }
  return false
}

/// A row of SQLite's, or one that says that there is none.
@MainActor
func sqliteSubject<Store>(
  _ name: String, _ title: String, _ store: Store?, count: Int = 500,
  body: @escaping @MainActor (Store, Int) -> Int64
) -> Subject {
  guard let store else {
    return Subject(name, title + ": not installed", role: .peer, .counted { nil })
  }
  return .timedPeer(name, title, count: count) { body(store, $0) }
}
