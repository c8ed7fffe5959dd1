// SPDX-License-Identifier: MIT

/// Which command: given to each command that a relay had to keep, and unique within the process; a
/// durable command keeps its id when it is restored after a relaunch.
///
/// A command that was delivered straight away has one only in the events of those who looked.
public struct CommandID: Sendable, Codable {
  /// Set in the sequence number of a durable command.
  static let durableBit: UInt64 = 1 << 63

  /// The relay that accepted the command, or restored it.
  let relay: UInt32
  /// The slot within the relay.
  let slot: UInt32
  /// The place in the slot's slab, the same for as long as the process has the command.
  let index: UInt32
  /// The slot's running number; a durable command's own.
  let sequence: UInt64

  /// Marks the sequence numbers of direct deliveries, which are counted by themselves; a durable
  /// command may have it as well.
  private static let directBit: UInt64 = 1 << 62

  /// The sequence number of a direct delivery: which one in its slot, from 1.
  static func directSequence(_ number: UInt64) -> UInt64 { number | directBit }

  /// Which direct delivery of its slot it is; nil when it is another command's.
  var directNumber: UInt64? { isDirect ? sequence & ~Self.directBit : nil }

  private var isDirect: Bool { sequence & (Self.directBit | Self.durableBit) == Self.directBit }

  init(relay: UInt32, slot: UInt32, index: UInt32, sequence: UInt64) {
    self.relay = relay
    self.slot = slot
    self.index = index
    self.sequence = sequence
  }

  /// Whether it is a durable command's.
  var isDurable: Bool { sequence & Self.durableBit != 0 }
}

extension CommandID: Hashable {
  /// Whether both are of the same command. Where a durable one is kept at the moment says nothing.
  public static func == (left: CommandID, right: CommandID) -> Bool {
    left.sequence == right.sequence
      && (left.isDurable
        || (left.relay, left.slot, left.index) == (right.relay, right.slot, right.index))
  }

  /// Takes in what tells commands apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sequence)
    if !isDurable {
      hasher.combine(relay)
      hasher.combine(slot)
    }
  }
}

extension CommandID: CustomStringConvertible {
  /// The id in the form *relay.feature.number*, with a *d* before the number of a command that was
  /// delivered straight away; a durable command's in the form *run-number*.
  public var description: String {
    if isDurable { return RecordNumber(sequence & ~Self.durableBit).description }
    return directNumber.map { "\(relay).\(slot).d\($0)" } ?? "\(relay).\(slot).\(sequence)"
  }
}
