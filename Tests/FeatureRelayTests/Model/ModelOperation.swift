// SPDX-License-Identifier: MIT

import RaceSupport

/// How a command is dispatched, and what its handler does.
struct DispatchPlan: Sendable {
  enum Form: Sendable {
    case closure, owned(Int), typed(Int)
    case later, laterOwned(Int), laterTyped(Int)

    var isAsync: Bool {
      switch self {
      case .closure, .owned, .typed: false
      case .later, .laterOwned, .laterTyped: true
      }
    }
  }

  var relay = 0
  var feature = 0
  var form = Form.closure
  /// Nil leaves it to the type.
  var priority: Int?
  var tags: [Int] = []
  var timeToLive: Int?
  var unique: ModelUnique?
  var executionLimit: Int?
  var isElsewhere = false
  /// Whether the caller says that it is on the main actor, or leaves it to be found out.
  var saysMain = true
  /// What the handler does on the first attempt.
  var script: [ModelOperation] = []
  /// How many attempts fail, and whether for good.
  var failures = 0
  var failsForGood = false
  /// Whether an asynchronous handler waits for the test to end it, and whether cancellation ends it too.
  var isHeld = false
  var heedsCancellation = false
  /// Whether it is a request, and which form of it.
  var request: Request?

  enum Request: Sendable { case closure, onMain, typed(Int) }
}

/// One step of a sequence. Numbers name what is there by then, modulo how much of it there is.
indirect enum ModelOperation: Sendable {
  case dispatch(DispatchPlan)
  case register(relay: Int, features: [Int], handler: Int, owned: Bool, elsewhere: Bool)
  case cancelRegistration(Int, elsewhere: Bool)
  case unregister(relay: Int, feature: Int, elsewhere: Bool)
  case unregisterHandler(relay: Int, feature: Int, handler: Int)
  case unregisterAll(relay: Int)
  case releaseHandler(Int)
  case releaseOwner(Int)
  case endHeld(Int, HeldBody.End)
  case cancelTag(relay: Int, tag: Int, running: Bool, elsewhere: Bool)
  case cancelCommand(Int, running: Bool)
  case clear(relay: Int, feature: Int?, elsewhere: Bool)
  case closeGate(relay: Int, feature: Int?, reason: Int, elsewhere: Bool)
  case openGate(relay: Int, feature: Int?, reason: Int, elsewhere: Bool)
  case advance(Int)
  case settle(idle: Bool)
  case request(DispatchPlan)
  case cancelRequest(Int)
  case next(Int, feature: Int)
  case pendingCount(relay: Int, feature: Int)
  case reset(relay: Int, elsewhere: Bool)
  case close(relay: Int, elsewhere: Bool)

  /// The name of its kind.
  var kind: String {
    switch self {
    case .dispatch: "dispatch"
    case .register: "register"
    case .cancelRegistration: "cancelRegistration"
    case .unregister: "unregister"
    case .unregisterHandler: "unregisterHandler"
    case .unregisterAll: "unregisterAll"
    case .releaseHandler: "releaseHandler"
    case .releaseOwner: "releaseOwner"
    case .endHeld: "endHeld"
    case .cancelTag: "cancelTag"
    case .cancelCommand: "cancelCommand"
    case .clear: "clear"
    case .closeGate: "closeGate"
    case .openGate: "openGate"
    case .advance: "advance"
    case .settle: "settle"
    case .request: "request"
    case .cancelRequest: "cancelRequest"
    case .next: "next"
    case .pendingCount: "pendingCount"
    case .reset: "reset"
    case .close: "close"
    }
  }

  static let kinds = [
    "dispatch", "register", "cancelRegistration", "unregister", "unregisterHandler",
    "unregisterAll", "releaseHandler", "releaseOwner", "endHeld", "cancelTag", "cancelCommand",
    "clear", "closeGate", "openGate", "advance", "settle", "request", "cancelRequest", "next",
    "pendingCount", "reset", "close",
  ]
}

