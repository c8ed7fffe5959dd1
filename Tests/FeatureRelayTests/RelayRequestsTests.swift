// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

private struct Twice: RelayRequest {
  static let policy = CommandPolicy(priority: .high)
  var number: Int
  func execute(on ledger: any LedgerFeature) async throws -> Int {
    try ledger.write(number)
    return 2 * number
  }
}

private final class NotSendable {
  var number = 0
}

@MainActor
struct RelayRequestsTests {
  let clock = ManualClock()
  let relay: Relay
  let ledger = Ledger()

  init() throws {
    relay = Relay(
      scope: "ask", configuration: try RelayConfiguration(limit: 3, clock: clock.relayClock))
  }

  private func register() { relay.register(ledger, for: LedgerFeature.self) }

  /// Asks in a task of its own; returns once the question stands in the queue or runs.
  private func ask(
    waitingAtMost: Duration? = nil, executionLimit: Duration? = nil, tags: [CommandTag] = [],
    _ body: @escaping @MainActor @Sendable (any LedgerFeature) async throws -> Int = { _ in 1 }
  ) async -> Task<Int, any Error> {
    let relay = relay
    let before = relay.counts(of: LedgerFeature.self).accepted
    let task = Task.detached {
      try await relay.request(
        LedgerFeature.self, waitingAtMost: waitingAtMost, executionLimit: executionLimit,
        tags: tags, body)
    }
    while relay.counts(of: LedgerFeature.self).accepted == before { await Task.yield() }
    return task
  }

  private func code(_ task: Task<Int, any Error>) async -> RelayError.Code? {
    guard case .failure(let error) = await task.result else { return nil }
    return (error as? RelayError)?.code
  }

  @Test func aQuestionIsAnswered() async throws {
    register()
    let answer = try await relay.request(LedgerFeature.self) { ledger in
      MainActor.assertIsolated()
      try ledger.write(1)
      return "yes"
    }
    #expect(answer == "yes")
    #expect(relay.counts.delivered == 1)
  }

  @Test func aTypedQuestionIsAnswered() async throws {
    register()
    #expect(try await relay.request(Twice(number: 21)) == 42)
    let relay = relay
    #expect(try await Task.detached { try await relay.request(Twice(number: 4)) }.value == 8)
    #expect(ledger.numbers == [21, 4])
  }

  @Test func aQuestionWaitsForAHandler() async throws {
    let task = await ask { ledger in
      try ledger.write(1)
      return 7
    }
    #expect(relay.pendingCount == 1)
    register()
    #expect(try await task.value == 7)
  }

