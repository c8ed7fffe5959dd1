// SPDX-License-Identifier: MIT

/// CRC-32C (Castagnoli), eight bytes at a time.
///
/// The tables are those of Kounavis and Berry's "slicing-by-8" (2005). A processor's own
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
    while rest >= 8 {
      let word =
        UInt64(littleEndian: position.loadUnaligned(as: UInt64.self)) ^ UInt64(crc)
      crc =
        table[0x700 + Int(word & 0xFF)] ^ table[0x600 + Int(word >> 8 & 0xFF)]
        ^ table[0x500 + Int(word >> 16 & 0xFF)] ^ table[0x400 + Int(word >> 24 & 0xFF)]
        ^ table[0x300 + Int(word >> 32 & 0xFF)] ^ table[0x200 + Int(word >> 40 & 0xFF)]
        ^ table[0x100 + Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
      position += 8
      rest -= 8
    }
    while rest > 0 {
      crc = crc >> 8 ^ table[Int((crc ^ UInt32(position.load(as: UInt8.self))) & 0xFF)]
      position += 1
      rest -= 1
    }
    return ~crc
  }

  // Safe: filled before anybody can see it, and only read from then on.
  nonisolated(unsafe) private static let tables: UnsafePointer<UInt32> = {
    let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 8 * 256)
    for byte in 0..<256 {
      var crc = UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
      tables[byte] = crc
    }
    for index in 256..<8 * 256 {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return UnsafePointer(tables)
  }()
}
