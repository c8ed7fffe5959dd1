// SPDX-License-Identifier: MIT

/// The first 64 bytes of a file; drawn in ``JournalFormat``.
struct FileHeader: Hashable, Sendable {
  enum Kind: UInt8 {
    case records, base, inbox
  }

  var version = JournalFormat.version
  var leastVersion = JournalFormat.leastVersion
  var salt: UInt32
  var number: UInt64
  var kind: Kind
  var nextIdentifier: UInt64
  var run: UInt64
  var madeAt: Int64

  func write(to buffer: inout RecordBuffer) {
    let start = buffer.count
    JournalFormat.magic.withUnsafeBytes { buffer.append(raw: $0) }
    buffer.append(fixed: version)
    buffer.append(fixed: leastVersion)
    buffer.append(fixed: salt)
    buffer.append(fixed: number)
    buffer.append(fixed: UInt64(kind.rawValue))
    buffer.append(fixed: nextIdentifier)
    buffer.append(fixed: run)
    buffer.append(fixed: madeAt)
    buffer.append(fixed: UInt32(0))
    let crc = Checksum.crc32c(buffer.start + start, buffer.count - start, seed: 0)
    buffer.append(fixed: crc)
  }
}

extension FileHeader {
  /// What a file's beginning turns out to be.
  enum Reading: Hashable {
    case header(FileHeader)
    /// Cut off before its end, or zeros: no record was ever written after it.
    case unfinished
    case newer(version: Int)
    case damaged
  }

  /// Reads a header.
  ///
  /// - Parameter bytes: the first 64 bytes of the file, or fewer if it has no more.
  static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(JournalFormat.headerSize))
    if bytes.allSatisfy({ $0 == 0 }) { return .unfinished }
    guard bytes.count == JournalFormat.headerSize else {
      return bytes.starts(with: JournalFormat.magic.prefix(bytes.count)) ? .unfinished : .damaged
    }
    guard bytes.starts(with: JournalFormat.magic),
      Checksum.crc32c(bytes.baseAddress!, 60, seed: 0)
        == UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 60, as: UInt32.self))
    else { return .damaged }
    var reader = ByteReader(bytes)
    guard reader.fixed(UInt64.self) != nil, let version = reader.fixed(UInt16.self),
      let least = reader.fixed(UInt16.self)
    else { return .damaged }
    if least > JournalFormat.version { return .newer(version: Int(version)) }
    guard let salt = reader.fixed(UInt32.self), let number = reader.fixed(UInt64.self),
      let kind = reader.fixed(UInt64.self), let nextIdentifier = reader.fixed(UInt64.self),
      let run = reader.fixed(UInt64.self), let madeAt = reader.fixed(Int64.self)
    else { return .damaged }
    guard let kind = Kind(rawValue: UInt8(truncatingIfNeeded: kind)) else {
      return .newer(version: Int(version))
    }
    return .header(
      FileHeader(
        version: version, leastVersion: least, salt: salt, number: number, kind: kind,
        nextIdentifier: nextIdentifier, run: run, madeAt: madeAt))
  }
}
