// SPDX-License-Identifier: MIT

/// What came of opening a journal. Only `unavailable` and `newer` leave no journal behind, and
/// these two change nothing on disk.
package struct JournalOpening: Sendable {
  /// What was found.
  package let outcome: JournalOutcome
  /// The journal, ready for use, unless the outcome says that there is none.
  package let journal: Journal?
  /// What waits, in the order of acceptance, dead letters included; taken apart when it is read.
  package let recovered: RecoveredEntries

  /// A journal in which nothing waits.
  package static func empty(_ journal: Journal) -> JournalOpening {
    JournalOpening(outcome: .empty, journal: journal, recovered: RecoveredEntries())
  }

  /// The same, all of it taken apart: costs as much as there are, each time.
  package var entries: [RecoveredEntry] { recovered.takenApart }
}

/// Five different answers (empty is not unavailable, damaged is neither).
package enum JournalOutcome: Hashable, Sendable {
  /// Nothing waits: a new journal, or one in which all is done.
  case empty
  /// Everything was read.
  case recovered(entries: Int)
  /// Something could not be read. The damaged files were put aside, and what could be read from
  /// them was written anew. `lost` counts records of any kind, at least.
  case damaged(salvaged: Int, lost: Int)
  /// Written by a later version of the format, which it names. Nothing was touched.
  case newer(version: Int)
  /// It could not be read now. Nothing was touched.
  case unavailable(JournalUnavailability)
}

/// Why a journal cannot be used at the moment.
package enum JournalUnavailability: Hashable, Sendable {
  /// Another journal object owns the directory: in the process with this id, if it is known.
  case locked(process: Int32?)
  /// The system does not permit reading or writing (now: protected data before the first unlock).
  case notPermitted(JournalError)
  /// The disk, or the path, is at fault.
  case failed(JournalError)
}

/// What was found on taking the lock again.
package struct JournalResumption: Sendable {
  /// What was found; as at opening.
  package let outcome: JournalOutcome
  /// Entries that others have added.
  package let added: [RecoveredEntry]
  /// Entries that others have ended.
  package let removed: [UInt64]
}

/// What was found in other processes' inboxes.
package struct JournalAdoption: Sendable {
  /// The entries, which are the journal's own now.
  package let entries: [RecoveredEntry]
  /// Inboxes that could not be taken over now, with the reason; they stay for the next time.
  package let left: [JournalError]
  /// Records that could not be read, at least; their inboxes were put aside.
  package let lost: Int
}
