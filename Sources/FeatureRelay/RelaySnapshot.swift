// SPDX-License-Identifier: MIT

internal import Synchronization

/// What a relay holds at one moment: each feature as it was at one instant, one after the other.
public struct RelaySnapshot: Sendable, Codable, Hashable {
  /// One registration.
  public struct Registration: Sendable, Codable, Hashable {
    /// The registration's id.
    public let id: UInt64
    /// The handler's type.
    public let handler: String
    /// Whether the relay keeps it alive.
    public let isOwned: Bool
    /// Whether it lives.
    public let isAlive: Bool
  }

  /// One command that waits or runs.
  public struct Command: Sendable, Codable, Hashable {
    /// The command's id.
    public let id: CommandID
    /// Its type; nil for a closure.
    public let type: String?
    /// Its priority.
    public let priority: CommandPriority
    /// How long ago it was accepted.
    public let age: Duration
    /// How often it was tried.
    public let attempts: Int
    /// Its tags.
    public let tags: [CommandTag]
  }

  /// One feature.
  public struct Feature: Sendable, Codable, Hashable {
    /// The feature's name.
    public let name: String
    /// Its registrations, the active one first.
    public let registrations: [Registration]
    /// What waits, in the order in which it will be delivered; at most the first 1,024.
    public let waiting: [Command]
    /// What runs, but for what a direct dispatch runs.
    public let running: [Command]
    /// Why the feature's own gate is closed.
    public let gateReasons: [String]
    /// Whether every gate of this relay is open for it.
    public let isOpen: Bool
    /// How many commands may wait.
    public let limit: Int
    /// How long a command may wait.
    public let timeToLive: TimeToLive
    /// What happens when the queue is full.
    public let overflow: OverflowRule
    /// What happened to its commands.
    public let counts: RelayCounts
  }

  /// The relay's scope.
  public let scope: String
  /// The parent's scope.
  public let parent: String?
  /// Whether it is closed.
  public let isClosed: Bool
  /// Why the relay's gate is closed.
  public let gateReasons: [String]
  /// The features, in the order of their first use.
  public let features: [Feature]
  /// How many commands are on their way to the main actor beyond their queues' limits.
  public let inTransit: Int
  /// The latest problems, as text: failures, handlers that died unused, wrong types. At most 32.
  public let problems: [String]

  /// What happened to all commands.
  public var counts: RelayCounts { features.reduce(RelayCounts()) { $0 + $1.counts } }
}

extension Relay {
  /// What the relay holds at the moment.
  ///
  /// - Complexity: in the number of features and of what waits, 1,024 commands of each at most.
  public func snapshot() -> RelaySnapshot {
    let gateReasons = core.gateReasons
    return RelaySnapshot(
      scope: scope, parent: parent?.scope, isClosed: core.isClosed, gateReasons: gateReasons,
      features: core.slots.map { $0.snapshot() }, inTransit: core.transit.current,
      problems: core.log.problems)
  }

  /// What happened to the relay's commands so far.
  public var counts: RelayCounts {
    core.slots.reduce(RelayCounts()) { $0 + $1.currentCounts }
  }

  /// What happened to a feature's commands so far.
  public func counts<F>(of feature: F.Type) -> RelayCounts {
    core.existingSlot(FeatureKey.of(feature))?.currentCounts ?? RelayCounts()
  }
}

extension SlotStorage {
  var currentCounts: RelayCounts {
    withState { $0.counts(lane: hot.pointee.lane.load(ordering: .relaxed)) }
  }

  func snapshot() -> RelaySnapshot.Feature {
    let now = clock.now
    var entries: [RegistrationEntry] = []
    let feature = withState { state in
      entries = state.registrations
      return state.snapshot(at: now, lane: hot.pointee.lane.load(ordering: .relaxed))
    }
    // The handlers are asked outside the lock: a reference may turn out to be the last one.
    return feature.with(
      entries.reversed().map { entry in
        RelaySnapshot.Registration(
          id: entry.id, handler: entry.handlerName, isOwned: entry.isOwned,
          isAlive: entry.handler != nil)
      })
  }
}

extension SlotState {
  /// The counts, those of the direct path included.
  ///
  /// - Parameter lane: the slot's lane (``Slot/lane``).
  func counts(lane: UInt) -> RelayCounts {
    var counts = counts
    if backlog.pointee.evictions > 0 { counts.addDropped(.overflow, backlog.pointee.evictions) }
    let delivered = UInt64(lane >> 2)
    counts.waiting = UInt64(queue.waiting)
    counts.running = UInt64(queue.running)
    counts.delivered += delivered - directFailures.count
    counts.accepted += delivered
    if lane & 2 == 2 {
      counts.running += 1
      counts.accepted += 1
    }
    return counts
  }

  func snapshot(at now: Int64, lane: UInt) -> RelaySnapshot.Feature {
    var waiting: [UInt32] = []
    queue.forEachWaiting { if waiting.count < 1_024 { waiting.append($0) } }
    return RelaySnapshot.Feature(
      name: origin.featureName, registrations: [], waiting: waiting.map { command($0, at: now) },
      running: queue.runningCommands.map { command($0, at: now) }, gateReasons: gateReasons,
      isOpen: isOpen, limit: settings.limit,
      timeToLive: settings.timeToLive == .max
        ? .unlimited : .limited(.nanoseconds(settings.timeToLive)),
      overflow: settings.overflow, counts: counts(lane: lane))
  }

  private func command(_ index: UInt32, at now: Int64) -> RelaySnapshot.Command {
    let node = queue.node(index)
    let type =
      node.pointee.work?.type ?? runs[node.pointee.sequence]?.ticket.type
    return RelaySnapshot.Command(
      id: id(index), type: type?.commandType.map { "\($0)" }, priority: node.pointee.priority,
      age: .nanoseconds(max(0, now - node.pointee.acceptedAt)),
      attempts: Int(node.pointee.attempt), tags: queue.tags(of: index))
  }
}

extension RelaySnapshot.Feature {
  fileprivate func with(_ registrations: [RelaySnapshot.Registration]) -> RelaySnapshot.Feature {
    RelaySnapshot.Feature(
      name: name, registrations: registrations, waiting: waiting, running: running,
      gateReasons: gateReasons, isOpen: isOpen, limit: limit, timeToLive: timeToLive,
      overflow: overflow, counts: counts)
  }
}
