// SPDX-License-Identifier: MIT

internal import Synchronization

/// Somebody who reads a relay's events in his own time: a place in the audience, which ends with
/// the sequence.
final class EventConsumer: Sendable {
  private let buffer: EventBuffer
  private let log: EventLog
  private let token: UInt64
  private weak let core: RelayCore?
  private let lastReader = Atomic<UInt64>(0)

  init(_ core: RelayCore) {
    buffer = EventBuffer(limit: core.configuration.eventBuffer)
    log = core.log
    token = log.addConsumer(buffer)
    self.core = core
  }

  deinit {
    log.remove(token)
    core?.audienceChanged()
  }

  /// The next event; nil when there is none any more, or when the task is cancelled.
  func next() async -> RelayEvent? {
    if let event = buffer.next() { return event }
    let number = lastReader.add(1, ordering: .relaxed).newValue
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { reader in
        buffer.wait(number, reader)
        log.wantEvents()
        // What came before that was said has woken nobody.
        _ = buffer.wakeReaders()
      }
    } onCancel: {
      buffer.stopWaiting(number)
    }
  }
}
