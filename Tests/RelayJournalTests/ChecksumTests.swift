// SPDX-License-Identifier: MIT

import Testing

@testable import RelayJournal

struct ChecksumTests {
  @Test func publishedValuesOfCRC32C() {
    // RFC 3720, B.4, and the check value of the catalogue of parametrised CRC algorithms.
    let cases: [([UInt8], UInt32)] = [
      (Array("123456789".utf8), 0xE306_9283), ([], 0),
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
      ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      (Array(0..<32), 0x46DD_794E), (Array((0..<32).reversed()), 0x113F_DB5C),
    ]
    for (bytes, crc) in cases {
      #expect(bytes.withUnsafeBytes { Checksum.crc32c($0, seed: 0) } == crc)
    }
  }

  @Test func allLengthsGiveWhatBitByBitGives() {
    let bytes = (0..<100).map { UInt8($0 * 31 & 0xFF) }
    for count in 0...100 {
      var crc: UInt32 = 0xFFFF_FFFF
      for byte in bytes.prefix(count) {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
      }
      #expect(bytes.prefix(count).withUnsafeBytes { Checksum.crc32c($0, seed: 0) } == ~crc)
    }
    bytes.withUnsafeBytes { bytes in
      let start = bytes.baseAddress!
      let (first10, first12) = Checksum.crc32c(recordHeader: start, seed: 7)
      #expect(first10 == Checksum.crc32c(start, 10, seed: 7))
      #expect(first12 == Checksum.crc32c(start, 12, seed: 7))
    }
  }

  @Test func piecesGiveTheSameAsTheWhole() {
    let bytes = (0..<100).map { UInt8($0 * 7 & 0xFF) }
    bytes.withUnsafeBytes { whole in
      let crc = Checksum.crc32c(whole, seed: 5)
      for cut in 0...100 {
        let first = Checksum.crc32c(UnsafeRawBufferPointer(rebasing: whole[..<cut]), seed: 5)
        #expect(
          Checksum.crc32c(UnsafeRawBufferPointer(rebasing: whole[cut...]), seed: first) == crc)
      }
    }
  }
}