/// Random sequences.
struct ModelGenerator {
  var random: SeededGenerator
  let relays: Int
  let features: Int

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    relays = 1 + Int(random.next() % 3)
    features = 1 + Int(random.next() % 3)
    self.random = random
  }

  mutating func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
  mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
  mutating func maybe<Value>(_ percent: Int, _ value: (inout Self) -> Value) -> Value? {
    chance(percent) ? value(&self) : nil
  }

  private mutating func relay() -> Int { max(0, relays - 1 - roll(relays + 1) % relays) }
  private mutating func feature() -> Int { min(roll(features), roll(features)) }

  mutating func sequence(_ count: Int) -> [ModelOperation] {
    (0..<count).map { index in
      // Most sequences begin with a handler for everything.
      guard index == 0, chance(70) else { return operation(depth: 0) }
      return .register(
        relay: 0, features: Array(0..<features), handler: 0, owned: chance(60),
        elsewhere: chance(25))
    }
  }

  mutating func operation(depth: Int) -> ModelOperation {
    switch roll(depth == 0 ? 104 : 72) {
    case 0..<34: return .dispatch(plan(depth: depth))
    case 34..<42:
      let features = (0..<self.features).filter { _ in chance(60) }
      return .register(
        relay: relay(), features: features.isEmpty ? [feature()] : features, handler: roll(4),
        owned: chance(25), elsewhere: chance(25))
    case 42..<45: return .cancelRegistration(roll(100), elsewhere: chance(25))
    case 45: return .unregister(relay: relay(), feature: feature(), elsewhere: chance(25))
    case 46: return .unregisterHandler(relay: relay(), feature: feature(), handler: roll(4))
    case 47..<51: return .releaseHandler(roll(4))
    case 51..<53: return .releaseOwner(roll(3))
    case 53..<56:
      return .cancelTag(relay: relay(), tag: roll(3), running: chance(60), elsewhere: chance(25))
    case 56: return .cancelCommand(roll(100), running: chance(50))
    case 57..<59:
      return .clear(relay: relay(), feature: maybe(70) { $0.feature() }, elsewhere: chance(25))
    case 59..<61:
      return .closeGate(
        relay: relay(), feature: maybe(50) { $0.feature() }, reason: roll(2),
        elsewhere: chance(25))
    case 61..<65:
      return .openGate(
        relay: relay(), feature: maybe(50) { $0.feature() }, reason: roll(2),
        elsewhere: chance(25))
    case 65..<68: return .advance([1, 2, 3, 5, 8, 13, 30][roll(7)])
    case 68: return .next(roll(100), feature: feature())
    case 69: return .pendingCount(relay: relay(), feature: feature())
    case 70:
      guard chance(50) else { return .unregisterAll(relay: relay()) }
      return .reset(relay: relay(), elsewhere: chance(25))
    case 71:
      guard chance(15) else { return .advance(1) }
      return .close(relay: relay(), elsewhere: chance(25))
    case 72..<80:
      return .endHeld(roll(100), [.success, .success, .failure, .finalFailure][roll(4)])
    case 80..<84: return .advance([1, 3, 4, 5, 6, 7, 10, 60][roll(8)])
    case 84..<88:
      var plan = plan(depth: 1)
      plan.form = .later
      plan.unique = nil
      plan.isElsewhere = false
      let form = roll(3)
      plan.request = form == 0 ? .closure : form == 1 ? .onMain : .typed([0, 2, 4, 5][roll(4)])
      if form < 2, plan.priority == nil { plan.priority = 1 }
      return .request(plan)
    case 88: return .cancelRequest(roll(100))
    default: return .settle(idle: chance(30))
    }
  }

  private mutating func plan(depth: Int) -> DispatchPlan {
    var plan = DispatchPlan()
    plan.relay = relay()
    plan.feature = feature()
    switch roll(20) {
    case 0..<6: plan.form = .closure
    case 6..<8: plan.form = .owned(roll(3))
    case 8..<14: plan.form = .typed(roll(ModelPolicy.sync.count))
    case 14..<16: plan.form = .later
    case 16: plan.form = .laterOwned(roll(3))
    default: plan.form = .laterTyped(roll(ModelPolicy.later.count))
    }
    plan.priority = maybe(25) { $0.roll(4) }
    switch plan.form {
    case .typed, .laterTyped: break
    default: plan.priority = plan.priority ?? 1
    }
    if chance(25) { plan.tags = (0..<3).filter { _ in chance(45) } }
    plan.timeToLive = maybe(20) { [2, 5, 9, 20][$0.roll(4)] }
    if chance(18) {
      plan.unique =
        chance(50) ? .first(roll(2), window: [4, 60_000][roll(2)]) : .latest(2 + roll(2))
    }
    if plan.form.isAsync { plan.executionLimit = maybe(15) { [3, 9][$0.roll(2)] } }
    plan.isElsewhere = chance(25)
    plan.saysMain = chance(50)
    if chance(25) {
      plan.failures = 1 + roll(3)
      plan.failsForGood = chance(15)
    }
    plan.isHeld = chance(65)
    plan.heedsCancellation = chance(50)
    if depth < 2, chance(depth == 0 ? 45 : 25) {
      plan.script = (0...roll(3)).map { _ in operation(depth: depth + 1) }
    }
    return plan
  }
}
