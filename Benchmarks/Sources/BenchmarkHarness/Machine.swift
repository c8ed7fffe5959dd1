// SPDX-License-Identifier: MIT

import Foundation

/// Where and when something was measured.
package struct Machine: Sendable, Codable {
  package let processor: String
  package let cores: Int
  package let system: String
  package let swift: String
  package let date: String

  /// This machine, now.
  package static var current: Machine {
    let day = Date.now.formatted(.iso8601.year().month().day())
    return Machine(
      processor: processorName, cores: ProcessInfo.processInfo.activeProcessorCount,
      system: ProcessInfo.processInfo.operatingSystemVersionString, swift: compiler, date: day)
  }

  /// A clock that goes on evenly, in nanoseconds.
  package static var nanoseconds: Int64 {
    Int64(DispatchTime.now().uptimeNanoseconds)
  }

  package var description: String {
    "\(processor), \(cores) cores · \(system) · Swift \(swift) · \(date)"
  }

  private static var processorName: String {
    #if os(Linux)
      let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
      let line = information.split(separator: "\n").first { $0.hasPrefix("model name") }
      return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        ?? architecture
    #else
      return architecture
    #endif
  }

  private static var architecture: String {
    #if arch(x86_64)
      "x86-64"
    #elseif arch(arm64)
      "ARM64"
    #else
      "unknown processor"
    #endif
  }

  private static var compiler: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
