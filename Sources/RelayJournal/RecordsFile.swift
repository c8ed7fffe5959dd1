// SPDX-License-Identifier: MIT

/// An open file of records; closed with its last user.
final class RecordsFile: Sendable {
  let number: UInt64
  let salt: UInt32
  let file: OpenFile
  /// Whether something in it could not be read: it is put aside instead of removed.
  let isDamaged: Bool
  private let fileSystem: FileSystem

  init(
    number: UInt64, salt: UInt32, file: OpenFile, isDamaged: Bool = false, fileSystem: FileSystem
  ) {
    self.number = number
    self.salt = salt
    self.file = file
    self.isDamaged = isDamaged
    self.fileSystem = fileSystem
  }

  deinit { fileSystem.close(file) }

  var name: String {
    isDamaged ? FileName.damaged(number, salt) : FileName.records(number, salt)
  }

  /// Reads a whole record that is known to be there.
  func read(at offset: Int, _ count: Int) throws(JournalError) -> [UInt8] {
    var failure: JournalError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = 0
      do throws(JournalError) {
        while filled < count {
          let read = try fileSystem.read(
            file, offset + filled,
            UnsafeMutableRawBufferPointer(
              rebasing: UnsafeMutableRawBufferPointer(buffer)[filled..<count]))
          guard read > 0 else {
            throw JournalError(.inputOutput, operation: "read", file: name)
          }
          filled += read
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }
}
