// SPDX-License-Identifier: MIT

import Foundation

/// The other executable of this package, started to be counted.
enum Child {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// It stands beside this one; whoever builds this one builds it as well.
  private static var path: String {
    let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    return own.deletingLastPathComponent().appendingPathComponent("relay-workload").path
  }

  /// What a workload reports: allocations, bytes, posts.
  ///
  /// - Returns: nil where it cannot be counted.
  /// - Throws: ``Failure`` when it did not run to its end.
  static func figure(_ name: String, of arguments: [String]) throws -> Double? {
    guard let output = try run(path, arguments) else { return nil }
    for word in output.split(whereSeparator: \.isWhitespace) {
      let parts = word.split(separator: "=")
      guard parts.count == 2, parts[0] == name, let value = Double(parts[1]) else { continue }
      return value < 0 ? nil : value
    }
    throw Failure(description: "relay-workload \(arguments) reported no \(name)")
  }

  /// The instructions of a workload under callgrind, without what prepares it.
  ///
  /// - Returns: nil where valgrind is not there.
  static func instructions(_ name: String, _ count: Int) throws -> Double? {
    let options = [
      "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured_section",
    ]
    guard let output = try run("/usr/bin/env", ["valgrind"] + options + [path, name, "\(count)"])
    else { return nil }
    let line = output.split(separator: "\n").last { $0.contains("Collected :") }
    return line?.split(separator: " ").last.flatMap { Double($0) }
  }

  /// The bytes of machine code of a function and its closures, from the symbol table.
  ///
  /// - Returns: nil where there is no `nm`.
  static func codeBytes(_ function: String) throws -> Double? {
    guard let output = try run("/usr/bin/env", ["nm", "-S", "--defined-only", path]) else {
      return nil
    }
    let sizes = output.split(separator: "\n").compactMap { line -> Double? in
      let words = line.split(separator: " ")
      guard words.count == 4, "tT".contains(words[2]), words[3].contains(function) else {
        return nil
      }
      return Int(words[1], radix: 16).map(Double.init)
    }
    return sizes.reduce(0, +)
  }

  /// Runs a program and returns what it wrote, on either stream; nil when it is not there.
  private static func run(_ program: String, _ arguments: [String]) throws -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    // Hash seeds that differ would be instructions that differ.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_DETERMINISTIC_HASHING": "1"]
    ) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    switch process.terminationStatus {
    case 0: return output
    // What `env` says when there is no such program.
    case 127: return nil
    default:
      let command = ([program] + arguments).joined(separator: " ")
      throw Failure(description: "\(command) failed:\n\(output.suffix(2_000))")
    }
  }
}
