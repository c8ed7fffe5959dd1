// SPDX-License-Identifier: MIT

/// How long one turn of the main actor may go on delivering: 256 commands or 2 ms of the relay's
/// clock. Deliveries within somebody's call have no bound, since that call has to see them done.
struct DrainBudget {
  static let commands = 256
  static let nanoseconds: Int64 = 2_000_000

  let isInline: Bool
  /// Whether this is the turn of a task, in which an asynchronous command may start.
  var startsAsync = false
  /// Whether a command had to be left to a later turn.
  private(set) var isSpent = false
  private var commands = DrainBudget.commands
  private let until: Int64
  private var clock: DrainClock

  static func inline(_ clock: RelayClock) -> DrainBudget { DrainBudget(isInline: true, clock) }
  static func turn(_ clock: RelayClock) -> DrainBudget { DrainBudget(isInline: false, clock) }

  private init(isInline: Bool, _ clock: RelayClock) {
    self.isInline = isInline
    self.clock = DrainClock(clock)
    until = self.clock.exact.saturatingAdd(Self.nanoseconds)
  }

  /// A time that has not passed yet, or just has.
  var latest: Int64 { clock.latest }

  /// Whether the cheap clock is as good as the exact one: not the system's.
  @inline(__always)
  var isExact: Bool { clock.isExact }

  /// What ``coarse`` stays below as long as it is certain that a time has not come.
  func coarseLimit(before time: Int64) -> Int64 { clock.coarseLimit(before: time) }

  /// The cheap clock's time.
  @inline(__always)
  var coarse: Int64 { clock.coarseNow }

  /// The exact time.
  mutating func exactTime() -> Int64 { clock.read() }

  /// Takes one command off the budget; false when there is none left.
  @inline(__always)
  mutating func takeOne() -> Bool {
    isInline || takeOneOfTurn()
  }

  private mutating func takeOneOfTurn() -> Bool {
    guard commands > 0 else {
      isSpent = true
      return false
    }
    commands -= 1
    // There always is time for the first one.
    if commands == Self.commands - 1 { return true }
    // The coarse clock ticks more slowly than the budget lasts: ask the exact one now and then.
    let time = commands % 8 == 7 || clock.isExact ? clock.read() : clock.exact
    isSpent = time >= until
    return !isSpent
  }
}

/// The time within one run of deliveries: the exact clock is read once, then a cheap one rules out
/// what it can.
struct DrainClock {
  private let clock: RelayClock
  private(set) var exact: Int64
  private var coarse: Int64

  init(_ clock: RelayClock) {
    self.clock = clock
    // In this order: what passes between the two makes ``latest`` later, not earlier.
    coarse = clock.coarse
    exact = clock.now
  }

  /// Whether the cheap clock is the exact one.
  var isExact: Bool { clock.coarseTolerance == 0 }

  var latest: Int64 {
    exact.saturatingAdd(clock.coarse &- coarse).saturatingAdd(clock.coarseTolerance)
  }

  /// ``latest`` is below a time exactly as long as the cheap clock is below this.
  func coarseLimit(before time: Int64) -> Int64 {
    let (distance, overflow) = time.subtractingReportingOverflow(exact)
    if overflow { return time < 0 ? .min : .max }
    return distance < clock.coarseTolerance
      ? .min : (distance &- clock.coarseTolerance).saturatingAdd(coarse)
  }

  @inline(__always)
  var coarseNow: Int64 { clock.coarse }

  mutating func read() -> Int64 {
    coarse = clock.coarse
    exact = clock.now
    return exact
  }
}
