// SPDX-License-Identifier: MIT

// Tasks that are no actions: what a reactor listens to as long as it lives.

extension Reactor {
  /// Runs a task that ends at the latest with the reactor's life.
  ///
  /// An operation that captures the reactor keeps it alive as long as it runs. One that does not end
  /// by itself had better capture it weakly, or be a
  /// ``lifecycleTask(_:each:perform:)``.
  ///
  /// - Parameters:
  ///   - cancellation: an id to cancel it by, and what others of that id mean to it.
  ///   - operation: what to do; an error goes to ``handle(_:)``.
  /// - Returns: the run, to follow or cancel it.
  @discardableResult
  public func lifecycleTask(
    _ cancellation: CancellationID? = nil,
    operation: @escaping @MainActor () async throws -> Void
  ) -> ActionRun {
    let storage = container.storage
    let run = OperationRun(
      self, cancellation?.policy ?? .concurrent, number: storage.nextNumber(), operation)
    storage.submit(run, MainActor.shared)
    return run
  }

  /// Does something for each element of a sequence, one after the other, as long as the reactor
  /// lives. It keeps the reactor alive for no longer than one element.
  ///
  /// - Parameters:
  ///   - cancellation: an id to cancel it by, and what others of that id mean to it.
  ///   - elements: the sequence; an error of it goes to ``handle(_:)``.
  ///   - perform: what to do with the reactor and an element.
  /// - Returns: the run, to follow or cancel it.
  @discardableResult
  public func lifecycleTask<Elements: AsyncSequence>(
    _ cancellation: CancellationID? = nil, each elements: Elements,
    perform: @escaping @MainActor (Self, Elements.Element) async throws -> Void
  ) -> ActionRun {
    lifecycleTask(cancellation) { [weak self] in
      for try await element in elements {
        guard let self, !Task.isCancelled else { return }
        try await perform(self, element)
      }
    }
  }
}
