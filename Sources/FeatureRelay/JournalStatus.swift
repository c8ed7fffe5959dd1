// SPDX-License-Identifier: MIT

/// Something that happened to a relay's journal: what ``RelayEvent/Kind/journal(_:)`` tells.
public enum JournalStatus: Sendable, Hashable, CustomStringConvertible {
  /// It cannot be opened now: commands live in memory, and are written when it can be.
  case unavailable(String)
  /// Another process owns it: commands go to that process by way of an inbox.
  case ownedByAnother
  /// A newer version has written it: it is left alone, and commands live in memory.
  case newer
  /// So many places could not be read; the damaged files were moved aside.
  case damaged(lost: Int)
  /// A write failed: what it was about lives in memory, and is written later. Told at most once a
  /// minute.
  case failed(String)
  /// The disk does not answer: from now on writing goes behind, in order.
  case stalled
  /// The disk has not answered for ``DurableConfiguration/stallLimit``: commands live in memory.
  case memoryOnly
  /// The disk answers again, and what had not been written is.
  case answered
  /// The files were taken away from outside, and have been written again.
  case recreated
  /// So many commands and dead letters were another installation's
  /// (``JournalLocation/ofInstallation(_:)``): they are gone.
  case otherInstallation(dropped: Int)
  /// Commands came back from the journal.
  case restored(Int)
  /// Records have names that nobody declared; they wait for ``Relay/declare(_:)``.
  case parked(Int)
  /// So many dead letters were too many: the oldest are gone.
  case deadLettersDropped(Int)

  /// Whether it is something that a developer should look at.
  var isProblem: Bool {
    switch self {
    case .answered, .restored, .ownedByAnother: false
    default: true
    }
  }

  /// What happened, in a few words.
  public var description: String {
    switch self {
    case .unavailable(let reason): "journal unavailable: \(reason)"
    case .ownedByAnother: "another process owns the journal: writing to an inbox"
    case .newer: "a newer version has written the journal: commands live in memory"
    case .damaged(let lost): "journal damaged: \(lost) records or more could not be read"
    case .failed(let reason): "journal not written, commands live in memory: \(reason)"
    case .stalled: "the disk does not answer: writing goes behind"
    case .memoryOnly: "the disk still does not answer: commands live in memory"
    case .answered: "the journal is written again"
    case .recreated: "the journal's files were gone and have been written again"
    case .otherInstallation(let dropped):
      "\(dropped) commands in the journal were another installation's: dropped"
    case .restored(let count): "restored \(count)"
    case .parked(let count): "\(count) records have names that nobody declared"
    case .deadLettersDropped(let count): "\(count) dead letters dropped: there were too many"
    }
  }
}
