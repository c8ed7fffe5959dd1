// SPDX-License-Identifier: MIT

internal import Synchronization

/// The events of a relay, in their one order, on their way to whoever sees them.
///
/// Events are taken down under the slots' locks, so that their order is the order in which things
/// happened, and are handed out by whoever holds the token (``EventOrder``): one thread at a time,
/// no lock held. Another thread that has something to hand out meanwhile leaves it to that one. A
/// direct delivery hands its own events out at once, if nothing stands before them.
final class EventLog: Sendable {
  /// How many problems are remembered although nobody looked.
  static let rememberedProblems = 32
  /// How many events wait while an observer holds up whoever hands out; then the older half goes.
  static let limit: UInt32 = 65_536

  private enum Item {
    case event(RelayEvent)
    case status(CommandStatus, slot: UInt32, sequence: UInt64)
    case finish
  }

  struct WatchKey: Hashable {
    let slot: UInt32
    let sequence: UInt64
  }

  private struct State {
    /// What is to be handed out.
    var items: [Item] = []
    /// Events that went because there were too many, of failures only: the release of an error is
    /// foreign code.
    var overflow: [RelayEvent] = []
    var audience = EventAudience()
    /// Former audiences, which the holder of the token may still be reading.
    var former: [EventAudience] = []
    /// Where events come from: kept as long as somebody may read them (``EventBuffer``).
    var origins: [EventOrigin] = []
    var watchers: [WatchKey: [UInt64: AsyncStream<CommandStatus>.Continuation]] = [:]
    var lastToken: UInt64 = 0
    var problems: [RememberedProblem] = []
    /// How many of the items are events.
    var eventCount: UInt32 = 0
    var isFinished = false

    /// Keeps an event for whoever hands out.
    mutating func keep(_ event: RelayEvent) {
      if eventCount == EventLog.limit { dropOlderHalf() }
      items.append(.event(event))
      eventCount += 1
    }

    private mutating func dropOlderHalf() {
      var count = EventLog.limit / 2
      eventCount -= count
      items.removeAll { item in
        guard count > 0, case .event(let event) = item else { return false }
        count -= 1
        if event.isFailure { overflow.append(event) }
        return true
      }
    }
  }

  /// The relay's number and scope.
  let relay: UInt32
  let scope: String
  private let state: Lock<State>
  private let order = EventOrder()
  /// The state's audience, for the holder of the token. A former one is only let go of by the
  /// holder, when it gives the token back.
  private let audience: Atomic<Unmanaged<EventAudience>>
  private let isWatchedNow = Atomic<Bool>(false)

  init(relay: UInt32 = 0, scope: String = "") {
    self.relay = relay
    self.scope = scope
    let state = State()
    audience = Atomic(.passUnretained(state.audience))
    self.state = Lock(state)
  }

  /// Whether somebody sees the events; read without the lock.
  var isWatched: Bool { isWatchedNow.load(ordering: .acquiring) }

  var problems: [String] { state.withLock { $0.problems }.map(\.description) }
}

// MARK: Taking down

extension EventLog: EventRecorder {
  /// Makes a place where events come from.
  func origin(
    relay: UInt32, slot: UInt32 = 0, scope: String, feature: String? = nil
  ) -> EventOrigin {
    let origin = EventOrigin(relay: relay, slot: slot, scope: scope, feature: feature)
    state.withLock { $0.origins.append(origin) }
    return origin
  }

  /// Makes a place for one of the relay's features.
  func origin(slot: UInt32, feature key: UInt) -> EventOrigin {
    origin(relay: relay, slot: slot, scope: scope, feature: "\(FeatureKey.type(key))")
  }

  /// Takes an event down. Under a slot's or the relay's lock.
  func record(_ draft: EventDraft, from origin: EventOrigin, at time: Int64) {
    state.withLock { state in
      guard !state.isFinished else { return }
      let isSeen = !state.audience.isEmpty
      let event = RelayEvent(
        draft.content, draft.command, number: order.next(isPending: isSeen), at: time,
        from: origin)
      if event.isProblem {
        if state.problems.count == Self.rememberedProblems { state.problems.removeFirst() }
        state.problems.append(event.isFailure ? .text(event.description) : .event(event))
      }
      if isSeen { state.keep(event) }
    }
  }

  func record(_ status: CommandStatus, of sequence: UInt64, slot: UInt32) {
    state.withLock { state in
      guard state.watchers[WatchKey(slot: slot, sequence: sequence)] != nil else { return }
      state.items.append(.status(status, slot: slot, sequence: sequence))
      order.setPending()
    }
  }

