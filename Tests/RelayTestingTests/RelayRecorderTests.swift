// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import Testing

@Suite @MainActor struct RelayRecorderTests {
  private let relay = Relay.testing()

  private protocol PermissionFeature: RelayFeature {
    func ask(_ what: String) async throws -> Bool
  }

  private final class Permission: PermissionFeature {
    private(set) var asked: [String] = []
    func ask(_ what: String) async throws -> Bool {
      await Task.yield()
      asked.append(what)
      return true
    }
  }

  private struct AskFor: RelayRequest, Equatable {
    var what: String
    func execute(on permission: any PermissionFeature) async throws -> Bool {
      try await permission.ask(what)
    }
  }

  private struct Note: AsyncRelayCommand, Equatable {
    var what: String
    func execute(on permission: any PermissionFeature) async throws {
      _ = try await permission.ask(what)
    }
  }

  private final class Owner: Sendable {}

  @Test func recordsAPlainRelayFromThenOn() {
    let relay = Relay(scope: "plain")
    relay.dispatch(ShowToast(message: "before"))
    let first = RelayRecorder(relay)
    relay.dispatch(ShowToast(message: "between"))
    let second = RelayRecorder(relay)
    relay.dispatch(ShowToast(message: "after"))
    #expect(first.commands(of: ShowToast.self).map(\.message) == ["between", "after"])
    #expect(second.commands(of: ShowToast.self).map(\.message) == ["after"])
    #expect(second.all.map(\.number) == [1])
  }

  @Test func closuresHaveFeaturePriorityAndTags() throws {
    relay.dispatch(ToastFeature.self, priority: .critical, tags: ["a", "b"]) { $0.show("1") }
    relay.dispatch(NavigationFeature.self) { $0.open("2") }
    let first = try #require(relay.recorder.all.first)
    #expect(first.feature == "ToastFeature" && first.isFor(ToastFeature.self))
    #expect(!first.isFor(NavigationFeature.self) && first.value == nil)
    #expect(first.priority == .critical && first.tags == ["a", "b"])
    #expect(first.outcome == .waiting && first.attempts == 0)
    #expect(relay.recorder.counts == ["ToastFeature": 1, "NavigationFeature": 1])
    #expect(relay.recorder.count(for: NavigationFeature.self) == 1)
    #expect("\(first)" == "ToastFeature closure: waiting")
  }

  @Test func runsWhatWasRecordedOntoAMock() throws {
    relay.dispatch(ToastFeature.self) { $0.show("closure") }
    relay.dispatch(NavigationFeature.self) { $0.open("elsewhere") }
    relay.dispatch(ShowToast(message: "command"))
    let owner = Owner()
    relay.dispatch(ToastFeature.self, owner: owner) { toast, _ in toast.show("owned") }
    do {
      let gone = Owner()
      relay.dispatch(ToastFeature.self, owner: gone) { toast, _ in toast.show("gone") }
    }
    let mock = MockToast()
    #expect(try relay.recorder.run(onto: mock) == 3)
    #expect(mock.messages == ["closure", "command", "owned"])
    #expect(relay.recorder.waiting.count == 5, "they still wait in the relay")
    #expect(try relay.recorder.last?.run(onto: mock) == false)
    withExtendedLifetime(owner) {}
  }

  @Test func runsAsynchronousCommandsAndRequestsOntoAMock() async throws {
    relay.dispatch(Note(what: "note"))
    relay.dispatch(PermissionFeature.self) { _ = try await $0.ask("closure") }
    let relay = relay
    let request = Task { try? await relay.request(AskFor(what: "camera")) }
    let other = Task {
      try? await relay.request(PermissionFeature.self) { try await $0.ask("anything") }
    }
    while relay.recorder.requests.count < 2 { await Task.yield() }
    #expect(relay.recorder.requests(of: AskFor.self) == [AskFor(what: "camera")])
    #expect(relay.recorder.commands(of: Note.self) == [Note(what: "note")])
    #expect(relay.recorder.requests.map(\.isAsynchronous) == [true, true])
    let mock = Permission()
    #expect(try relay.recorder.run(onto: mock) == 0)
    #expect(try await relay.recorder.runAsynchronously(onto: mock) == 4)
    #expect(Set(mock.asked) == ["note", "closure", "camera", "anything"])
    relay.reset()
    #expect(await request.value == nil)
    #expect(await other.value == nil)
    #expect(relay.recorder.dropped.count == 4)
  }

  @Test func knowsWhatBecameOfACommand() async throws {
    let configuration = try RelayConfiguration(
      limit: 2, retry: .later(.constant(.seconds(1), attempts: 2)))
    let relay = Relay.testing(configuration: configuration)
    struct Failure: Error {}
    for number in 1...3 { relay.dispatch(ShowToast(message: "\(number)")) }
    relay.register(MockToast(), for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { _ in throw Failure() }
    #expect(
      relay.recorder.all.map(\.outcome) == [
        .dropped(.overflow), .delivered, .delivered, .waitingForRetry(after: .seconds(1)),
      ])
    relay.manualClock.advance(by: .seconds(1))
    await relay.waitUntilIdle()
    #expect(relay.recorder.last?.outcome == .dropped(.failed))
    #expect(relay.recorder.last?.attempts == 2 && relay.recorder.last?.errors.count == 2)
    relay.close()
    relay.dispatch(ShowToast(message: "late"))
    #expect(relay.recorder.refused.map(\.outcome) == [.refused(.closed)])
    #expect(relay.recorder.refused.commands(of: ShowToast.self) == [ShowToast(message: "late")])
  }

