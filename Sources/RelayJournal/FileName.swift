// SPDX-License-Identifier: MIT

/// What the name of a file in a journal's directory says.
enum FileName: Hashable, Sendable {
  case records(number: UInt64, salt: UInt32)
  /// Like records, found damaged.
  case damaged(number: UInt64, salt: UInt32)
  case new
  case inbox(salt: UInt32)
  case lock
  case quarantine
  /// Not the journal's.
  case other

  init(_ name: String) {
    if name == JournalFormat.lockName {
      self = .lock
    } else if name == JournalFormat.quarantineName {
      self = .quarantine
    } else if name.hasSuffix(JournalFormat.newSuffix) {
      self = FileName.parts(name, JournalFormat.newSuffix) == nil ? .other : .new
    } else if let (number, salt) = FileName.parts(name, JournalFormat.recordsSuffix) {
      self = .records(number: number, salt: salt)
    } else if let (number, salt) = FileName.parts(name, JournalFormat.damagedSuffix) {
      self = .damaged(number: number, salt: salt)
    } else if let (salt, _) = FileName.parts(name, JournalFormat.inboxSuffix, second: 10),
      let salt = UInt32(exactly: salt)
    {
      self = .inbox(salt: salt)
    } else {
      self = .other
    }
  }

  static func records(_ number: UInt64, _ salt: UInt32) -> String {
    hexadecimal(number) + "-" + hexadecimal(UInt64(salt)) + JournalFormat.recordsSuffix
  }

  static func damaged(_ number: UInt64, _ salt: UInt32) -> String {
    hexadecimal(number) + "-" + hexadecimal(UInt64(salt)) + JournalFormat.damagedSuffix
  }

  static func new(_ number: UInt64, _ salt: UInt32) -> String {
    hexadecimal(number) + "-" + hexadecimal(UInt64(salt)) + JournalFormat.newSuffix
  }

  static func inbox(_ salt: UInt32, process: Int32) -> String {
    hexadecimal(UInt64(salt)) + "-\(process)" + JournalFormat.inboxSuffix
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  private static func parts(_ name: String, _ suffix: String, second radix: Int = 16)
    -> (UInt64, UInt32)?
  {
    guard name.hasSuffix(suffix) else { return nil }
    let parts = name.dropLast(suffix.count).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let one = UInt64(parts[0], radix: 16), parts[0].first != "+",
      let other = UInt32(parts[1], radix: radix), parts[1].first != "+"
    else { return nil }
    return (one, other)
  }
}
