// SPDX-License-Identifier: MIT

extension AsyncSequence where Element: Sendable {
  /// Sends each element of the sequence to a feature, in order.
  ///
  /// ```swift
  /// try await messages.forward(to: ToastFeature.self, in: relay) { toast, message in toast.show(message.text) }
  /// ```
  ///
  /// While the feature's queue is at its limit it waits for room and takes no further element:
  /// nothing is evicted for a stream. It returns when the sequence ends, when its task is cancelled
  /// and when the relay is closed.
  ///
  /// - Parameters:
  ///   - feature: the feature, as handlers are registered for it.
  ///   - relay: the relay.
  ///   - priority: the commands' place among what waits.
  ///   - tags: names by which they can be cancelled.
  ///   - isolation: the caller's; leave it out.
  ///   - body: what to do with the handler and an element, on the main actor.
  /// - Throws: what the sequence throws.
  public func forward<F, Result>(
    to feature: F.Type, in relay: Relay, priority: CommandPriority = .normal,
    tags: [CommandTag] = [], isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @MainActor @Sendable (F, Element) throws -> Result
  ) async throws(Failure) {
    let slot = relay.core.slot(FeatureKey.of(feature))
    var iterator = makeAsyncIterator()
    while !Task.isCancelled, let element = try await iterator.next(isolation: isolation) {
      let work = ClosureWork<F, Result> { feature in try body(feature, element) }
      var command = IncomingCommand(
        UnmanagedWork(work), isAsync: false, priority: priority, tags: tags, timeToLive: nil,
        uniqueness: nil)
      command.waitsForRoom = true
      while true {
        let acceptance = slot.accept(&command, onMain: MainQueue.isCurrent)
        guard case .refused(let reason) = acceptance.outcome else { break }
        if reason == .closed || Task.isCancelled { return }
        await slot.waitForRoom()
      }
    }
  }
}

extension SlotStorage {
  /// Waits until the queue is below its limit, the slot is emptied or the task is cancelled.
  func waitForRoom() async {
    let id = RegistrationEntry.nextID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = withState { state in
          guard state.queue.waiting >= state.settings.limit, !state.isClosed, !Task.isCancelled
          else { return true }
          state.roomWaiters.append(SlotEffects.RoomWaiter(id: id, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = withState { state -> SlotEffects.RoomWaiter? in
        guard let index = state.roomWaiters.firstIndex(where: { $0.id == id }) else { return nil }
        return state.roomWaiters.remove(at: index)
      }
      waiter?.continuation.resume()
    }
  }
}