  @Test func recordsCommandsOfManyThreadsInTheOrderOfEachFeature() async {
    let relay = relay
    let toast = MockToast()
    relay.register(toast, for: ToastFeature.self)
    await withTaskGroup(of: Void.self) { group in
      for producer in 0..<8 {
        group.addTask {
          for number in 0..<50 { relay.dispatch(ShowToast(message: "\(producer)-\(number)")) }
        }
      }
    }
    await relay.waitUntilIdle()
    #expect(relay.recorder.commands(of: ShowToast.self).map(\.message) == toast.messages)
    #expect(relay.recorder.delivered.count == 400)
  }

  @Test func aMockThatNobodyElseKeepsLives() {
    weak var mock: MockToast?
    do {
      let toast = MockToast()
      mock = toast
      relay.register(toast, for: ToastFeature.self)
    }
    relay.dispatch(ShowToast(message: "x"))
    #expect(mock?.messages == ["x"])
    #expect(relay.pendingCount == 0)
  }

  @Test func anExplicitWeakRegistrationStaysWeak() {
    relay.register(MockToast(), for: ToastFeature.self, ownership: .weak)
    #expect(!relay.isRegistered(ToastFeature.self))
    let plain = Relay.testing(ownership: .weak)
    plain.register(MockToast(), for: ToastFeature.self)
    #expect(!plain.isRegistered(ToastFeature.self))
  }

  @Test func replaysAtOnce() {
    relay.dispatch(ShowToast(message: "waits"))
    let toast = MockToast()
    relay.register(toast, for: ToastFeature.self)
    #expect(toast.messages == ["waits"])
  }

  @Test func letsGoOfWhatItRecorded() {
    weak var captured: Owner?
    do {
      let owner = Owner()
      captured = owner
      relay.register(MockToast(), for: ToastFeature.self)
      relay.dispatch(ToastFeature.self) { _ in withExtendedLifetime(owner) {} }
    }
    #expect(captured != nil)
    relay.recorder.removeAll()
    #expect(captured == nil && relay.recorder.all.isEmpty)
    relay.dispatch(ShowToast(message: "x"))
    #expect(relay.recorder.all.map(\.number) == [1])
  }

  @Test func keepsNoRelayAlive() {
    weak var gone: Relay?
    let recorder: RelayRecorder
    do {
      let relay = Relay.testing()
      gone = relay
      recorder = relay.recorder
      relay.dispatch(ShowToast(message: "x"))
    }
    #expect(gone == nil)
    #expect(recorder.all.map(\.outcome) == [.dropped(.closed)])
  }

  @Test func jitterIsTheSameEachTime() throws {
    func delays() throws -> [RecordedCommand.Outcome] {
      let retry = RetryPolicy.later(.exponential(attempts: 5))
      let relay = Relay.testing(configuration: try RelayConfiguration(retry: retry))
      relay.register(MockToast(), for: ToastFeature.self)
      for _ in 0..<5 { relay.dispatch(ToastFeature.self) { _ in throw CancellationError() } }
      return relay.recorder.all.map(\.outcome)
    }
    let first = try delays()
    #expect(try delays() == first)
    #expect(Set(first).count > 1)
  }

  @Test func whatOneRecorderForgetsDoesNotChangeWhatAnotherExpects() {
    let (one, other) = (RelayRecorder(relay), RelayRecorder(relay))
    relay.dispatch(ShowToast(message: "1"))
    one.expectDispatched(ShowToast(message: "1"))
    other.removeAll()
    relay.dispatch(ShowToast(message: "2"))
    let texts = failures { one.expectNothingElse() }
    #expect(texts.count == 1 && texts[0].contains("ShowToast(message: \"2\")"))
    #expect(one.all.map(\.number) == [1])
  }

  @Test func canBeReadWhileOthersDispatch() async {
    let relay = relay
    let recorder = relay.recorder
    let isOver = SeenMutex(false)
    let reading = Task.detached {
      var (reads, last) = (0, 0)
      while !isOver.withLock({ $0 }) {
        let all = recorder.all
        // Nothing goes, and what is there stays as it was.
        guard all.count >= last, all.map(\.number) == Array(1..<all.count + 1) else { return -1 }
        _ = (recorder.waiting, recorder.counts, recorder.last?.outcome)
        last = all.count
        reads += 1
      }
      return reads
    }
    await withTaskGroup(of: Void.self) { group in
      for producer in 0..<4 {
        group.addTask {
          for number in 0..<50 { relay.dispatch(ShowToast(message: "\(producer)-\(number)")) }
        }
      }
    }
    isOver.withLock { $0 = true }
    #expect(await reading.value >= 0)
    #expect(recorder.all.count == 200)
  }

  @Test func aPreviewsRelayLogsAndKeepsDurableCommandsInMemory() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let relay = Relay.preview
        let acceptance = relay.dispatch(ShowOffer(name: "x"))
        precondition(acceptance.durability == .inMemory && acceptance.outcome == .waiting)
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("preview ToastFeature ShowOffer"), "\(text)")
  }

  @Test func aPreviewsRelayDelivers() {
    let relay = Relay.preview
    let toast = MockToast()
    relay.register(toast, for: ToastFeature.self)
    relay.dispatch(ShowToast(message: "x"))
    #expect(toast.messages == ["x"])
    #expect(Relay.preview !== relay && relay.parent == nil)
  }
}
