// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import FeatureRelay
import Foundation
import JournalUnderTest

/// A command of about 64 bytes of JSON.
private struct Keep: RelayCommand, DurableCommand {
  static let commandName = "receipt.send"
  var orderID = "4242-1717"
  var address = "someone@example.org"
  var copies = 1
  func execute(on ticker: any TickFeature) { ticker.tick(copies) }
}

/// Commands on disk, in the directory of temporary files.
@MainActor let durableWorkloads = [
  Workload("durable-wait") { count in
    let outbox = Outbox()
    return { outbox.dispatchAndRemove(count) }
  },
  Workload("durable-handler") { count in
    let outbox = Outbox()
    outbox.relay.register(outbox.handler, for: TickFeature.self)
    return { outbox.dispatchAndRemove(count) }
  },
  Workload("journal-append") { count in
    let folder = Folder()
    let journal = openJournal(folder)
    append(1_000, to: journal)
    return {
      append(count, to: journal)
      folder.remove()
    }
  },
  Workload("journal-acknowledge") { count in
    let folder = Folder()
    let journal = openJournal(folder)
    append(count, to: journal)
    return {
      for id in 1...UInt64(count) { journal.append(.acknowledged(id)) }
      folder.remove()
    }
  },
  Workload("journal-restore") { count in
    let folder = Folder()
    let journal = openJournal(folder)
    append(count, to: journal)
    journal.close()
    return {
      var bytes = 0
      Journal.open(folder.path).recovered.forEach { bytes += $0.entry.payload.count }
      precondition(bytes == count * 64)
      folder.remove()
    }
  },
]

private func append(_ count: Int, to journal: Journal) {
  for id in 1...UInt64(count) {
    journal.append(
      .accepted(
        JournalEntry(
          id: id, place: JournalPlace(run: 1, sequence: id), name: Keep.commandName,
          group: "MailFeature", priority: 1, acceptedAt: 1_700_000_000_000,
          payload: payload[...])))
  }
}

private let payload = [UInt8](repeating: 0x20, count: 64)

private func openJournal(_ folder: Folder) -> Journal {
  var options = JournalOptions()
  options.compactsByItself = false
  guard let journal = Journal.open(folder.path, options: options).journal else {
    preconditionFailure("There is no journal in the directory of temporary files.")
  }
  return journal
}

/// A directory of a workload's own. It is removed at the workload's end, which is always as much.
private struct Folder {
  let path = FileManager.default.temporaryDirectory.path + "/relay-workload-\(UUID().uuidString)"

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// A relay with an open journal and memory for a thousand commands.
@MainActor
private final class Outbox {
  let folder = Folder()
  let handler = makeTicker()
  let relay: Relay

  init() {
    do {
      relay = try Relay(
        scope: "workload", journal: .directory(URL(fileURLWithPath: folder.path)),
        restoring: Keep.self)
    } catch {
      preconditionFailure("There is no journal: \(error)")
    }
    dispatch(1_000)
    relay.clearQueue()
  }

  func dispatch(_ count: Int) {
    for _ in 0..<count { relay.dispatch(Keep()) }
  }

  func dispatchAndRemove(_ count: Int) {
    dispatch(count)
    folder.remove()
  }
}
