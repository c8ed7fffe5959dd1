// SPDX-License-Identifier: MIT

/// The format, byte by byte. All fixed numbers have their least significant byte first.
///
/// A directory:
///
///     owner.lock                   locked by the owner; its process id as text
///     00000001-5f3a21bc.journal    records; files count in the order of their numbers (hexadecimal),
///                                  the second part is the salt
///     00000002-….journal.new       being written; left over if its process died
///     00000001-….damaged           found damaged, read like the others until its records are saved
///     7c0e91d2-4711.inbox          records of another process (salt, process id)
///     quarantine/                  damaged files whose readable records have been saved
///     installation                 whose records these are, as text, where somebody has said so
///
/// A file is a header and then records, one after the other:
///
///      0        8        10       12       16       24   25        32       40       48       56     60     64
///     ┌────────┬────────┬────────┬────────┬────────┬────┬─────────┬────────┬────────┬────────┬──────┬──────┐
///     │ magic  │version │ least  │ salt   │ number │kind│ zeros   │next id │  run   │ time   │zeros │ CRC  │
///     └────────┴────────┴────────┴────────┴────────┴────┴─────────┴────────┴────────┴────────┴──────┴──────┘
///
///     version  of the writer · least: the lowest version that may read and continue the file
///     salt     random; begins all checksums of the file, so that no other file's bytes pass here
///     kind     0 records · 1 base: files with lower numbers are superseded · 2 inbox
///     next id  no lower id may be given out · run: the highest run · time: when it was made
///     CRC      CRC-32C of bytes 0 ..< 60
///
/// A record:
///
///      0        4        8    9    10       12       16
///     ┌────────┬────────┬────┬────┬────────┬────────┬──────────────┐
///     │ length │sequence│type│ 0  │ check  │ CRC    │ body         │
///     └────────┴────────┴────┴────┴────────┴────────┴──────────────┘
///
///     length   of the body · sequence: 1, 2, 3 … within the file; a gap says how many are lost
///     check    the lower half of CRC-32C of bytes 0 ..< 10: is this a record's beginning?
///     CRC      CRC-32C of bytes 0 ..< 12 and the body
///
/// Bodies consist of numbers in groups of seven bits (LEB128, written `n`), of texts and bytes with
/// their count before them, and of single bytes:
///
///     1  entry        flags n · id n · [replaces n] · run n · sequence n · priority byte ·
///                     name n [text] · group n [text] · accepted at n (signed, ms) ·
///                     [time to live n (ms)] · [attempts n · unfinished n] ·
///                     [death: reason byte, at n (signed, ms), text] · [count n · texts: labels] ·
///                     [key bytes · rule bytes] · [origin: salt 4 bytes, id n] ·
///                     [payload version n] · payload: the rest
///     2  started      id n · attempt n
///     3  acknowledged id n
///     4  interrupted  id n
///     5  failed       id n · [run n · sequence n]
///     6  ended        id n · reason byte
///     7  dead         id n · reason byte · at n (signed, ms) · text
///     8  revived      id n
///     9  barrier      empty
///     10 adopted      salt 4 bytes · offset n: the inbox of this salt was taken over up to there
///     11 cut          number n · offset n: what lies in that file from there on was a failed write
///                     that could not be taken away
///
/// Names and groups are numbers within their file. A file is divided into blocks of 64 KiB; the
/// first ``namesPerBlock`` entries of a block that use a name, and each 32nd, carry it in full, so
/// that a damaged record, and a damaged block, leave the others readable.
///
/// What is damaged is passed over byte by byte until a record's beginning, whole, is found.
///
/// Versions. A reader takes a file if the file's *least* is not above its own version; otherwise
/// the journal is *newer* and stays as it is. Record types from 128 on may be passed over by who
/// does not know them, and are copied when files are written anew; an unknown type below 128 makes
/// the journal *newer* as well. What is appended or written anew has the writer's version: a newer
/// build raises *least* only for what an older one would get wrong.
enum JournalFormat {
  static let magic: [UInt8] = [0x89, 0x52, 0x4C, 0x59, 0x4A, 0x0D, 0x0A, 0x1A]
  static let version: UInt16 = 1
  static let leastVersion: UInt16 = 1
  static let headerSize = 64
  static let recordHeaderSize = 16
  /// No body is longer, whatever its length says.
  static let bodyLimit = 64 << 20
  static let blockSize = 64 << 10
  static let namesPerBlock = 4
  static let detailLimit = 256
  /// No file has so many names.
  static let nameLimit = 1 << 20

  static let lockName = "owner.lock"
  static let quarantineName = "quarantine"
  static let installationName = "installation"
  static let recordsSuffix = ".journal"
  static let newSuffix = ".journal.new"
  static let damagedSuffix = ".damaged"
  static let inboxSuffix = ".inbox"
}

/// What a record is.
struct RecordType: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt8

  static let entry = RecordType(rawValue: 1)
  static let started = RecordType(rawValue: 2)
  static let acknowledged = RecordType(rawValue: 3)
  static let interrupted = RecordType(rawValue: 4)
  static let failed = RecordType(rawValue: 5)
  static let ended = RecordType(rawValue: 6)
  static let dead = RecordType(rawValue: 7)
  static let revived = RecordType(rawValue: 8)
  static let barrier = RecordType(rawValue: 9)
  static let adopted = RecordType(rawValue: 10)

  static let cut = RecordType(rawValue: 11)

  var isKnown: Bool { (1...11).contains(rawValue) }
  /// Whether who does not know it may pass it over.
  var mayBeIgnored: Bool { rawValue >= 128 }
}

/// Which of an entry's fields are there.
struct EntryFlags: OptionSet {
  let rawValue: UInt64

  static let replaces = EntryFlags(rawValue: 1 << 0)
  static let name = EntryFlags(rawValue: 1 << 1)
  static let group = EntryFlags(rawValue: 1 << 2)
  static let timeToLive = EntryFlags(rawValue: 1 << 3)
  static let attempts = EntryFlags(rawValue: 1 << 4)
  static let wasStarted = EntryFlags(rawValue: 1 << 5)
  static let payloadVersion = EntryFlags(rawValue: 1 << 6)
  static let death = EntryFlags(rawValue: 1 << 7)
  static let labels = EntryFlags(rawValue: 1 << 8)
  static let key = EntryFlags(rawValue: 1 << 9)
  static let origin = EntryFlags(rawValue: 1 << 10)

  /// Those that say what has happened to it.
  static let stateful: EntryFlags = [.attempts, .wasStarted, .death, .origin]

  /// Those of an entry that has only what nearly all have.
  static let plain: EntryFlags = [.attempts, .wasStarted, .payloadVersion]

  /// Those that need more than to be added to what is there.
  static let eventful: EntryFlags = [.attempts, .wasStarted, .death, .origin, .replaces]

  /// All that this version knows.
  static let known = EntryFlags(rawValue: 1 << 11 - 1)
}
