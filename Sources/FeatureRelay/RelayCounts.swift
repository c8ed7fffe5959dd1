// SPDX-License-Identifier: MIT

/// What happened to the commands of a relay, or of one feature in it.
///
/// At any instant ``offered`` is ``accepted`` and what was refused; ``accepted``, ``restored`` and
/// ``revived`` together are ``delivered``, ``waiting``, ``running`` and what was dropped.
public struct RelayCounts: Hashable, Sendable, Codable {
  /// Accepted commands.
  public internal(set) var accepted: UInt64 = 0
  /// Commands whose handler ended without error.
  public internal(set) var delivered: UInt64 = 0
  /// Commands that wait now.
  public internal(set) var waiting: UInt64 = 0
  /// Commands that run now.
  public internal(set) var running: UInt64 = 0
  /// Commands refused since the queue was full.
  public internal(set) var refusedFull: UInt64 = 0
  /// Commands refused as duplicates.
  public internal(set) var refusedDuplicate: UInt64 = 0
  /// Commands refused since they could not be encoded.
  public internal(set) var refusedEncoding: UInt64 = 0
  /// Commands refused since the relay was closed.
  public internal(set) var refusedClosed: UInt64 = 0
  /// Durable commands that came back from the journal.
  public internal(set) var restored: UInt64 = 0
  /// Dead letters that were given another chance.
  public internal(set) var revived: UInt64 = 0
  /// Further attempts after a failure; they are attempts of commands that are counted once.
  public internal(set) var retried: UInt64 = 0
  private var droppedByReason: [UInt64] = []

  /// Makes the counts of a relay that nobody has used: where a sum starts.
  public init() {}

  /// Every command that was dispatched.
  public var offered: UInt64 {
    accepted + refusedFull + refusedDuplicate + refusedEncoding + refusedClosed
  }

  /// Commands that ended undelivered, for whatever reason.
  public var dropped: UInt64 { droppedByReason.reduce(0, +) }

  /// Commands that ended undelivered for the given reason.
  public func dropped(_ reason: DropReason) -> UInt64 {
    droppedByReason.isEmpty ? 0 : droppedByReason[Int(reason.rawValue)]
  }

  @inline(__always)
  mutating func addDropped(_ reason: DropReason, _ count: UInt64 = 1) {
    if droppedByReason.isEmpty {
      droppedByReason = Array(repeating: 0, count: DropReason.allCases.count + 1)
    }
    droppedByReason[Int(reason.rawValue)] += count
  }

  mutating func addRefused(_ reason: RefusalReason) {
    switch reason {
    case .full: refusedFull += 1
    case .duplicate: refusedDuplicate += 1
    case .encoding: refusedEncoding += 1
    case .closed: refusedClosed += 1
    }
  }

  /// The sum of both.
  public static func + (left: RelayCounts, right: RelayCounts) -> RelayCounts {
    var sum = left
    sum.accepted += right.accepted
    sum.delivered += right.delivered
    sum.waiting += right.waiting
    sum.running += right.running
    sum.refusedFull += right.refusedFull
    sum.refusedDuplicate += right.refusedDuplicate
    sum.refusedEncoding += right.refusedEncoding
    sum.refusedClosed += right.refusedClosed
    sum.retried += right.retried
    sum.restored += right.restored
    sum.revived += right.revived
    if left.droppedByReason.isEmpty {
      sum.droppedByReason = right.droppedByReason
    } else if !right.droppedByReason.isEmpty {
      sum.droppedByReason = zip(left.droppedByReason, right.droppedByReason).map(+)
    }
    return sum
  }

  /// Whether every command is accounted for.
  public var isBalanced: Bool {
    accepted + restored + revived == delivered + waiting + running + dropped
  }
}
