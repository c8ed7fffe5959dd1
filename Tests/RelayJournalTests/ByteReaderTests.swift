// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import RelayJournal

struct ByteReaderTests {
  /// Byte by byte, as the format says.
  private func plainly(_ bytes: [UInt8]) -> (number: UInt64, count: Int)? {
    var result: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      let shift = 7 * UInt64(index)
      if shift > 63 || shift == 63 && byte > 1 { return nil }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return (result, index + 1) }
    }
    return nil
  }

  private func read(_ bytes: [UInt8]) -> (number: UInt64, count: Int)? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let number = reader.number() else { return nil }
      return (number, reader.position)
    }
  }

  @Test func numbersOfAllLengthsComeBackWhateverFollowsThem() {
    var numbers: [UInt64] = [0, .max]
    for bit in 0..<64 as Range<UInt64> { numbers += [1 << bit, (1 << bit) - 1, .max >> bit] }
    for number in numbers {
      var buffer = RecordBuffer()
      buffer.append(number)
      let bytes = Array(buffer.bytes)
      for rest in 0..<12 {
        for filler in [0, 0x7F, 0x80, 0xFF] as [UInt8] {
          let found = read(bytes + [UInt8](repeating: filler, count: rest))
          #expect(found?.number == number && found?.count == bytes.count, "\(number), \(rest)")
        }
      }
    }
  }

  @Test func anyBytesAreReadAsTheFormatSays() {
    let seed = UInt64.random(in: 0...(.max))
    print("numbers: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      // Mostly with the top bit, so that many are long.
      let bytes = (0..<Int.random(in: 0...13, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
          | (Int.random(in: 0..<8, using: &generator) == 0 ? 0 : 0x80)
      }
      let (found, expected) = (read(bytes), plainly(bytes))
      #expect(
        found?.number == expected?.number && found?.count == expected?.count,
        "\(bytes), seed \(seed)")
    }
  }
}
