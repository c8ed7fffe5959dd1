// SPDX-License-Identifier: MIT

// What the laws say, in plain arrays. It shares nothing with the library: reasons, rules and priorities are its own.
//
// It does not predict when the main actor comes to which feature (the laws leave that open). It is told of each start
// and end as it happens and says whether the laws allow it, and it knows what must have happened once a call has
// returned, or once the main actor has nothing left to do.

enum ModelReason: String, CaseIterable {
  case overflow, expired, cancelled, cleared, failed, timedOut, coalesced, ownerGone, reset, closed
}

enum ModelRefusal: Equatable {
  case full, closed
  case duplicate(of: Int)
}

enum ModelRetry: Equatable {
  case drop
  case later(Int, attempts: Int)
  case inPlace(Int, attempts: Int)
}

enum ModelUnique: Equatable {
  case first(Int, window: Int)
  case latest(Int)

  var key: Int {
    switch self {
    case .first(let key, _), .latest(let key): key
    }
  }
}

final class ModelCommand {
  enum Phase: Equatable {
    case new, ready, delayed, running, delivered
    case dropped(ModelReason)
    case refused(ModelRefusal)
  }

  let number: Int
  let slot: ModelSlot
  var isAsync = false
  var isConcurrent = false
  /// 0 is low, 3 is critical.
  var priority = 1
  var tags: [Int] = []
  var unique: ModelUnique?
  var executionLimit: Int?
  var retry: ModelRetry?
  var timeToLive: Int?
  var queueLimit: Int?
  var refusesWhenFull: Bool?
  var owner: Int?

  var phase = Phase.new
  /// From when on it may, and must, count as expired. They differ where a direct delivery has failed
  /// and its call has not returned.
  var mayExpire = Int.max
  var mustExpire = Int.max
  var acceptedAt = 0
  /// Its place among those of its priority.
  var rank = 0
  var notBefore = 0
  var attempt = 0
  var runsUntil = Int.max
  var startedAt = 0
  /// Whether the handler of this attempt has begun.
  var hasBegun = false
  var isInOwnCall = false
  var arrivesOnMain = false
  /// Whether it may have been delivered past the queue.
  var mayBeDirect = false
  /// It gave way and is due, and nobody may have looked yet.
  var cameBack = false
  var wasAskedToStop = false
  /// A reset has come over it while it ran: it may end, and does not come again.
  var isLast = false
  var handler: Int?
  var lender: ModelSlot?
  var holdsLanes = false

  init(_ number: Int, _ slot: ModelSlot) {
    self.number = number
    self.slot = slot
  }

  var isWaiting: Bool { phase == .ready || phase == .delayed }

  var isOver: Bool {
    switch phase {
    case .delivered, .dropped, .refused: true
    case .new, .ready, .delayed, .running: false
    }
  }
}

final class ModelSlot {
  enum Key {
    case command(ModelCommand)
    case delivered(ModelCommand, until: Int)
  }

  struct Counts: Equatable {
    var accepted = 0
    var delivered = 0
    var refusedFull = 0
    var refusedDuplicate = 0
    var refusedClosed = 0
    var retried = 0
    var dropped: [ModelReason: Int] = [:]
  }

  let relay: Int
  let feature: Int
  var registrations: [(id: Int, handler: Int, owned: Bool)] = []
  var gateReasons: Set<Int> = []
  /// By priority.
  var ready: [[ModelCommand]] = [[], [], [], []]
  var delayed: [ModelCommand] = []
  var running: [ModelCommand] = []
  var lane: ModelCommand?
  var keys: [Int: Key] = [:]
  var counts = Counts()
  var limit = 100
  var timeToLive = 300_000
  var refusesWhenFull = false
  var retry = ModelRetry.drop
  var ignoresRelayGate = false

  init(relay: Int, feature: Int) {
    self.relay = relay
    self.feature = feature
  }

