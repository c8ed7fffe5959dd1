// SPDX-License-Identifier: MIT

import Dispatch
import FeatureRelay
import RaceSupport
import Synchronization

/// What a request's answer looks like where it must not be sendable.
final class PlainAnswer {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// What a dispatch says beyond its plan.
struct DispatchDetails: Sendable {
  var tags: [CommandTag]
  var owner: ModelOwner?
  var onMain: Bool
}

extension FeaturePort {
  /// Does to a real relay what the plan says. Callable from any thread.
  static func dispatch(
    _ number: Int, _ plan: DispatchPlan, _ details: DispatchDetails, to relay: Relay
  ) -> Acceptance {
    let isolation: (any Actor)? = details.onMain && plan.saysMain ? MainActor.shared : nil
    let priority = plan.priority.map { CommandPriority(rawValue: UInt8($0))! }
    let timeToLive = plan.timeToLive.map { TimeToLive.milliseconds($0) }
    let limit = plan.executionLimit.map { Duration.milliseconds($0) }
    let tags = details.tags
    var unique: Uniqueness?
    switch plan.unique {
    case .first(let key, let window):
      unique = .keepFirst("key \(key)", within: .milliseconds(window))
    case .latest(let key): unique = .keepLatest("key \(key)")
    case nil: break
    }
    func typed<Kind: PolicyKind>(_ kind: Kind.Type) -> Acceptance {
      relay.dispatch(
        SyncCommand<Self, Kind>(number: number), priority: priority, tags: tags,
        timeToLive: timeToLive, unique: unique, isolation: isolation)
    }
    func later<Kind: PolicyKind>(_ kind: Kind.Type) -> Acceptance {
      relay.dispatch(
        LaterCommand<Self, Kind>(number: number), priority: priority, tags: tags,
        timeToLive: timeToLive, unique: unique, executionLimit: limit, isolation: isolation)
    }
    switch plan.form {
    case .closure:
      return relay.dispatch(
        Feature.self, priority: priority!, tags: tags, timeToLive: timeToLive, unique: unique,
        isolation: isolation
      ) { try perform($0, number) }
    case .owned:
      return relay.dispatch(
        Feature.self, owner: details.owner!, priority: priority!, tags: tags,
        timeToLive: timeToLive, unique: unique, isolation: isolation
      ) { feature, _ in try perform(feature, number) }
    case .later:
      return relay.dispatch(
        Feature.self, priority: priority!, tags: tags, timeToLive: timeToLive, unique: unique,
        executionLimit: limit, isolation: isolation
      ) { try await performLater($0, number) }
    case .laterOwned:
      return relay.dispatch(
        Feature.self, owner: details.owner!, priority: priority!, tags: tags,
        timeToLive: timeToLive, unique: unique, executionLimit: limit, isolation: isolation
      ) { feature, _ in try await performLater(feature, number) }
    case .typed(let kind):
      switch kind {
      case 0: return typed(Policy0.self)
      case 1: return typed(Policy1.self)
      case 2: return typed(Policy2.self)
      case 3: return typed(Policy3.self)
      case 4: return typed(Policy4.self)
      case 5: return typed(Policy5.self)
      default: return typed(Policy6.self)
      }
    case .laterTyped(let kind):
      switch kind {
      case 0: return later(Policy0.self)
      case 1: return later(Later1.self)
      case 2: return later(Later2.self)
      case 3: return later(Later3.self)
      case 4: return later(Later4.self)
      case 5: return later(Later5.self)
      default: return later(Later6.self)
      }
    }
  }

  /// Asks a real relay from where the plan's form of request is made; returns the answer's number.
  static func request(
    _ number: Int, _ plan: DispatchPlan, _ tags: [CommandTag], of relay: Relay
  ) async throws -> Int {
    let priority = plan.priority.map { CommandPriority(rawValue: UInt8($0))! }
    let wait = plan.timeToLive.map { Duration.milliseconds($0) }
    let limit = plan.executionLimit.map { Duration.milliseconds($0) }
    func typed<Kind: PolicyKind>(_ kind: Kind.Type) async throws -> Int {
      try await relay.request(
        Question<Self, Kind>(number: number), waitingAtMost: wait, executionLimit: limit,
        priority: priority, tags: tags)
    }
    switch plan.request! {
    case .closure:
      return try await relay.request(
        Feature.self, waitingAtMost: wait, executionLimit: limit, priority: priority!, tags: tags
      ) { feature in
        try await performLater(feature, number)
        return number
      }
    case .onMain:
      return try await requestOnMain(number, plan, tags, of: relay)
    case .typed(let kind):
      switch kind {
      case 0: return try await typed(Policy0.self)
      case 2: return try await typed(Later2.self)
      case 4: return try await typed(Later4.self)
      default: return try await typed(Later5.self)
      }
    }
  }

