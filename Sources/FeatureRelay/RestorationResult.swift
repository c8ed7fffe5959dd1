// SPDX-License-Identifier: MIT

/// What ``Relay/restore()`` found: four answers that are never mixed up.
public enum RestorationResult: Sendable, Hashable, CustomStringConvertible {
  /// Nothing was there to be restored.
  case empty
  /// So many commands are back; those that are parked under unknown names do not count.
  case restored(Int)
  /// The journal could not be read now: it is untouched, and the next call tries again.
  case unavailable(String)
  /// A part of the journal was unreadable. What could be read is back; the rest was moved aside.
  ///
  /// - `salvaged`: how many commands are back.
  /// - `lost`: in how many places something could not be read.
  case damaged(salvaged: Int, lost: Int)
  /// A newer version of the library has written it: it is untouched, and nothing is written to it.
  case newer

  /// How many commands are back.
  public var count: Int {
    switch self {
    case .restored(let count), .damaged(let count, _): count
    case .empty, .unavailable, .newer: 0
    }
  }

  /// The result in a few words.
  public var description: String {
    switch self {
    case .empty: "empty"
    case .restored(let count): "restored \(count)"
    case .unavailable(let reason): "unavailable: \(reason)"
    case .damaged(let salvaged, let lost): "damaged: \(salvaged) salvaged, \(lost) lost"
    case .newer: "written by a newer version"
    }
  }
}
