// SPDX-License-Identifier: MIT

/// The answer to a request: given once, whoever comes first. It knows no types: the request's own
/// code, which does, is compiled where the question is asked.
///
/// It is waited for as an actor that is its own executor. What waits is a job that the reply keeps
/// until there is an answer, and that is run then by whoever gives it; all that it does there is to
/// go back to where the question was asked. A continuation would come by way of the global pool,
/// also from main to main: two switches of threads, ten times the cost.
@usableFromInline
final actor Reply: SerialExecutor {
  private enum Waiter: Sendable {
    /// The asking task, on its way into ``wait()``.
    case job(UnownedJob)
    case continuation(UnsafeContinuation<Answer, Never>)
  }

  private struct State {
    var waiter: Waiter?
    var answer: Answer?
    var id: CommandID?
    var isCancelled = false
  }

  /// The command that asks, where it is asked from inside one.
  nonisolated let caller: RunContext?
  private nonisolated let state = Lock(State())

  @usableFromInline init() {
    caller = RunContext.current
  }

  @usableFromInline nonisolated var unownedExecutor: UnownedSerialExecutor {
    asUnownedSerialExecutor()
  }

  /// Whoever calls ``wait()`` comes by here and waits until there is an answer.
  @usableFromInline nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let hasAnswer = state.withLock { state in
      if state.answer == nil { state.waiter = .job(job) }
      return state.answer != nil
    }
    if hasAnswer { job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  /// Waits for the answer by a continuation.
  nonisolated func answer() async -> Answer {
    await withUnsafeContinuation { continuation in
      let answer = state.withLock { state in
        if state.answer == nil { state.waiter = .continuation(continuation) }
        return state.answer
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  /// Waits for the answer as this actor.
  @inline(never)
  func wait() -> Answer {
    guard let answer = state.withLock({ $0.answer }) else {
      preconditionFailure("FeatureRelay: a request was resumed without an answer.")
    }
    return answer
  }

  nonisolated func give(_ answer: Answer) {
    let waiter = state.withLock { state in
      guard state.answer == nil else { return nil as Waiter? }
      state.answer = answer
      return state.waiter.take()
    }
    switch waiter {
    case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
    case .continuation(let continuation): continuation.resume(returning: answer)
    case nil: break
    }
  }

  /// Remembers which command it is; true when the asking task has been cancelled already.
  nonisolated func set(_ id: CommandID) -> Bool {
    state.withLock { state in
      state.id = id
      return state.isCancelled
    }
  }

  /// The asking task has been cancelled: which command is to be, if it is known already.
  nonisolated func cancel() -> CommandID? {
    state.withLock { state in
      state.isCancelled = true
      return state.id
    }
  }
}

/// What a request ended with.
///
/// Safe although the response may not be sendable: it is made on the main actor, and either it is
/// sendable or the caller that takes it out is on the main actor too
/// (``Relay/request(_:waitingAtMost:executionLimit:priority:tags:_:)``).
@usableFromInline
enum Answer: @unchecked Sendable {
  /// A ``ResponseBox``.
  case response(AnyObject)
  case error(any Error)
}

/// A response on its way through code that does not know its type.
///
/// Safe: as for ``Answer``.
@usableFromInline
final class ResponseBox<Response>: @unchecked Sendable {
  @usableFromInline let response: Response

  @inlinable init(_ response: Response) {
    self.response = response
  }
}

/// What waits in a queue for a request.
@usableFromInline
struct RequestWork<F>: QueuedWork {
  @usableFromInline typealias Body = @MainActor @Sendable (F) async throws -> Answer

  @usableFromInline let body: Body
  @usableFromInline let reply: Reply
  /// The question, where it has a type of its own.
  @usableFromInline let question: (any Sendable)?

  @usableFromInline static var isAsync: Bool { true }

  @inlinable init(_ reply: Reply, question: (any Sendable)? = nil, _ body: @escaping Body) {
    self.reply = reply
    self.question = question
    self.body = body
  }

  @usableFromInline
  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    -> AsyncWork
  {
    let feature = MainActorValue(cell.assumingMemoryBound(to: F.self).pointee)
    let work = pointer(words)
    return { [body = work.pointee.body, reply = work.pointee.reply] in
      let answer = try await body(feature.value)
      // Not given here: an attempt that ran out of time answers nobody.
      return { reply.give(answer) }
    }
  }

  @usableFromInline
  static func caller(_ words: UnsafeMutableRawPointer) -> RunContext? {
    pointer(words).pointee.reply.caller
  }

  @usableFromInline
  static func failed(_ words: UnsafeMutableRawPointer, _ error: any Error) {
    pointer(words).pointee.reply.give(.error(error))
  }

  @usableFromInline
  static func ended(_ words: UnsafeMutableRawPointer, _ reason: DropReason, feature key: UInt) {
    pointer(words).pointee.reply.give(.error(error(reason, "\(FeatureKey.type(key))")))
  }

  private static func error(_ reason: DropReason, _ feature: String) -> any Error {
    switch reason {
    case .cancelled: CancellationError()
    case .expired:
      RelayError(
        .waitingTimedOut, feature: feature,
        "the request was not started in time: is a handler registered, and are the gates open?")
    case .timedOut:
      RelayError(
        .executionTimedOut, feature: feature, "the handler took longer than the execution limit.")
    case .reset: RelayError(.reset, feature: feature, "the relay was reset.")
    case .closed: RelayError(.closed, feature: feature, "the relay was closed.")
    case .overflow, .cleared, .failed, .coalesced, .ownerGone, .dead:
      RelayError(.dropped, feature: feature, "the request was dropped: \(reason).")
    }
  }
}
