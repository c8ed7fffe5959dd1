// SPDX-License-Identifier: MIT

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif os(Windows)
  internal import ucrt
#else
  #error("RelayReactor does not know this platform: add its standard error here.")
#endif

/// Everything that differs from one platform to the other.
enum Platform {
  /// Writes a line to standard error in one call, so that lines of several threads do not mix.
  static func writeToStandardError(_ line: String) {
    var bytes = Array(line.utf8)
    bytes.append(10)
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        #if os(Windows)
          let count = Int(_write(2, rest.baseAddress, UInt32(rest.count)))
        #else
          let count = write(2, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        #endif
        // Standard error is where a failure would be told: there is no other place to go to.
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}