  /// What can be delivered, in order.
  var inOrder: [ModelCommand] { ready.reversed().flatMap(\.self) }
  var waiting: [ModelCommand] { inOrder + delayed }
  /// What waits and has waited for its time to live.
  func old(at now: Int) -> [ModelCommand] {
    var old: [ModelCommand] = []
    for list in ready { for command in list where command.mayExpire <= now { old.append(command) } }
    for command in delayed where command.mayExpire <= now { old.append(command) }
    return old
  }

  /// What has run for as long as it may, in the order in which that was found.
  func overdue(at now: Int) -> [ModelCommand] {
    // Of two at the same time the one that started first comes first: sorting is stable.
    running.filter { $0.runsUntil <= now }.sorted { $0.runsUntil < $1.runsUntil }
  }

  var waitingCount: Int { ready.reduce(delayed.count) { $0 + $1.count } }

  var head: ModelCommand? {
    for list in ready.reversed() { if let first = list.first { return first } }
    return nil
  }
}

final class ModelRelay {
  let featureCount: Int
  let slots: [ModelSlot]
  var relayGates: [Set<Int>]
  var isClosed: [Bool]
  var now = 0
  var commands: [ModelCommand] = []
  private var lastRank = 0
  /// What a call that delivers a backlog first is about to accept.
  var arriving: [ModelCommand] = []
  private(set) var problem: String?
  /// Off until there is a sequence to explain.
  var keepsHistory = false
  private(set) var history: [String] = []
  /// How often something was seen, for the test that everything was.
  var seen: [String: Int] = [:]
  /// Whether a handler or an owner lives; the real objects know.
  let isAlive: (Int) -> Bool
  let isOwnerAlive: (Int) -> Bool
  /// Tells of what has happened unseen.
  var look: () -> Void = {}

  init(
    relays: Int, features: Int, isAlive: @escaping (Int) -> Bool,
    isOwnerAlive: @escaping (Int) -> Bool
  ) {
    featureCount = features
    slots = (0..<relays * features).map { ModelSlot(relay: $0 / features, feature: $0 % features) }
    relayGates = Array(repeating: [], count: relays)
    isClosed = Array(repeating: false, count: relays)
    self.isAlive = isAlive
    self.isOwnerAlive = isOwnerAlive
  }

  func slot(_ relay: Int, _ feature: Int) -> ModelSlot { slots[relay * featureCount + feature] }

  func complain(_ text: String) {
    if problem == nil { problem = "\(text); after: \(history.suffix(40).joined(separator: ", "))" }
  }

  /// Notes what happens, for a complaint.
  func note(_ text: @autoclosure () -> String) {
    guard keepsHistory else { return }
    history.append(text())
  }

  func see(_ what: String) { seen[what, default: 0] += 1 }

  func nextRank() -> Int {
    lastRank += 1
    return lastRank
  }
}

// MARK: What can be delivered

extension ModelRelay {
  /// Whether the gates are open; that a relay on the way is closed does not matter, its handlers are gone.
  func isOpen(_ slot: ModelSlot) -> Bool {
    slot.gateReasons.isEmpty
      && (relayGates[slot.relay].isEmpty || slot.ignoresRelayGate)
  }

  /// The slot and the handler that take what is dispatched here: the nearest that lives, every gate on the way open.
  func target(of slot: ModelSlot) -> (ModelSlot, Int)? {
    for relay in (0...slot.relay).reversed() {
      let candidate = self.slot(relay, slot.feature)
      guard isOpen(candidate) else { return nil }
      if let top = candidate.registrations.last(where: { isAlive($0.handler) }) {
        return (candidate, top.handler)
      }
    }
    return nil
  }

  /// What would be delivered next, if anything can be.
  func deliverable(_ slot: ModelSlot) -> (command: ModelCommand, owner: ModelSlot, handler: Int)? {
    guard slot.lane == nil, let head = slot.head, head.notBefore <= now,
      let (owner, handler) = target(of: slot), owner.lane == nil
    else { return nil }
    return (head, owner, handler)
  }

  /// Whether what is dispatched here waits for nothing but the main actor or a synchronous command.
  private func isOnlyInTransit(_ slot: ModelSlot) -> Bool {
    guard let (owner, _) = target(of: slot) else { return false }
    return ![slot, owner].contains { $0.lane?.isAsync == true }
  }
}