  @MainActor
  static func requestOnMain(
    _ number: Int, _ plan: DispatchPlan, _ tags: [CommandTag], of relay: Relay
  ) async throws -> Int {
    let answer = try await relay.request(
      Feature.self, waitingAtMost: plan.timeToLive.map { .milliseconds($0) },
      executionLimit: plan.executionLimit.map { .milliseconds($0) },
      priority: CommandPriority(rawValue: UInt8(plan.priority ?? 1))!, tags: tags
    ) { feature in
      try await performLater(feature, number)
      return PlainAnswer(number)
    }
    return answer.number
  }
}

/// One feature of the real relay, chosen by number.
struct RealFeature: Sendable {
  let dispatch: @Sendable (Int, DispatchPlan, DispatchDetails, Relay) -> Acceptance
  let request: @Sendable (Int, DispatchPlan, [CommandTag], Relay) async throws -> Int
  let requestOnMain: @MainActor (Int, DispatchPlan, [CommandTag], Relay) async throws -> Int
  let unregister: @Sendable (Relay) -> Void
  let unregisterHandler: @Sendable (Relay, ModelHandler) -> Void
  let isRegistered: @Sendable (Relay) -> Bool
  let pendingCount: @Sendable (Relay) -> Int
  let clear: @Sendable (Relay) -> Int
  let gate: @Sendable (Relay) -> Gate
  let counts: @Sendable (Relay) -> RelayCounts
  let configure: @Sendable (Relay, FeatureConfiguration) -> Void
  let next: @MainActor (Registration) -> ModelHandler?

  static let all = [make(FirstPort.self), make(SecondPort.self), make(ThirdPort.self)]

  private static func make<Port: FeaturePort>(_ port: Port.Type) -> RealFeature {
    RealFeature(
      dispatch: { Port.dispatch($0, $1, $2, to: $3) },
      request: { try await Port.request($0, $1, $2, of: $3) },
      requestOnMain: { try await Port.requestOnMain($0, $1, $2, of: $3) },
      unregister: { $0.unregister(Port.Feature.self) },
      unregisterHandler: { $0.unregister($1 as! Port.Feature, for: Port.Feature.self) },
      isRegistered: { $0.isRegistered(Port.Feature.self) },
      pendingCount: { $0.pendingCount(Port.Feature.self) },
      clear: { $0.clearQueue(Port.Feature.self) },
      gate: { $0.gate(for: Port.Feature.self) },
      counts: { $0.counts(of: Port.Feature.self) },
      configure: { $0.configure(Port.Feature.self, $1) },
      next: { $0.next(Port.Feature.self) as? ModelHandler })
  }

  static func register(
    _ handler: ModelHandler, for features: [Int], in relay: Relay, _ ownership: HandlerOwnership
  ) -> Registration {
    switch features {
    case [0]: relay.register(handler, for: FirstFeature.self, ownership: ownership)
    case [1]: relay.register(handler, for: SecondFeature.self, ownership: ownership)
    case [2]: relay.register(handler, for: ThirdFeature.self, ownership: ownership)
    case [0, 1]:
      relay.register(
        handler, for: FirstFeature.self, SecondFeature.self, ownership: ownership)
    case [0, 2]:
      relay.register(handler, for: FirstFeature.self, ThirdFeature.self, ownership: ownership)
    case [1, 2]:
      relay.register(handler, for: SecondFeature.self, ThirdFeature.self, ownership: ownership)
    default:
      relay.register(
        handler, for: FirstFeature.self, SecondFeature.self, ThirdFeature.self,
        ownership: ownership)
    }
  }
}

/// A thread that does what the main actor asks for, one thing at a time, while the main actor waits.
final class Elsewhere: Sendable {
  private struct Job: Sendable {
    let action: @Sendable () -> Void
  }

  private final class Place: @unchecked Sendable {
    // Safe: written before `begin` is opened and read after it, by one thread each.
    var job: Job?
  }

  private final class ResultBox<Result: Sendable>: @unchecked Sendable {
    // Safe: written before `end` is opened and read after it.
    var result: Result?
  }

  private let begin = ThreadLatch()
  private let end = ThreadLatch()
  private let place = Place()

  static let thread = Elsewhere()

  private init() {
    startThread { [begin, end, place] in
      while true {
        begin.waitForever()
        place.job?.action()
        place.job = nil
        end.open()
      }
    }
  }

  func run<Result: Sendable>(_ action: @escaping @Sendable () -> Result) -> Result {
    let box = ResultBox<Result>()
    place.job = Job { box.result = action() }
    begin.open()
    end.wait("the other thread")
    return box.result!
  }
}

/// Runs what is not the main actor's on the other thread, when it is told to: requests come and go in a fixed order.
final class HandExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs what has been given to it so far.
  ///
  /// - Returns: whether there was something.
  func runAll() -> Bool {
    let jobs = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in jobs {
      Elsewhere.thread.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
    return !jobs.isEmpty
  }
}

/// Lets the main actor do what it was asked for up to now, and comes back in its queue's order: a
/// continuation would otherwise be resumed by way of the system's threads, and nobody knows when.
@MainActor
func modelTurn() async {
  await withTaskExecutorPreference(MainQueueExecutor.shared) {
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { continuation.resume() }
    }
  }
}

/// Runs what is not the main actor's in the main queue's turns.
private final class MainQueueExecutor: TaskExecutor {
  static let shared = MainQueueExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    DispatchQueue.main.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
