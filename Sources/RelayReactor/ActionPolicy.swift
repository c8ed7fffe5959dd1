// SPDX-License-Identifier: MIT

/// What happens to an action of a reactor when others of the same id are under way, and how long it
/// is held back.
///
/// ```swift
/// func policy(for action: Action) -> ActionPolicy {
///   switch action {
///   case .queryChanged: .latestWins("search").debounced(for: .milliseconds(300))
///   case .loadMore: .firstWins
///   case .toggle: .serial
///   default: .concurrent
///   }
/// }
/// ```
///
/// A policy without an id goes by the action's case (``ActionID/init(caseOf:)``).
public struct ActionPolicy: Hashable, Sendable {
  enum Rule: Hashable, Sendable {
    case concurrent, serial, latestWins, firstWins
  }

  enum Timing: Hashable, Sendable {
    case debounce(Duration)
    case throttle(Duration, keepsLatest: Bool)
  }

  /// How many may wait behind a serial action that runs, unless a policy says otherwise.
  public static let standardWaitingLimit = 65_536

  /// The id; nil stands for the name of the action's case.
  public var id: ActionID?
  let rule: Rule
  var timing: Timing?
  let waitingLimit: Int

  init(_ rule: Rule, id: ActionID?, waitingLimit: Int = standardWaitingLimit) {
    if waitingLimit < 0 { mistake("ActionPolicy: a waiting limit of \(waitingLimit) is negative.") }
    self.id = id
    self.rule = rule
    self.waitingLimit = waitingLimit
  }

  /// Whether it only says what is true of any action: start at once, beside whatever else runs.
  var isPlain: Bool { rule == .concurrent && timing == nil }
}

// MARK: What happens when others are under way

extension ActionPolicy {
  /// Starts at once, beside whatever else runs.
  public static let concurrent = ActionPolicy(.concurrent, id: nil)

  /// Waits until everything of its id that was sent before has ended. An action that waits for the
  /// end of another one of its own id waits for ever.
  public static let serial = ActionPolicy(.serial, id: nil)

  /// Replaces everything of its id that was sent before: what waits does not start, what runs is
  /// cancelled, and what that still writes into the reactor's state has no effect.
  public static let latestWins = ActionPolicy(.latestWins, id: nil)

  /// Starts only if nothing of its id runs or waits; otherwise it is ignored.
  public static let firstWins = ActionPolicy(.firstWins, id: nil)

  /// Starts at once, beside whatever else runs, under the given id.
  public static func concurrent(_ id: ActionID) -> ActionPolicy {
    ActionPolicy(.concurrent, id: id)
  }

  /// Waits until everything of its id that was sent before has ended.
  ///
  /// - Parameters:
  ///   - id: the id; nil stands for the name of the action's case.
  ///   - waitingLimit: how many may wait; further ones are refused.
  public static func serial(
    _ id: ActionID?, waitingLimit: Int = standardWaitingLimit
  ) -> ActionPolicy {
    ActionPolicy(.serial, id: id, waitingLimit: waitingLimit)
  }

  /// Replaces everything of its id that was sent before: what waits does not start, what runs is
  /// cancelled, and what that still writes into the reactor's state has no effect.
  public static func latestWins(_ id: ActionID) -> ActionPolicy {
    ActionPolicy(.latestWins, id: id)
  }

  /// Starts only if nothing of its id runs or waits; otherwise it is ignored.
  public static func firstWins(_ id: ActionID) -> ActionPolicy {
    ActionPolicy(.firstWins, id: id)
  }
}

// MARK: How long an action is held back

extension ActionPolicy {
  /// The same policy for an action that is held back until nothing of its id has been sent for the
  /// given time of the reactor's clock; only the last one goes on.
  public func debounced(for duration: Duration) -> ActionPolicy {
    timed(duration, .debounce(duration))
  }

  /// The same policy for actions of which one goes on in the given time of the reactor's clock.
  ///
  /// The first one goes on at once. The last one of those that come too early goes on when the time
  /// is over, or none of them.
  ///
  /// - Parameters:
  ///   - duration: the least time from one to the next.
  ///   - keepingLatest: whether the last one of those that come too early is kept.
  public func throttled(to duration: Duration, keepingLatest: Bool = true) -> ActionPolicy {
    timed(duration, .throttle(duration, keepsLatest: keepingLatest))
  }

  private func timed(_ duration: Duration, _ timing: Timing) -> ActionPolicy {
    if duration < .zero { mistake("ActionPolicy: a time of \(duration) is negative.") }
    var policy = self
    policy.timing = timing
    return policy
  }
}
