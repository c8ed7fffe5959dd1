// SPDX-License-Identifier: MIT

internal import Synchronization

/// One action that was sent to a reactor, or one task of it, from then until it has ended.
///
/// It can be let go of at once: that changes nothing. It may be used from any thread.
public class ActionRun: @unchecked Sendable {
  // Safe: `progress` guards itself, `silenced` is atomic, and `storedName` is only used on the main
  // actor. A plain stored property would break it; ReactorTests, run by the thread sanitizer, cancels
  // and follows runs from other threads.

  /// The run that the current task belongs to.
  @TaskLocal static var current: ActionRun?

  struct Progress {
    /// The id that the policy gave, once it has been asked.
    var id: ActionID?
    var task: Task<Void, Never>?
    /// Why it is to stop, once it was cancelled.
    var stop: ActionOutcome?
    var outcome: ActionOutcome?
    var waiting: [CheckedContinuation<ActionOutcome, Never>] = []
  }

  let storage: ReactorStorage
  let number: ActionMachine.Number
  /// Whether the reactor is idle without it.
  let isBackground: Bool

  private let progress = Lock(Progress())
  private let silenced = Atomic<Bool>(false)
  @MainActor private var storedName: ActionID?

  init(storage: ReactorStorage, number: ActionMachine.Number, isBackground: Bool = false) {
    self.storage = storage
    self.number = number
    self.isBackground = isBackground
  }

  /// What holds for it among others; nil if there is nobody any more who could do it.
  @MainActor func policy() -> ActionPolicy? { nil }

  /// Does it.
  @MainActor func body() async -> ActionOutcome { .finished }

  /// Lets go of what it was to do it with.
  @MainActor func release() {}

  /// The name that goes with an id that was not given.
  @MainActor func makeName() -> ActionID { "task" }
}

// MARK: What a user does with it

extension ActionRun {
  /// Cancels it: if it has not started it never will, if it runs its task is cancelled. It may
  /// still write into the state, to tidy up.
  public func cancel() {
    storage.cancel(self)
  }

  /// Waits until it has ended, for which it has to end by itself: also when the waiting task is
  /// cancelled.
  ///
  /// - Returns: how it ended.
  @discardableResult
  public func finished() async -> ActionOutcome {
    await withCheckedContinuation { continuation in
      let outcome = progress.withLock { progress in
        if progress.outcome == nil { progress.waiting.append(continuation) }
        return progress.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }

  /// How it ended; nil before.
  public var outcome: ActionOutcome? { progress.withLock { $0.outcome } }
}

// MARK: What the storage does with it

extension ActionRun {
  /// Whether what it writes has no effect.
  var isSilenced: Bool { silenced.load(ordering: .acquiring) }

  /// The id that the policy gave; nil before it was asked, and for one that goes by its case's name
  /// without needing it.
  var id: ActionID? { progress.withLock { $0.id } }

  func set(_ id: ActionID?) {
    progress.withLock { $0.id = id }
  }

  /// Why it is to stop.
  var stop: ActionOutcome? { progress.withLock { $0.stop } }

  @MainActor var name: ActionID {
    if let name = id ?? storedName { return name }
    let name = makeName()
    storedName = name
    return name
  }

  func attach(_ task: Task<Void, Never>) {
    let isStopped = progress.withLock { progress in
      guard progress.outcome == nil else { return false }
      progress.task = task
      return progress.stop != nil
    }
    if isStopped { task.cancel() }
  }

  /// Cancels what runs.
  func stop(_ reason: ActionOutcome, silencing: Bool) {
    if silencing { silenced.store(true, ordering: .releasing) }
    let task = progress.withLock { progress in
      // Who was cancelled can still be overtaken or end with the life, not the other way round.
      if progress.stop == nil || silencing { progress.stop = reason }
      return progress.task
    }
    task?.cancel()
  }

  func complete(_ outcome: ActionOutcome) {
    let (waiting, task) = progress.withLock { progress in
      guard progress.outcome == nil else {
        return ([CheckedContinuation<ActionOutcome, Never>](), Task<Void, Never>?.none)
      }
      progress.outcome = outcome
      defer {
        progress.waiting = []
        progress.task = nil
      }
      return (progress.waiting, progress.task)
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
    withExtendedLifetime(task) {}
  }
}
