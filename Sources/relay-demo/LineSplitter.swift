// SPDX-License-Identifier: MIT

/// Cuts bytes into lines as they come. It keeps no more of a line than the limit, however long the
/// line is.
struct LineSplitter {
  enum Line: Equatable {
    case text(String)
    case tooLong
    case notUTF8
  }

  /// How many bytes a line may have.
  static let limit = 4_096

  private var line: [UInt8] = []
  private var isTooLong = false
  private var isFirst = true
  private var hasUnfinishedLine = false

  /// Takes bytes in.
  ///
  /// - Returns: the lines that they finish.
  mutating func add(_ bytes: some Sequence<UInt8>) -> [Line] {
    var lines: [Line] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(takeLine())
        continue
      }
      hasUnfinishedLine = true
      // One more for the carriage return of a Windows line end.
      if line.count <= Self.limit { line.append(byte) } else { isTooLong = true }
    }
    return lines
  }

  /// Says that nothing more comes.
  ///
  /// - Returns: the last line, where it had no line end.
  mutating func finish() -> Line? {
    hasUnfinishedLine ? takeLine() : nil
  }

  private mutating func takeLine() -> Line {
    defer {
      line.removeAll(keepingCapacity: true)
      isTooLong = false
      isFirst = false
      hasUnfinishedLine = false
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    if isTooLong || line.count > Self.limit { return .tooLong }
    // Editors on Windows like to begin a file with a byte order mark.
    if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    return String(validating: line, as: UTF8.self).map { .text($0) } ?? .notUTF8
  }
}
