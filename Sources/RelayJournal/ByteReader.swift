// SPDX-License-Identifier: MIT

/// Reads what ``RecordBuffer`` wrote, out of bytes that may hold anything.
///
/// Everything it returns lies within its bytes: what does not fit is nil, and so is all that
/// follows it. Safe as long as the bytes live; it never leaves the call that lent them.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  /// How many bytes have been read.
  private(set) var position = 0

  init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  var rest: Int { bytes.count - position }

  @inline(__always)
  mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  @inline(__always)
  mutating func fixed<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
    guard rest >= MemoryLayout<Number>.size else { return nil }
    defer { position += MemoryLayout<Number>.size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
  }

  @inline(__always)
  mutating func number() -> UInt64? {
    guard position + 9 <= bytes.count else { return shortNumber() }
    let first = bytes.load(fromByteOffset: position, as: UInt8.self)
    if first < 0x80 {
      position += 1
      return UInt64(first)
    }
    // Eight groups of seven bits at once: up to the first byte without its top bit.
    let word = UInt64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    let ends = ~word & 0x8080_8080_8080_8080
    let kept = ends == 0 ? word : word & (ends ^ (ends &- 1))
    var number = kept & 0x007F_007F_007F_007F | (kept & 0x7F00_7F00_7F00_7F00) >> 1
    number = number & 0x0000_3FFF_0000_3FFF | (number & 0x3FFF_0000_3FFF_0000) >> 2
    number = number & 0x0000_0000_0FFF_FFFF | (number & 0x0FFF_FFFF_0000_0000) >> 4
    if ends != 0 {
      position += ends.trailingZeroBitCount >> 3 + 1
      return number
    }
    let last = bytes[position + 8]
    guard last < 0x80 else { return shortNumber() }
    position += 9
    return number | UInt64(last) << 56
  }

  /// A number byte by byte: near the bytes' end, and the longest.
  private mutating func shortNumber() -> UInt64? {
    guard position < bytes.count else { return nil }
    let first = bytes[position]
    position += 1
    if first < 0x80 { return UInt64(first) }
    return longNumber(first)
  }

  private mutating func longNumber(_ first: UInt8) -> UInt64? {
    var result = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if shift == 63, byte > 1 { return nil }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }

  @inline(__always)
  mutating func signed() -> Int64? {
    guard let number = number() else { return nil }
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// A number of 32 bits.
  @inline(__always)
  mutating func version() -> UInt32? { number().flatMap { UInt32(exactly: $0) } }

  /// The range of so many bytes as come after their count.
  @inline(__always)
  mutating func counted() -> Range<Int>? {
    guard let count = number(), count <= UInt64(rest) else { return nil }
    defer { position += Int(count) }
    return position..<position + Int(count)
  }

  mutating func array() -> [UInt8]? {
    guard let range = counted() else { return nil }
    return Array(bytes[range])
  }

  /// Text; bytes that are no UTF-8 become replacement characters.
  mutating func text() -> String? {
    guard let range = counted() else { return nil }
    return String(decoding: bytes[range], as: UTF8.self)
  }
}
