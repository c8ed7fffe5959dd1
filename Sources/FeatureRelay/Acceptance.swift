// SPDX-License-Identifier: MIT

/// What became of a command by the time `dispatch` returned.
///
/// It can be ignored: a relay tells everything that happens later by its events.
public struct Acceptance: Sendable, Hashable {
  /// What happened to the command.
  public enum Outcome: Sendable, Hashable, CustomStringConvertible {
    /// Its handler has run.
    case delivered
    /// Its handler has thrown, and there is no further attempt.
    case failed
    /// It will be delivered later: when there is a handler, a gate opens, its turn comes or the
    /// main actor is free.
    case waiting
    /// It was accepted and has ended already for another reason, for example by a `reset()` in a
    /// handler before it.
    case dropped(DropReason)
    /// It was not accepted.
    case refused(RefusalReason)

    /// The outcome in a few words.
    public var description: String {
      switch self {
      case .delivered: "delivered"
      case .failed: "failed"
      case .waiting: "waiting"
      case .dropped(let reason): "dropped (\(reason))"
      case .refused(let reason): "refused (\(reason))"
      }
    }
  }

  /// What happened to the command.
  public let outcome: Outcome
  /// The command's id where the relay kept it; nil after a delivery without waiting, and for what
  /// was refused.
  public let id: CommandID?
  /// What the command was safe from when `dispatch` returned; see
  /// ``Relay/waitUntilPersisted(_:)``.
  public let durability: Durability

  @inlinable @inline(__always)
  init(outcome: Outcome, id: CommandID? = nil, durability: Durability = .inMemory) {
    self.outcome = outcome
    self.id = id
    self.durability = durability
  }

  /// Whether the relay took the command.
  public var isAccepted: Bool {
    if case .refused = outcome { false } else { true }
  }
}

/// What a command survives while it waits.
public enum Durability: UInt8, Sendable, Codable, Comparable, CaseIterable {
  /// It lives and dies with the process.
  case inMemory
  /// The operating system has it: it survives the process.
  case survivesProcessDeath
  /// The medium has it: it survives a loss of power.
  case survivesPowerLoss

  /// Whether `left` survives less.
  public static func < (left: Durability, right: Durability) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension Acceptance.Outcome {
  /// What a command's status is called by the time `dispatch` returns.
  init(_ status: CommandStatus?) {
    self =
      switch status {
      case .delivered: .delivered
      case .dropped(.failed): .failed
      case .dropped(let reason): .dropped(reason)
      // Forgotten means that more than a thousand others ended after it, within this call.
      case .waiting, .running: .waiting
      case nil: .delivered
      }
  }
}
