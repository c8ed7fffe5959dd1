// SPDX-License-Identifier: MIT

/// Why an accepted command ended without having been delivered.
public enum DropReason: UInt8, Sendable, Codable, CaseIterable, CustomStringConvertible {
  /// A full queue made room for a newer command.
  case overflow = 1
  /// It waited for its time to live.
  case expired
  /// It was cancelled, by tag or by the task that asked.
  case cancelled
  /// ``Relay/clearQueue(_:)`` removed it.
  case cleared
  /// Its handler threw and the retry policy had no further attempt for it.
  case failed
  /// It ran for longer than its execution limit.
  case timedOut
  /// A newer command with the same key took its place.
  case coalesced
  /// Its owner was gone when it would have been delivered.
  case ownerGone
  /// It was given up on and kept as a dead letter.
  case dead
  /// ``Relay/reset()`` removed it.
  case reset
  /// Its relay was closed.
  case closed

  /// The reason in a word or two.
  public var description: String {
    switch self {
    case .timedOut: "timed out"
    case .ownerGone: "owner gone"
    case .overflow: "overflow"
    case .expired: "expired"
    case .cancelled: "cancelled"
    case .cleared: "cleared"
    case .failed: "failed"
    case .coalesced: "coalesced"
    case .dead: "dead"
    case .reset: "reset"
    case .closed: "closed"
    }
  }
}

/// Why a command was not accepted.
public enum RefusalReason: Hashable, Sendable, CustomStringConvertible {
  /// The queue is at its limit and nothing in it may go for this command.
  case full
  /// A command with the same key waits, runs or was delivered a short time ago.
  case duplicate(of: CommandID)
  /// The command cannot be written down.
  case encoding
  /// The relay is closed.
  case closed

  /// The reason in a few words.
  public var description: String {
    switch self {
    case .full: "full"
    case .duplicate(let id): "duplicate of \(id)"
    case .encoding: "cannot be encoded"
    case .closed: "closed"
    }
  }
}
