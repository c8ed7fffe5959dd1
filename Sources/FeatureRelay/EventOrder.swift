// SPDX-License-Identifier: MIT

internal import Synchronization

/// The one order of a relay's events, and who may hand them out: one word, the number of the last
/// event over four flags.
///
/// Whoever takes the token hands out events, alone, until it is given back. In the usual case, with
/// nothing left from before, one exchange takes the token together with the numbers of new events,
/// and one gives it back.
struct EventOrder: ~Copyable {
  private static let held: UInt64 = 1
  private static let pending: UInt64 = 2
  private static let finished: UInt64 = 4
  private static let wanted: UInt64 = 8
  private static let flags: UInt64 = 15
  private static let one: UInt64 = 16

  private let word = Atomic<UInt64>(0)

  /// The token, and the events that its holder may number himself.
  struct Claim {
    /// The number before the first of them.
    let number: UInt64
    fileprivate let word: UInt64
  }

  /// The number of the last event.
  var last: UInt64 { word.load(ordering: .acquiring) / Self.one }

  /// Whether there is something that the holder of the token has to look after.
  var isPending: Bool { word.load(ordering: .acquiring) & Self.pending != 0 }

  /// Takes the token and so many numbers; nil when somebody has it, when something is pending, or
  /// when it is not so that nothing has been numbered since `isStill` was asked.
  ///
  /// - Parameter isStill: the condition; receives the number before the first one.
  @inline(__always)
  func claim(_ count: UInt64, if isStill: (UInt64) -> Bool) -> Claim? {
    let now = word.load(ordering: .acquiring)
    guard now & (Self.flags & ~Self.wanted) == 0, isStill(now / Self.one) else { return nil }
    let claimed = (now &+ count &* Self.one) | Self.held
    guard
      word.compareExchange(
        expected: now, desired: claimed, ordering: .acquiringAndReleasing
      ).exchanged
    else { return nil }
    // Where somebody waits this is not what the word will be: the token stays, and he is woken.
    return Claim(number: now / Self.one, word: claimed & ~Self.wanted)
  }

  /// Gives the token back; false when something has come up meanwhile, and the token is still the
  /// caller's.
  @inline(__always)
  func release(_ claim: Claim) -> Bool {
    word.compareExchange(
      expected: claim.word, desired: claim.word & ~Self.held, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Takes the token, unless somebody has it.
  func take() -> Bool {
    word.bitwiseOr(Self.held, ordering: .acquiringAndReleasing).oldValue & Self.held == 0
  }

  /// Gives back the token with nothing left. Under the lock under which things become pending.
  func releaseIdle() {
    word.bitwiseAnd(~(Self.held | Self.pending), ordering: .acquiringAndReleasing)
  }

  /// The next number, for an event that is handed out later.
  ///
  /// - Parameter isPending: false for one that nobody is to see.
  func next(isPending: Bool) -> UInt64 {
    let flag = isPending ? Self.pending : 0
    var now = word.load(ordering: .relaxed)
    while true {
      let (exchanged, original) = word.weakCompareExchange(
        expected: now, desired: (now &+ Self.one) | flag, ordering: .acquiringAndReleasing)
      if exchanged { return original / Self.one + 1 }
      now = original
    }
  }

  /// Says that there is something for the holder of the token.
  func setPending() {
    word.bitwiseOr(Self.pending, ordering: .acquiringAndReleasing)
  }

  /// Says that somebody waits for an event: whoever hands out the next one wakes him.
  func setWanted() {
    word.bitwiseOr(Self.wanted, ordering: .acquiringAndReleasing)
  }

  /// Whether somebody waits, who is looked after now. For the holder of the token.
  ///
  /// Always an exchange: who says that he waits after it sees what the holder has stored before.
  func takeWanted() -> Bool {
    word.bitwiseAnd(~Self.wanted, ordering: .acquiringAndReleasing).oldValue & Self.wanted != 0
  }

  /// From now on nobody numbers events himself.
  func finish() {
    word.bitwiseOr(Self.pending | Self.finished, ordering: .acquiringAndReleasing)
  }

  /// Whoever claims after this sees what was stored before it, and whoever claimed before it has
  /// stored what is read after it.
  func fence() {
    word.add(0, ordering: .acquiringAndReleasing)
  }
}
