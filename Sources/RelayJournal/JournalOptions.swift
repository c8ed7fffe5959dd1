// SPDX-License-Identifier: MIT

/// Bounds of a journal, and who is told.
package struct JournalOptions: Sendable {
  /// Bytes of all files of the journal together; a new entry beyond it is refused as `.full`.
  /// Records that end something are always written.
  package var sizeLimit = 64 << 20
  /// Bytes of one entry's payload.
  package var payloadLimit = 16 << 20
  /// The share of dead bytes, 0 to 1, from which the files are compacted.
  package var deadShare = 0.5
  /// Bytes below which no compaction starts by itself.
  package var compactionFloor = 256 << 10
  /// Whether compaction starts by itself.
  package var compactsByItself = true
  /// How long a call waits for another thread's write before it goes behind.
  package var waitLimit: Duration = .milliseconds(100)
  /// Bytes that may wait for a disk that does not answer; beyond it appends fail as `.behind`.
  package var behindLimit = 8 << 20
  /// How many damaged files are kept, the newest.
  package var quarantineLimit = 3
  /// How often an append looks whether the files are still where they were; `.zero` is each time.
  package var placeCheckInterval: Duration = .seconds(1)
  /// Where new identifiers come from; nil is a counter of the journal's own. What it returns must
  /// never have been used in this journal.
  package var makeIdentifier: (@Sendable () -> UInt64)?
  /// Runs work that nobody waits for. Must not run it before it returns.
  package var schedule: @Sendable (@escaping @Sendable () -> Void) -> Void = Platform.schedule
  /// How long a sync waits, at most, for those who took part in the last one and are likely to come
  /// back; half of what a sync takes, if that is less.
  package var gatheringLimit: Duration = .milliseconds(1)
  /// The time in nanoseconds, by which a sync decides how long it waits for others to join it.
  package var now: @Sendable () -> Int64 = Platform.nanoseconds
  /// Called with each event, on any thread, never under a lock.
  package var onEvent: @Sendable (JournalEvent) -> Void = { _ in }

  /// The standard bounds.
  package init() {}
}

/// What a journal did by itself, or could not do.
package enum JournalEvent: Hashable, Sendable {
  /// A write has not come back within the limit: from now on writing goes behind, in order.
  case stalled
  /// The disk has answered again and everything that waited is written.
  case answered
  /// A write failed and was rolled back; the call that wanted it was told as well.
  case failed(JournalError)
  /// The last file could not be cut back: writing goes on in a new one.
  case rolled
  /// The files were written anew without what is dead.
  case compacted(bytesBefore: Int, bytesAfter: Int)
  /// A damaged file was put aside; so many of its records could not be read, at least.
  case quarantined(file: String, lost: Int)
  /// The files were taken away from outside and have been written again.
  case recreated
}
