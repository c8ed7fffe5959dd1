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
