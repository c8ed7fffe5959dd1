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

  mutating func signed() -> Int64? {
    guard let number = number() else { return nil }
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

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
