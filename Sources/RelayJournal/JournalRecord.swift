// SPDX-License-Identifier: MIT

/// What can be written down. One append may hold many; they are written in order, by one call.
package enum JournalRecord: Hashable, Sendable {
  /// A new entry. An id that is there already is taken over by the newer record.
  case accepted(JournalEntry)
  /// A new entry and its first attempt, in one record.
  case acceptedAndStarted(JournalEntry)
  /// An attempt begins; its number counts from 1.
  case started(UInt64, attempt: UInt32)
  /// It is done: the entry is gone.
  case acknowledged(UInt64)
  /// The attempt was cut short by a suspension or a close; it does not count.
  case interrupted(UInt64)
  /// The attempt ended with an error and the entry waits again, at a new place if there is one.
  case failed(UInt64, place: JournalPlace?)
  /// The entry ended undelivered (cancelled, expired, evicted …): it is gone. The reason is the
  /// layer above's number.
  case ended(UInt64, reason: UInt8)
  /// Given up on, and kept as a dead letter.
  case dead(UInt64, JournalDeath)
  /// A dead letter waits again, with no attempts counted.
  case revived(UInt64)
  /// Everything before this is gone, dead letters too.
  case barrier
}