// MARK: Accepting

extension ModelRelay {
  /// A call of dispatch begins.
  func arrive(_ command: ModelCommand, onMain: Bool) {
    let slot = command.slot
    // A deliverable backlog goes first: there is room again by then.
    command.arrivesOnMain = onMain
    if onMain, slot.lane == nil, !isClosed[slot.relay],
      slot.waitingCount >= command.queueLimit ?? slot.limit
    {
      arriving.append(command)
    } else {
      accept(command)
    }
  }

  /// The moment has come at which a call that delivered a backlog first takes its own command in.
  func settleArrival(_ command: ModelCommand) {
    guard let index = arriving.firstIndex(where: { $0 === command }) else { return }
    arriving.remove(at: index)
    accept(command)
    look()
  }

  private func accept(_ command: ModelCommand) {
    note("\(command.number) accepted or refused")
    let slot = command.slot
    guard !isClosed[slot.relay] else { return refuse(command, .closed) }
    command.mayBeDirect = mayBeDirect(command)
    if !command.mayBeDirect { passTime(of: slot) }
    var replaced: ModelCommand?
    if let unique = command.unique, let holder = slot.keys[unique.key] {
      switch (unique, holder) {
      case (.first, .command(let other)): return refuse(command, .duplicate(of: other.number))
      case (.first, .delivered(let other, let until)) where until > now:
        return refuse(command, .duplicate(of: other.number))
      case (.latest, .command(let other)) where other.isWaiting: replaced = other
      default: break
      }
    }
    if replaced == nil, slot.waitingCount >= command.queueLimit ?? slot.limit {
      if isOnlyInTransit(slot) {
        see("in transit")
      } else if command.refusesWhenFull ?? slot.refusesWhenFull {
        return refuse(command, .full)
      } else {
        let lowest = slot.waiting.map(\.priority).min()!
        if lowest > command.priority { return refuse(command, .full) }
        evict(from: slot, lowest)
      }
    }
    slot.counts.accepted += 1
    command.acceptedAt = now
    command.mayExpire = now + (command.timeToLive ?? slot.timeToLive)
    command.mustExpire = command.mayExpire
    command.phase = .ready
    if let replaced, replaced.phase == .ready, replaced.priority == command.priority {
      command.rank = replaced.rank
      let place = slot.ready[command.priority].firstIndex { $0 === replaced }!
      slot.ready[command.priority].insert(command, at: place)
    } else {
      command.rank = nextRank()
      slot.ready[command.priority].append(command)
    }
    if let replaced { end(replaced, .coalesced) }
    if let unique = command.unique { slot.keys[unique.key] = .command(command) }
  }

  /// Whether nothing is in the way: then nothing depends on what is old, and nobody needs to have
  /// looked at the time.
  private func mayBeDirect(_ command: ModelCommand) -> Bool {
    let slot = command.slot
    guard let (owner, _) = target(of: slot) else { return false }
    return command.arrivesOnMain && !command.isAsync && command.unique == nil && slot.lane == nil
      && owner.lane == nil && slot.retry == .drop && slot.inOrder.allSatisfy(\.cameBack)
  }

  /// The oldest of the lowest priority: what stands first or what gave way first, whichever has the
  /// earlier place.
  private func evict(from slot: ModelSlot, _ priority: Int) {
    let firsts = [
      slot.ready[priority].first, slot.delayed.first { $0.priority == priority },
    ].compactMap(\.self)
    if firsts.count > 1 { see("several oldest") }
    end(firsts.min { $0.rank < $1.rank }!, .overflow)
  }

  private func refuse(_ command: ModelCommand, _ reason: ModelRefusal) {
    command.phase = .refused(reason)
    switch reason {
    case .full: command.slot.counts.refusedFull += 1
    case .duplicate: command.slot.counts.refusedDuplicate += 1
    case .closed: command.slot.counts.refusedClosed += 1
    }
    switch reason {
    case .duplicate: see("refused duplicate")
    default: see("refused \(reason)")
    }
  }
}
