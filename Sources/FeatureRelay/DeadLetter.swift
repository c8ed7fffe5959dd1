// SPDX-License-Identifier: MIT

public import Foundation
internal import RelayJournal

/// A durable command that was given up on, and is kept for inspection.
public struct DeadLetter: Sendable, Hashable, Identifiable {
  /// Why a durable command was given up on.
  public enum Reason: UInt8, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// Too many attempts started and never ended: the process died in each.
    case neverEnded = 1
    /// Its handler threw, and its policy had no further attempt for it.
    case failed
    /// It ran for longer than its execution limit, and its policy had no further attempt for it.
    case timedOut
    /// Its payload could not be read.
    case unreadable
    /// Nobody declared its name for as long as it was to live.
    case undeclared

    /// The reason in a few words.
    public var description: String {
      switch self {
      case .neverEnded: "attempts never ended"
      case .failed: "failed"
      case .timedOut: "timed out"
      case .unreadable: "unreadable payload"
      case .undeclared: "undeclared"
      }
    }
  }

  /// The command's id.
  public let id: CommandID
  /// The name of its type: ``DurableCommand/commandName``.
  public let name: String
  /// The feature that it was for.
  public let feature: String
  /// Why it was given up on.
  public let reason: Reason
  /// How often it was tried.
  public let attempts: Int
  /// When it was accepted, in the time that has passed since 1 January 1970.
  public let acceptedAt: Duration
  /// Its priority.
  public let priority: CommandPriority
  /// Its named tags.
  public let tags: [CommandTag]
  /// The version of its type that has written the payload.
  public let version: Int
  /// Its payload as it was written.
  public let payload: Data
}

extension DeadLetter {
  /// The dead letter that a record stands for; nil for one that lives.
  init?(_ recovered: RecoveredEntry) {
    guard let death = recovered.death else { return nil }
    let entry = recovered.entry
    id = CommandID(
      relay: 0, slot: 0, index: 0, sequence: entry.id | CommandID.durableBit)
    name = entry.name
    feature = entry.group
    // Of a reason that a newer version knows this much can be said.
    reason = Reason(rawValue: death.reason) ?? .failed
    attempts = Int(recovered.attempts)
    acceptedAt = .milliseconds(entry.acceptedAt)
    priority = CommandPriority(rawValue: entry.priority) ?? .normal
    tags = entry.labels.map { CommandTag($0) }
    version = Int(entry.payloadVersion)
    payload = Data(entry.payload)
  }

  /// The record's number.
  var number: UInt64 { id.sequence & ~CommandID.durableBit }
}