  /// Ends all streams once everything before it is handed out.
  func finish() {
    state.withLock { state in
      guard !state.isFinished else { return }
      state.isFinished = true
      state.items.append(.finish)
      order.finish()
    }
    handOut()
  }
}

// MARK: Handing out

extension EventLog {
  /// Hands out what was taken down, unless another thread is at it. Outside any lock.
  @inline(__always)
  func handOut() {
    if order.isPending { handOutItems() }
  }

  @inline(never)
  private func handOutItems() {
    if order.take() { handOutAsHolder(hasShown: false) } else { releaseOverflow() }
  }

  /// Lets go of what an observer held up for too long. Outside any lock.
  private func releaseOverflow() {
    var overflow: [RelayEvent] = []
    state.withLock { swap(&overflow, &$0.overflow) }
  }

  /// Hands out until there is nothing left, and gives the token back.
  ///
  /// - Parameter hasShown: whether the holder has shown events by itself already. Who began to wait
  ///   while one of them was on its way to him found nothing, and nobody else would wake him.
  @inline(never)
  private func handOutAsHolder(hasShown: Bool) {
    var hasShown = hasShown
    while true {
      if hasShown, order.takeWanted() { wakeConsumers() }
      var items: [Item] = []
      var former: [EventAudience] = []
      var overflow: [RelayEvent] = []
      state.withLock { state in
        swap(&overflow, &state.overflow)
        swap(&items, &state.items)
        state.eventCount = 0
        // Nobody else reads them, and this reads the newest from now on.
        swap(&former, &state.former)
        if items.isEmpty, former.isEmpty { order.releaseIdle() }
      }
      if items.isEmpty, former.isEmpty { return }
      hasShown = !items.isEmpty
      for item in items {
        switch item {
        case .event(let event): show(event)
        case .status(let status, let slot, let sequence):
          tell(status, WatchKey(slot: slot, sequence: sequence))
        case .finish: finishStreams()
        }
      }
    }
  }

  /// Gives what was handed out to consumers that wait for it.
  private func wakeConsumers() {
    var isWaiting = false
    showing { isWaiting = $0.wakeConsumers() }
    if isWaiting { order.setWanted() }
  }

  /// Shows an event to those who are there: asked for each, since one may go or come while the one
  /// before is handed out. For the holder of the token.
  private func show(_ event: RelayEvent) { showing { $0.see(event) } }

  @inline(__always)
  private func showing(_ see: (EventAudience) -> Void) {
    audience.load(ordering: .acquiring)._withUnsafeGuaranteedRef(see)
  }

  private func tell(_ status: CommandStatus, _ key: WatchKey) {
    let watchers = state.withLock { state -> [AsyncStream<CommandStatus>.Continuation] in
      let watchers = state.watchers[key] ?? [:]
      if status.isFinal { state.watchers[key] = nil }
      return Array(watchers.values)
    }
    for watcher in watchers {
      watcher.yield(status)
      if status.isFinal { watcher.finish() }
    }
  }

  /// Watchers of single commands stay: each of them ends with its command.
  private func finishStreams() {
    let audience = state.withLock { state in
      defer { setAudience(EventAudience(), &state) }
      return state.audience
    }
    for consumer in audience.consumers { consumer.buffer.finish() }
  }
}

// MARK: At once

extension EventLog {
  /// Takes down that a command was accepted and has started, and hands it out, provided that its
  /// registration may still be called directly at that place in the order. On the main actor;
  /// outside any lock.
  ///
  /// - Parameters:
  ///   - observation: the two events, but for their numbers.
  ///   - slot, entry, lane: where and on what it runs, as soon as the events have their numbers.
  /// - Returns: whether it runs.
  @inline(__always)
  func recordStart(
    _ observation: UnsafeMutablePointer<Observation>, of slot: UnsafeMutablePointer<Slot>,
    _ entry: UnsafeMutableRawPointer, _ lane: UInt
  ) -> Bool {
    let claim = order.claim(2) { number in
      // Before it is known whether they are theirs: what is stored before the exchange is not waited
      // for when the events are read as a whole after it.
      observation.pointee.accepted.number = number &+ 1
      observation.pointee.started.number = number &+ 2
      return slot.pointee.observed.load(ordering: .acquiring) == entry
    }
    guard let claim else { return recordStartLater(observation, of: slot, entry, lane) }
    slot.beginsObserved(observation, entry, lane)
    showing { if $0.hasObservers { observation.pointee.showAccepted(to: $0) } }
    showing {
      if $0.hasObservers { observation.pointee.showStarted(to: $0) }
      $0.appendStart(of: observation)
    }
    if !order.release(claim) { handOutAsHolder(hasShown: true) }
    return true
  }

