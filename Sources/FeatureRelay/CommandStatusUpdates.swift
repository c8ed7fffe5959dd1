// SPDX-License-Identifier: MIT

extension Relay {
  /// Where a command is in its life.
  ///
  /// - Parameter id: the id from an ``Acceptance`` or an event.
  /// - Returns: its status; nil when it is another relay's, or ended more than 1,024 ends ago in
  ///   its feature.
  public func status(of id: CommandID) -> CommandStatus? {
    guard let (slot, id) = core.locate(id) else { return nil }
    return slot.withState { slot.status(of: id, $0) }
  }

  /// A command's statuses: the current one, then each change, until it has ended.
  ///
  /// - Parameter id: the id from an ``Acceptance`` or an event.
  /// - Returns: a sequence that is empty when the command is not known any more.
  public func statusUpdates(of id: CommandID) -> AsyncStream<CommandStatus> {
    let (stream, continuation) = AsyncStream.makeStream(of: CommandStatus.self)
    guard let (slot, id) = core.locate(id) else {
      continuation.finish()
      return stream
    }
    let isOver = slot.withState { state in
      if id.directNumber != nil { slot.followDirect() }
      guard let status = slot.status(of: id, state) else { return true }
      // Nobody can have begun to read: this only fills the buffer.
      continuation.yield(status)
      guard !status.isFinal else { return true }
      state.hasWatchers = true
      core.log.watch(EventLog.WatchKey(slot: id.slot, sequence: id.sequence), continuation)
      return false
    }
    if isOver { continuation.finish() }
    return stream
  }

  /// Ends one command.
  ///
  /// - Parameters:
  ///   - id: the id from an ``Acceptance`` or an event.
  ///   - includingRunning: whether an asynchronous command that runs is asked to stop, by
  ///     cancelling its task.
  /// - Returns: whether there was such a command.
  @discardableResult
  public func cancel(_ id: CommandID, includingRunning: Bool = false) -> Bool {
    guard let (slot, id) = core.locate(id) else { return false }
    return slot.cancel(id, includingRunning: includingRunning)
  }
}
