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
///
/// Safe: raw memory, since each entry of an array would be checked twice, for its bounds and for
/// who else has the array. A place is the number of an end, held below the room that there is; the
/// tests under the address sanitizer would notice one that is not.
struct CommandEnds: ~Copyable {
  static let remembered = 1_024
  private static let delivered = UInt8.max
  private static let smallest = 16

  private var sequences: UnsafeMutablePointer<UInt64>?
  /// Behind the sequence numbers, in the same memory.
  private var reasons: UnsafeMutablePointer<UInt8>?
  /// How many have ended.
  private var count = 0
  /// The number of ends at which there has to be more room; never once there is all of it.
  private var full = 0

  deinit { sequences?.deallocate() }

  @inline(__always)
  mutating func append(_ sequence: UInt64, _ reason: DropReason?) {
    if count == full { grow() }
    let place = count & (Self.remembered - 1)
    sequences.unsafelyUnwrapped[place] = sequence
    reasons.unsafelyUnwrapped[place] = reason?.rawValue ?? Self.delivered
    count &+= 1
  }

  @inline(never)
  private mutating func grow() {
    let room = max(Self.smallest, 4 * count)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: room * (MemoryLayout<UInt64>.size + 1), alignment: MemoryLayout<UInt64>.alignment)
    let newSequences = memory.bindMemory(to: UInt64.self, capacity: room)
    let newReasons = UnsafeMutableRawPointer(newSequences + room)
      .bindMemory(to: UInt8.self, capacity: room)
    if let sequences, let reasons {
      newSequences.initialize(from: sequences, count: count)
      newReasons.initialize(from: reasons, count: count)
      sequences.deallocate()
    }
    sequences = newSequences
    reasons = newReasons
    full = room == Self.remembered ? -1 : room
  }

  /// The end of a command, if it is remembered. The newest are found first.
  func status(_ sequence: UInt64) -> CommandStatus? {
    for distance in 0..<min(count, Self.remembered) {
      let place = (count - 1 - distance) & (Self.remembered - 1)
      guard sequences![place] == sequence else { continue }
      return DropReason(rawValue: reasons![place]).map { .dropped($0) } ?? .delivered
    }
    return nil
  }
}