  @inline(never)
  private func recordStartLater(
    _ observation: UnsafeMutablePointer<Observation>, of slot: UnsafeMutablePointer<Slot>,
    _ entry: UnsafeMutableRawPointer, _ lane: UInt
  ) -> Bool {
    let isBegun = state.withLock { state in
      guard !state.isFinished, slot.pointee.observed.load(ordering: .acquiring) == entry
      else { return false }
      slot.beginsObserved(observation, entry, lane)
      let isSeen = !state.audience.isEmpty
      observation.pointee.accepted.number = order.next(isPending: isSeen)
      observation.pointee.started.number = order.next(isPending: isSeen)
      if isSeen {
        state.keep(observation.pointee.accepted)
        state.keep(observation.pointee.started)
      }
      return true
    }
    // Else nothing was kept here; and who is shown something may free a registration that the lane
    // does not guard yet.
    if isBegun { handOut() }
    return isBegun
  }

  /// Takes down that a command was delivered, and hands it out. On the main actor; outside any
  /// lock.
  ///
  /// - Parameter observation: the event, but for its number.
  @inline(__always)
  func recordEnd(_ observation: UnsafeMutablePointer<Observation>) {
    let claim = order.claim(1) { number in
      observation.pointee.delivered.number = number &+ 1
      return true
    }
    if let claim {
      showing {
        if $0.hasObservers { observation.pointee.showDelivered(to: $0) }
        $0.appendEnd(of: observation)
      }
      if !order.release(claim) { handOutAsHolder(hasShown: true) }
    } else {
      recordEndLater(observation)
    }
  }

  @inline(never)
  private func recordEndLater(_ observation: UnsafeMutablePointer<Observation>) {
    state.withLock { state in
      guard !state.isFinished else { return }
      let isSeen = !state.audience.isEmpty
      observation.pointee.delivered.number = order.next(isPending: isSeen)
      if isSeen { state.keep(observation.pointee.delivered) }
    }
    handOut()
  }

  /// A consumer waits for the next event.
  func wantEvents() { order.setWanted() }

  /// What was stored before this is seen by whoever records an event after it, and what was stored
  /// before the last event can be read after it.
  func fence() { order.fence() }
}

// MARK: The audience

extension EventLog {
  func addObserver(_ observer: any RelayObserver) -> UInt64 {
    changeAudience { state, token, number in
      state.isFinished ? nil : state.audience.adding(observer, token: token, since: number)
    }
  }

  func addConsumer(_ buffer: EventBuffer) -> UInt64 {
    var isAdded = false
    let token = changeAudience { state, token, number in
      isAdded = !state.isFinished
      return isAdded ? state.audience.adding(buffer, token: token, since: number) : nil
    }
    if !isAdded { buffer.finish() }
    return token
  }

  func remove(_ token: UInt64) {
    changeAudience { state, _, _ in state.audience.removing(token) }
  }

  /// Puts another audience in place of the present one. Whoever leaves is let go of outside the
  /// lock, by the holder of the token.
  @discardableResult
  private func changeAudience(
    _ change: (borrowing State, _ token: UInt64, _ number: UInt64) -> EventAudience?
  ) -> UInt64 {
    let token = state.withLock { state in
      state.lastToken += 1
      if let audience = change(state, state.lastToken, order.last) {
        setAudience(audience, &state)
      }
      return state.lastToken
    }
    handOut()
    return token
  }

  private func setAudience(_ audience: EventAudience, _ state: inout State) {
    state.former.append(state.audience)
    state.audience = audience
    self.audience.store(.passUnretained(audience), ordering: .releasing)
    isWatchedNow.store(!audience.isEmpty, ordering: .releasing)
    order.setPending()
  }

  /// A stream of a command's statuses; the caller adds the first one.
  func watch(_ key: WatchKey, _ continuation: AsyncStream<CommandStatus>.Continuation) {
    let token = state.withLock { state -> UInt64 in
      state.lastToken += 1
      state.watchers[key, default: [:]][state.lastToken] = continuation
      return state.lastToken
    }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      let watcher = state.withLock { state in
        let watcher = state.watchers[key]?.removeValue(forKey: token)
        if state.watchers[key]?.isEmpty == true { state.watchers[key] = nil }
        return watcher
      }
      withExtendedLifetime(watcher) {}
    }
  }
}
