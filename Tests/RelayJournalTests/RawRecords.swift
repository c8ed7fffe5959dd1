// SPDX-License-Identifier: MIT

@testable import RelayJournal

extension JournalFixture {
  /// A record of any type, as it would lie in the only file.
  func record(_ type: UInt8, sequence: UInt32, body: [UInt8]) -> [UInt8] {
    let name = String(recordsPath.split(separator: "/").last!)
    guard case .records(_, let salt) = FileName(name) else { preconditionFailure(name) }
    var writer = RecordWriter(salt: salt, sequence: sequence)
    body.withUnsafeBytes { writer.write(RecordType(rawValue: type), verbatim: $0) }
    return Array(writer.buffer.bytes)
  }
}

extension [UInt8] {
  /// The same file with the header's checksum made right.
  func withHeaderChecksum() -> [UInt8] {
    var bytes = self
    let crc = bytes.withUnsafeBytes { Checksum.crc32c($0.baseAddress!, 60, seed: 0) }
    for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index))) }
    return bytes
  }
}
