// SPDX-License-Identifier: MIT

internal import Foundation

/// Random numbers that can be had again: a test prints its seed, and `RELAY_TEST_SEED` sets it.
public struct SeededGenerator: RandomNumberGenerator {
  /// What the numbers follow from.
  public let seed: UInt64
  private var state: UInt64

  /// Makes a generator.
  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// The seed from the environment, or a new one.
  public static func freshSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["RELAY_TEST_SEED"].flatMap { UInt64($0) }
      ?? .random(in: 0...UInt64.max)
  }

  /// The seed of relays made for tests: always the same one, unless the environment has another.
  static let testSeed =
    ProcessInfo.processInfo.environment["RELAY_TEST_SEED"].flatMap { UInt64($0) } ?? 20_261_130

  /// The next number (SplitMix64, Steele, Lea and Flood 2014).
  public mutating func next() -> UInt64 {
    state = state &+ 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
