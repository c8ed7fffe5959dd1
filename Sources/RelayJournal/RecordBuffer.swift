// SPDX-License-Identifier: MIT

/// Bytes to be written, in memory that is kept for the next write.
///
/// Safe: `grow` makes room before each write, and the memory is freed with its only owner. The
/// address sanitizer over the format's tests would notice a byte too many.
struct RecordBuffer: ~Copyable {
  private(set) var start: UnsafeMutableRawPointer
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 512) {
    self.capacity = capacity
    start = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { start.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// Forgets the bytes; large memory is given back.
  mutating func removeAll() {
    count = 0
    guard capacity > 1 << 20 else { return }
    start.deallocate()
    capacity = 512
    start = .allocate(byteCount: capacity, alignment: 8)
  }

  mutating func removeLast(to count: Int) { self.count = count }

  @inline(__always)
  mutating func grow(_ extra: Int) {
    if count + extra > capacity { enlarge(extra) }
  }

  private mutating func enlarge(_ extra: Int) {
    let larger = max(capacity * 2, count + extra)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    memory.copyMemory(from: start, byteCount: count)
    start.deallocate()
    start = memory
    capacity = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    grow(1)
    start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// A number in its own width, the least significant byte first.
  @inline(__always)
  mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(fixed number: Number) {
    grow(MemoryLayout<Number>.size)
    start.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
    count += MemoryLayout<Number>.size
  }

  /// A number in as many groups of seven bits as it needs, the least significant first; the top
  /// bit of a byte says that more follow (LEB128).
  @inline(__always)
  mutating func append(_ number: UInt64) {
    grow(10)
    var rest = number
    while rest >= 0x80 {
      start.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      count += 1
      rest >>= 7
    }
    start.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// A number that may be negative: its sign goes to the lowest bit.
  mutating func append(signed number: Int64) {
    append(UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  mutating func append(raw bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    grow(bytes.count)
    (start + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Bytes with their count before them.
  mutating func append(counted bytes: [UInt8]) {
    append(UInt64(bytes.count))
    bytes.withUnsafeBytes { append(raw: $0) }
  }

  /// Text in UTF-8 with its count of bytes before it.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 {
      append(UInt64($0.count))
      append(raw: UnsafeRawBufferPointer($0))
    }
  }

  @inline(__always)
  func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    start.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
