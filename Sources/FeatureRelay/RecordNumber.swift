// SPDX-License-Identifier: MIT

internal import Foundation
internal import RelayJournal
internal import Synchronization

/// The number under which a durable command is written: unique in its journal, also across runs,
/// and made without looking at the disk.
///
/// 41 bits are the milliseconds from the start of 2020 to the process's first number, 22 bits count
/// on from there: a later process starts higher, however many an earlier one used, unless it used
/// four thousand million a second. A clock that was set back makes a later run sort before an
/// earlier one, and nothing worse.
struct RecordNumber: Hashable, Sendable, Comparable {
  private static let counterBits: UInt64 = 22
  private static let last = Atomic<UInt64>(firstOfProcess)

  let value: UInt64

  init(_ value: UInt64) {
    self.value = value
  }

  /// The number that stands for a place in the order of acceptance.
  init(_ place: JournalPlace) {
    value = place.run << Self.counterBits | place.sequence
  }

  /// The next number. Called in the order of acceptance.
  static func next() -> RecordNumber {
    RecordNumber(last.add(1, ordering: .relaxed).newValue)
  }

  /// The place in the order of acceptance that the number stands for.
  var place: JournalPlace {
    JournalPlace(
      run: value >> Self.counterBits, sequence: value & ((1 << Self.counterBits) - 1))
  }

  static func < (left: RecordNumber, right: RecordNumber) -> Bool { left.value < right.value }

  private static var firstOfProcess: UInt64 {
    let since2020 = Date().timeIntervalSince1970 - 1_577_836_800
    let milliseconds = UInt64(min(max(since2020, 0) * 1_000, 0x1FF_FFFF_FFFF))
    return milliseconds << counterBits
  }
}

extension RecordNumber: CustomStringConvertible {
  /// Short enough to be read out.
  var description: String {
    "\(String(place.run, radix: 36))-\(place.sequence)"
  }
}
