// SPDX-License-Identifier: MIT

import Foundation

/// Lines from the story, a file or standard input, one at a time: what is not needed yet is not
/// read.
struct Input {
  /// The input could not be read.
  struct Failure: Error {
    let message: String
  }

  private var handle: FileHandle?
  private let name: String
  private var splitter = LineSplitter()
  private var lines: ArraySlice<LineSplitter.Line> = []
  private var isAtEnd = false

  init(_ source: Options.Source) throws(Failure) {
    switch source {
    case .story:
      name = "the story"
      // The last line has no line end of its own.
      lines = (splitter.add(Story.text.utf8) + [splitter.finish()].compactMap(\.self))[...]
      isAtEnd = true
    case .standardInput:
      name = "standard input"
      handle = .standardInput
    case .file(let path):
      name = quoted(path, limit: 200)
      do {
        handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      } catch {
        throw Failure(message: "cannot read \(name): \(Self.reason(error))")
      }
    }
  }

  mutating func next() throws(Failure) -> LineSplitter.Line? {
    while lines.isEmpty, !isAtEnd {
      let bytes: [UInt8]?
      do {
        bytes = try handle.map { try readSome(from: $0.fileDescriptor, upTo: 65_536) }
      } catch {
        throw Failure(message: "cannot read \(name): \(Self.reason(error))")
      }
      if let bytes, !bytes.isEmpty {
        lines = splitter.add(bytes)[...]
      } else {
        isAtEnd = true
        if let last = splitter.finish() { lines = [last] }
      }
    }
    return lines.popFirst()
  }

  private static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile?, .fileNoSuchFile?: return "there is no such file"
    case .fileReadNoPermission?: return "it may not be read"
    default: break
    }
    let code = (error as? POSIXError)?.code ?? (error as? CocoaError)?.underlyingPOSIXCode
    return code.map { String(cString: strerror($0.rawValue)).lowercased() }
      ?? error.localizedDescription
  }
}

extension CocoaError {
  fileprivate var underlyingPOSIXCode: POSIXError.Code? {
    (userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code
  }
}

/// One read, which returns what is there: `FileHandle` would wait for more.
private func readSome(from descriptor: Int32, upTo count: Int) throws -> [UInt8] {
  var failure: Int32 = 0
  let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    var result = read(descriptor, buffer.baseAddress, count)
    while result < 0, errno == EINTR { result = read(descriptor, buffer.baseAddress, count) }
    filled = max(result, 0)
    if result < 0 { failure = errno }
  }
  guard failure == 0 else { throw POSIXError(POSIXError.Code(rawValue: failure) ?? .EIO) }
  return bytes
}
