// SPDX-License-Identifier: MIT

/// How urgent a command is among those that wait for the same feature.
///
/// A higher priority is delivered first; commands of one priority keep the order in which they were
/// accepted. A priority never interrupts a command that runs, and plays no part in a delivery
/// without waiting.
public enum CommandPriority: UInt8, Sendable, Codable, CaseIterable, Comparable {
  /// The first to go when a queue is full.
  case low
  /// The default.
  case normal
  /// Ahead of what is ordinary.
  case high
  /// Ahead of everything else, and the last to be dropped.
  case critical

  /// Whether `left` is the less urgent one.
  public static func < (left: CommandPriority, right: CommandPriority) -> Bool {
    left.rawValue < right.rawValue
  }
}
