// SPDX-License-Identifier: MIT

/// Where a command is in its life.
public enum CommandStatus: Hashable, Sendable, CustomStringConvertible {
  /// It waits for its delivery, or for its next attempt.
  case waiting
  /// Its handler runs.
  case running
  /// Its handler has ended without error.
  case delivered
  /// It ended without having been delivered.
  case dropped(DropReason)

  /// Whether nothing more will happen to the command.
  public var isFinal: Bool {
    switch self {
    case .waiting, .running: false
    case .delivered, .dropped: true
    }
  }

  /// The status in a word or two.
  public var description: String {
    switch self {
    case .waiting: "waiting"
    case .running: "running"
    case .delivered: "delivered"
    case .dropped(let reason): "dropped (\(reason))"
    }
  }
}

/// How the last commands of a slot ended: a ring of the last 1,024.
struct CommandEnds {
  static let remembered = 1_024

  private var ends: [(sequence: UInt64, reason: DropReason?)] = []
  private var oldest = 0

  @inline(__always)
  mutating func append(_ sequence: UInt64, _ reason: DropReason?) {
    if ends.count < Self.remembered {
      ends.append((sequence, reason))
    } else {
      ends[oldest] = (sequence, reason)
      oldest = oldest + 1 == Self.remembered ? 0 : oldest + 1
    }
  }

  /// The end of a command, if it is remembered. The newest are found first.
  func status(_ sequence: UInt64) -> CommandStatus? {
    for range in [(0..<oldest), (oldest..<ends.count)] {
      for end in ends[range].reversed() where end.sequence == sequence {
        return end.reason.map { .dropped($0) } ?? .delivered
      }
    }
    return nil
  }
}