  @Test func theHandlersErrorIsTheAnswer() async {
    register()
    await #expect(throws: Refusal.self) {
      try await relay.request(LedgerFeature.self) { _ in throw Refusal() }
    }
    #expect(relay.counts.dropped(.failed) == 1)
  }

  @Test func anAnswerForTheMainActorNeedNotBeSendable() async throws {
    register()
    let kept = NotSendable()
    kept.number = 5
    let box = MainActorBox(kept)
    let answer: NotSendable = try await relay.request(LedgerFeature.self) { _ in box.value }
    #expect(answer === kept)
  }

  @Test func waitingAtMostLimitsTheWaitForTheStart() async {
    let task = await ask(waitingAtMost: .seconds(5))
    clock.advance(by: .seconds(5) - .nanoseconds(1))
    await mainTurn()
    #expect(relay.pendingCount == 1)
    clock.advance(by: .nanoseconds(1))
    #expect(await code(task) == .waitingTimedOut)
    #expect(relay.counts.dropped(.expired) == 1)
  }

  @Test func waitingAtMostDoesNotLimitTheRun() async throws {
    register()
    let latch = Latch()
    let task = await ask(waitingAtMost: .seconds(5)) { _ in
      await latch.wait()
      return 3
    }
    await latch.arrival()
    clock.advance(by: .seconds(500))
    await mainTurn()
    latch.open()
    #expect(try await task.value == 3)
  }

  @Test func theExecutionLimitEndsTheWaitAndCancelsTheHandler() async {
    register()
    let latch = Latch()
    let wasCancelled = Latched(false)
    let task = await ask(executionLimit: .seconds(5)) { _ in
      await latch.wait()
      wasCancelled.update { $0 = Task.isCancelled }
      return 3
    }
    await latch.arrival()
    clock.advance(by: .seconds(5))
    #expect(await code(task) == .executionTimedOut)
    #expect(relay.write(1).outcome == .delivered)
    latch.open()
    while !wasCancelled.value { await mainTurn() }
    #expect(relay.counts.delivered == 1)
  }

  @Test func cancellingTheAskingTaskEndsTheWait() async {
    let task = await ask()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(relay.pendingCount == 0)
    #expect(relay.counts.dropped(.cancelled) == 1)
  }

  @Test func cancellingTheAskingTaskCancelsTheHandler() async {
    register()
    let latch = Latch()
    let task = await ask { _ in
      await latch.wait()
      try Task.checkCancellation()
      return 1
    }
    await latch.arrival()
    task.cancel()
    latch.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    await relay.waitUntilIdle()
    #expect(relay.counts.dropped(.cancelled) == 1)
    #expect(relay.counts.isBalanced)
  }

  @Test func aTaskThatIsCancelledAlreadyAsksNothing() async {
    let relay = relay
    register()
    let task = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await relay.request(LedgerFeature.self) { ledger in
        try ledger.write(1)
        return 1
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [])
  }

  @Test func cancellingByTagEndsTheWait() async {
    let task = await ask(tags: ["t"])
    #expect(relay.cancel(tagged: "t") == 1)
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func clearingAndResettingAndClosingEndTheWait() async {
    let cleared = await ask()
    relay.clearQueue()
    #expect(await code(cleared) == .dropped)
    let reset = await ask()
    relay.reset()
    #expect(await code(reset) == .reset)
    let closed = await ask()
    relay.close()
    #expect(await code(closed) == .closed)
    await #expect(throws: RelayError.self) { try await relay.request(Twice(number: 1)) }
  }

  @Test func resettingWhileTheHandlerRunsEndsTheWait() async {
    register()
    let latch = Latch()
    let task = await ask { _ in
      await latch.wait()
      return 1
    }
    await latch.arrival()
    relay.reset()
    #expect(await code(task) == .reset)
    latch.open()
    await mainTurn()
    #expect(relay.counts.delivered == 0)
    #expect(relay.counts.isBalanced)
  }

  @Test func aRelayThatGoesEndsTheWaitOfItsQuestions() async {
    let latch = Latch()
    let handler = Ledger()
    var brief: Relay? = Relay(scope: "brief")
    brief!.register(handler, for: LedgerFeature.self)
    let closer = brief!
    let task = Task { [closer] in
      try await closer.request(LedgerFeature.self) { _ in
        await latch.wait()
        return 1
      }
    }
    await latch.arrival()
    brief = nil
    closer.close()
    #expect(await code(task) == .closed && brief == nil)
    latch.open()
  }

  @Test func aFullQueueRefusesOrDropsAQuestion() async throws {
    for number in 0..<3 { relay.write(number, priority: .high) }
    let relay = relay
    let task = Task.detached { try await relay.request(LedgerFeature.self) { _ in 1 } }
    #expect(await code(task) == .refused)
    relay.clearQueue()
    let crowdedOut = await ask()
    for number in 0..<3 { relay.write(number, priority: .high) }
    #expect(await code(crowdedOut) == .dropped)
  }

  @Test func aQuestionToOnesOwnLaneIsAnError() async {
    register()
    let relay = relay
    let task = await ask { _ in try await relay.request(LedgerFeature.self) { _ in 1 } }
    #expect(await code(task) == .waitsForItself)
    // The lane is free again.
    #expect(relay.write(1).outcome == .delivered)
  }

  @Test func aQuestionThatComesBackThroughAnotherFeatureIsAnError() async {
    let mirror = Mirror()
    register()
    relay.register(mirror, for: MirrorFeature.self)
    let relay = relay
    let task = await ask { _ in
      try await relay.request(MirrorFeature.self) { _ in
        try await relay.request(LedgerFeature.self) { _ in 1 }
      }
    }
    #expect(await code(task) == .waitsForItself)
    await relay.waitUntilIdle()
    #expect(relay.counts.running == 0)
  }

  @Test func aQuestionToAnotherFeatureFromInsideIsAnswered() async throws {
    let mirror = Mirror()
    register()
    relay.register(mirror, for: MirrorFeature.self)
    let relay = relay
    let task = await ask { _ in
      try await relay.request(MirrorFeature.self) { mirror in
        try mirror.show(1)
        return 9
      }
    }
    #expect(try await task.value == 9)
  }

  @Test func aQuestionThroughAChildToOnesOwnLaneIsAnError() async {
    register()
    let child = Relay(scope: "child", parent: relay)
    let task = await ask { _ in try await child.request(LedgerFeature.self) { _ in 1 } }
    #expect(await code(task) == .waitsForItself)
  }

  @Test func aQuestionFromAChildsCommandToTheLanesOwnerIsAnError() async {
    register()
    let child = Relay(scope: "child", parent: relay)
    let relay = relay
    let task = Task.detached {
      try await child.request(LedgerFeature.self) { _ in
        try await relay.request(LedgerFeature.self) { _ in 1 }
      }
    }
    #expect(await code(task) == .waitsForItself)
  }

  @Test func aQuestionFromAChildWithAHandlerOfItsOwnIsAnswered() async throws {
    register()
    let child = Relay(scope: "child", parent: relay)
    let own = Ledger()
    child.register(own, for: LedgerFeature.self)
    let task = await ask { _ in try await child.request(LedgerFeature.self) { _ in 4 } }
    #expect(try await task.value == 4)
  }

  @Test func questionsAreAnsweredOneAfterTheOther() async throws {
    register()
    let relay = Relay(scope: "many", parent: relay)
    let running = Latched((now: 0, most: 0))
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await relay.request(LedgerFeature.self) { _ in
            running.update {
              $0.now += 1
              $0.most = max($0.most, $0.now)
            }
            await Task.yield()
            running.update { $0.now -= 1 }
            return number
          }
        }
      }
      var answers: [Int] = []
      while let answer = try await group.next() { answers.append(answer) }
      return answers
    }
    #expect(answers.sorted() == Array(0..<50))
    #expect(running.value.most == 1)
  }
}

/// Something that only the main actor touches.
private struct MainActorBox<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
