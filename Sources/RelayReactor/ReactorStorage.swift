// SPDX-License-Identifier: MIT

internal import Observation
internal import Synchronization

/// What goes on in one reactor: sends that have not been looked at, runs, and who waits for quiet.
///
/// The lock guards it; runs are started, resumed and cancelled after unlocking. Only the main actor
/// takes from the inbox and starts runs, so that the order of sends is the order of starts. The
/// storage does not know the reactor: a run that goes on does not keep the reactor's container
/// alive, whose end is what cancels the run.
final class ReactorStorage: Sendable, Observable {
  enum Item {
    case run(ActionRun)
    /// Something synchronous, for example an action that is handled before its call returns.
    case call(@MainActor () -> Void)
    case wake(ActionMachine.Wake)
  }

  struct State {
    var machine = ActionMachine()
    /// What has been taken from it is nil.
    var inbox: [Item?] = []
    /// The part of the inbox that has been taken.
    var head = 0
    var isHopPlanned = false
    /// How many items have been taken from the inbox and are being looked at.
    var inHand = 0
    /// Those with an id that have been admitted and have not ended.
    var named: [ActionMachine.Number: ActionRun] = [:]
    /// Those that need no id: they run, and only by their cases' names does anybody ask for them.
    var unnamed: [ActionMachine.Number: ActionRun] = [:]
    /// How many of both the reactor is not idle with, held ones included.
    var foregroundCount = 0
    var idleWaiting: [CheckedContinuation<Void, Never>] = []

    var isIdle: Bool {
      head == inbox.count && inHand == 0 && foregroundCount == machine.heldCount
    }

    mutating func remove(_ number: ActionMachine.Number) -> ActionRun? {
      let run = named.removeValue(forKey: number) ?? unnamed.removeValue(forKey: number)
      if let run, !run.isBackground { foregroundCount -= 1 }
      return run
    }
  }

  let clock: ReactorClock
  let lock = Lock(State())
  private let ended = Atomic<Bool>(false)
  private let lastNumber = Atomic<UInt64>(0)
  /// Whether somebody has ever asked, in a view for example, what is running.
  private let isWatched = Atomic<Bool>(false)
  private let registrar = ObservationRegistrar()

  init(clock: ReactorClock) {
    self.clock = clock
  }

  var hasEnded: Bool { ended.load(ordering: .acquiring) }

  func nextNumber() -> UInt64 {
    lastNumber.add(1, ordering: .relaxed).newValue
  }

  /// Whether what the current task does still counts.
  var isAdmitting: Bool {
    guard !hasEnded else { return false }
    guard let run = ActionRun.current, run.isSilenced else { return true }
    return run.storage !== self
  }
}

// MARK: The end

extension ReactorStorage {
  /// Ends the life: nothing starts any more, what runs is cancelled and silent.
  ///
  /// - Returns: what was running or waiting to.
  @discardableResult
  func end() -> [ActionRun] {
    ended.store(true, ordering: .releasing)
    let (effects, runs, items) = lock.withLock { state in
      let runs = Array(state.named.values) + Array(state.unnamed.values)
      let items = state.inbox[state.head...]
      state.inbox = []
      state.head = 0
      return (state.machine.end(), runs, items)
    }
    for run in runs { run.stop(.ended, silencing: true) }
    for drop in effects.dropped { discard(drop) }
    for case .run(let run)? in items { run.complete(.ended) }
    settle()
    return runs
  }
}

// MARK: What is running

extension ReactorStorage {
  @MainActor func isRunning(_ id: ActionID) -> Bool {
    isWatched.store(true, ordering: .relaxed)
    registrar.access(self, keyPath: \.[running: id])
    return self[running: id]
  }

  @MainActor private subscript(running id: ActionID) -> Bool {
    let (isRunning, unnamed) = lock.withLock { state in
      (state.machine.isRunning(id), Array(state.unnamed.values))
    }
    // Their names are what users' mirrors say: not under the lock.
    return isRunning || unnamed.contains { !$0.isSilenced && $0.name == id }
  }

  /// Tells who looks at it that a run has begun or ended.
  @MainActor func runningChanged(_ run: ActionRun) {
    guard isWatched.load(ordering: .relaxed) else { return }
    registrar.withMutation(of: self, keyPath: \.[running: run.name]) {}
  }
}

// MARK: Quiet

extension ReactorStorage {
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      let isIdle = lock.withLock { state in
        if !state.isIdle { state.idleWaiting.append(continuation) }
        return state.isIdle
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Lets those go on who wait for quiet, if there is.
  func settle() {
    let waiting = lock.withLock { state in
      guard !state.idleWaiting.isEmpty, state.isIdle else {
        return [CheckedContinuation<Void, Never>]()
      }
      defer { state.idleWaiting = [] }
      return state.idleWaiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// How many actions are held back by a debounce or a throttle.
  var heldCount: Int { lock.withLock { $0.machine.heldCount } }
}
