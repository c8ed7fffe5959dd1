// SPDX-License-Identifier: MIT

internal import Dispatch

// MARK: - Syncing

extension JournalStorage {
  func sync(_ body: @escaping @Sendable (JournalError?) -> Void) {
    let (starts, completes) = state.withLock { state -> (Bool, Bool) in
      state.syncWaiters.append(body)
      let completes = state.isGathering && state.syncWaiters.count >= state.syncGroups.expected
      if completes { state.isGathering = false }
      defer { state.isSyncing = true }
      return (!state.isSyncing, completes)
    }
    if completes { gathered.signal() }
    if starts { options.schedule { self.syncLoop() } }
  }

  /// One call to the disk for all who wait; who comes meanwhile waits for the next.
  private func syncLoop() {
    while true {
      gather()
      let waiters = state.withLock { state in
        defer { state.syncWaiters = [] }
        if state.syncWaiters.isEmpty { state.isSyncing = false }
        return state.syncWaiters
      }
      if waiters.isEmpty { return }
      let began = options.now()
      let failure = syncNow()
      let ended = options.now()
      // Before they are called: they may come back at once.
      state.withLock { state in
        state.syncGroups.ended(
          waiters.count, waiting: state.syncWaiters.count, began: began, at: ended)
      }
      for waiter in waiters { waiter(failure) }
    }
  }

  /// Waits for those who are likely to come, for a part of what a sync takes.
  private func gather() {
    let now = options.now()
    let wait = state.withLock { state -> Int64 in
      let wait = state.syncGroups.wait(waiting: state.syncWaiters.count, at: now)
      state.isGathering = wait > 0
      return wait
    }
    guard wait > 0 else { return }
    let isComplete = gathered.wait(timeout: .now() + .nanoseconds(Int(wait))) == .success
    guard !isComplete else { return }
    // Whoever completed the group at the same moment has signalled, or is about to.
    let isLate = state.withLock { state in
      defer { state.isGathering = false }
      return !state.isGathering
    }
    if isLate { gathered.wait() }
  }

  /// - Parameter isMaintaining: whether the caller maintains.
  func syncNow(isMaintaining: Bool = false) -> JournalError? {
    let (phase, mustRewrite) = withWriter { ($0.phase, $0.mustRewrite) }
    if phase == .closed { return JournalError(.closed, operation: "sync") }
    do throws(JournalError) {
      if mustRewrite { if isMaintaining { try compactNow() } else { try compact() } }
      // On the medium is not enough if the files have no name any more.
      try checkPlace()
      let (dirty, directory) = withWriter { (writer) -> (DirtyFiles, JournalDirectory) in
        (writer.takeDirty(), writer.directory)
      }
      do throws(JournalError) {
        for file in dirty.files { try directory.fileSystem.sync(file.file) }
        if dirty.directory { try directory.fileSystem.syncDirectory(directory.path) }
      } catch {
        withWriter { $0.mustRewrite = true }
        throw error
      }
      return nil
    } catch {
      return error
    }
  }
}

// MARK: - Maintenance

extension JournalStorage {
  /// Does something while nobody else compacts, suspends, adopts or closes.
  func maintain<Result>(_ body: () throws(JournalError) -> Result) throws(JournalError) -> Result {
    let mine = DispatchSemaphore(value: 0)
    let isFree = state.withLock { state in
      if state.isMaintaining {
        state.maintenanceWaiters.append(mine)
        return false
      }
      state.isMaintaining = true
      return true
    }
    if !isFree { mine.wait() }
    defer { endMaintenance() }
    return try body()
  }

  private func endMaintenance() {
    let next = state.withLock { state -> DispatchSemaphore? in
      if state.maintenanceWaiters.isEmpty {
        state.isMaintaining = false
        return nil
      }
      return state.maintenanceWaiters.removeFirst()
    }
    next?.signal()
  }

  func compactByItself() {
    defer { endMaintenance() }
    do throws(JournalError) {
      try compactNow()
    } catch {
      // The old files are as good as before; it is tried again when as much again is dead.
      withWriter { writer in
        writer.events.append(.failed(error))
        writer.postponeCompaction()
      }
    }
  }

  func compact() throws(JournalError) {
    try maintain { () throws(JournalError) in try compactNow() }
  }

  /// Compacts; whoever calls it maintains.
  func compactNow() throws(JournalError) {
    var compaction = try withWriter { writer -> Result<Compaction, JournalError> in
      do throws(JournalError) {
        guard writer.phase == .open else {
          throw JournalError(
            writer.phase == .closed ? .closed : .suspended, operation: "compact")
        }
        return .success(try Compaction(of: writer))
      } catch {
        return .failure(error)
      }
    }.get()
    try compaction.writeBase()
    let done = compaction
    let (names, directory) = withWriter { writer in
      writer.mustRewrite = false
      return (done.finish(writer), writer.directory)
    }
    for name in names { directory.sweep(name) }
  }
}
