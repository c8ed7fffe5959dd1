// SPDX-License-Identifier: MIT

/// CRC-32C (Castagnoli), sixteen bytes at a time.
///
/// The tables are those of Kounavis and Berry's "slicing-by-8" (2005), twice as many. A processor's own
/// instruction cannot be reached from Swift without flags that packages may not set.
enum Checksum {
  /// Goes on with a checksum over further bytes.
  ///
  /// - Parameter seed: the checksum so far, or a file's salt to begin with.
  @inline(__always)
  static func crc32c(_ bytes: UnsafeRawBufferPointer, seed: UInt32) -> UInt32 {
    guard let start = bytes.baseAddress else { return seed }
    return crc32c(start, bytes.count, seed: seed)
  }

  static func crc32c(_ start: UnsafeRawPointer, _ count: Int, seed: UInt32) -> UInt32 {
    // Safe: the tables are made once and never freed; all indices are single bytes.
    let table = tables
    var crc = ~seed
    var position = start
    var rest = count
    while rest >= 16 {
      // Only the first four bytes wait for the checksum so far.
      let first = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self)) ^ UInt64(crc)
      let second = UInt64(
        littleEndian: position.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      crc = look(up: second, in: table) ^ look(up: first, in: table + 0x800)
      position += 16
      rest -= 16
    }
    if rest & 8 != 0 {
      let word = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self)) ^ UInt64(crc)
      crc = look(up: word, in: table)
      position += 8
    }
    if rest & 4 != 0 {
      let word = UInt32(littleEndian: position.loadUnaligned(as: UInt32.self)) ^ crc
      crc =
        table[0x300 + Int(word & 0xFF)] ^ table[0x200 + Int(word >> 8 & 0xFF)]
        ^ table[0x100 + Int(word >> 16 & 0xFF)] ^ table[Int(word >> 24)]
      position += 4
    }
    if rest & 2 != 0 {
      crc = add(position, to: crc, table)
      position += 2
    }
    if rest & 1 != 0 {
      crc = crc >> 8 ^ table[Int((crc ^ UInt32(position.load(as: UInt8.self))) & 0xFF)]
    }
    return ~crc
  }

  /// The checksums of a record's first 10 bytes and of its first 12.
  @inline(__always)
  static func crc32c(recordHeader start: UnsafeRawPointer, seed: UInt32) -> (
    first10: UInt32, first12: UInt32
  ) {
    let table = tables
    let word = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)) ^ UInt64(~seed)
    let first10 = add(start + 8, to: look(up: word, in: table), table)
    return (~first10, ~add(start + 10, to: first10, table))
  }

  /// Goes on over two bytes.
  @inline(__always)
  private static func add(
    _ start: UnsafeRawPointer, to crc: UInt32, _ table: UnsafePointer<UInt32>
  ) -> UInt32 {
    let word = UInt32(UInt16(littleEndian: start.loadUnaligned(as: UInt16.self))) ^ crc
    return crc >> 16 ^ table[0x100 + Int(word & 0xFF)] ^ table[Int(word >> 8 & 0xFF)]
  }

  /// The checksum's part that eight bytes make, where they are the last of those that the tables
  /// begin with.
  @inline(__always)
  private static func look(up word: UInt64, in table: UnsafePointer<UInt32>) -> UInt32 {
    table[0x700 + Int(word & 0xFF)] ^ table[0x600 + Int(word >> 8 & 0xFF)]
      ^ table[0x500 + Int(word >> 16 & 0xFF)] ^ table[0x400 + Int(word >> 24 & 0xFF)]
      ^ table[0x300 + Int(word >> 32 & 0xFF)] ^ table[0x200 + Int(word >> 40 & 0xFF)]
      ^ table[0x100 + Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
  }

  // Safe: filled before anybody can see it, and only read from then on.
  nonisolated(unsafe) private static let tables: UnsafePointer<UInt32> = {
    let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 16 * 256)
    for byte in 0..<256 {
      var crc = UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
      tables[byte] = crc
    }
    for index in 256..<16 * 256 {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return UnsafePointer(tables)
  }()
}
