// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport

@testable import FeatureRelay

/// A durable command that writes a number.
struct WriteNumber: RelayCommand, DurableCommand, Equatable {
  static let commandName = "number.write"
  var number: Int
  func execute(on ledger: LedgerFeature) throws { try ledger.write(number) }
}

/// The same, failing after its policy.
struct WriteInPlace: RelayCommand, DurableCommand {
  static let commandName = "number.in-place"
  static let policy = CommandPolicy(retry: .inPlace(.constant(.seconds(1), attempts: 2)))
  var number: Int
  func execute(on ledger: LedgerFeature) throws { try ledger.write(number) }
}

/// A durable command whose failure ends it.
struct WriteOnce: RelayCommand, DurableCommand {
  static let commandName = "number.once"
  static let policy = CommandPolicy(retry: .drop)
  var number: Int
  func execute(on ledger: LedgerFeature) throws { try ledger.write(number) }
}

/// A durable command of a second feature.
struct ShowNumber: RelayCommand, DurableCommand {
  static let commandName = "number.show"
  var number: Int
  func execute(on mirror: MirrorFeature) throws { try mirror.show(number) }
}

/// A feature whose work takes time.
protocol PatientFeature: RelayFeature {
  func work(_ number: Int) async throws
}

/// A durable command that takes time.
struct WorkOn: AsyncRelayCommand, DurableCommand {
  static let commandName = "number.work"
  var number: Int
  func execute(on worker: PatientFeature) async throws { try await worker.work(number) }
}

final class Worker: PatientFeature {
  private(set) var numbers: [Int] = []
  private(set) var contexts: [CommandContext] = []
  var onWork: ((Int) async throws -> Void)?

  func work(_ number: Int) async throws {
    if let context = CommandContext.current { contexts.append(context) }
    try await onWork?(number)
    numbers.append(number)
  }
}

/// Keeps numbers and what the handler could know about the command.
final class ContextLedger: LedgerFeature {
  private(set) var numbers: [Int] = []
  private(set) var contexts: [CommandContext] = []
  var onWrite: ((Int) throws -> Void)?

  func write(_ number: Int) throws {
    numbers.append(number)
    if let context = CommandContext.current { contexts.append(context) }
    try onWrite?(number)
  }
}

/// One process after the other on one disk: each has a relay, and may be killed.
@MainActor
final class Box {
  private static let count = Tally()

  let disk: FaultInjectingFileSystem
  let clock = ManualClock()
  let wall = WallClock()
  let path: String
  let scope: String
  var durability = Durability.survivesProcessDeath
  var settings = DurableConfiguration.standard
  var types: [any DurableCommand.Type] = [
    WriteNumber.self, WriteInPlace.self, WriteOnce.self, ShowNumber.self, WorkOn.self,
  ]
  private(set) var relay: Relay!

  init(_ scope: String = "box", disk: FaultInjectingFileSystem = FaultInjectingFileSystem()) {
    self.disk = disk
    self.scope = scope
    path = "/journals/\(Self.count.add())"
  }

  @discardableResult
  func launch() throws -> Relay {
    relay = try make()
    return relay
  }

  /// Another relay on the same directory.
  func make() throws -> Relay {
    try Relay(
      scope: scope,
      configuration: RelayConfiguration(
        clock: clock.relayClock(wall: wall), seed: 1, durable: settings),
      journal: disk.location(path, durability: durability), declaring: types)
  }

  /// Kills the process, without a last word.
  func kill() {
    disk.kill()
    relay.close()
  }

  /// Kills the process and launches the next one, restored.
  @discardableResult
  func relaunch() async throws -> RestorationResult {
    kill()
    try launch()
    return await relay.restore()
  }

  /// Ends the process as it should end, and launches the next one, restored.
  @discardableResult
  func reopen() async throws -> RestorationResult {
    relay.close()
    try launch()
    return await relay.restore()
  }

  /// Lets the next process see what this one left: what is delivered to a new handler.
  func left() async throws -> [Int] {
    try await relaunch()
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    await relay.waitUntilIdle()
    return ledger.numbers
  }
}

extension Relay {
  @discardableResult
  func note(
    _ number: Int, priority: CommandPriority? = nil, tags: [CommandTag] = [],
    timeToLive: TimeToLive? = nil, unique: Uniqueness? = nil
  ) -> Acceptance {
    dispatch(
      WriteNumber(number: number), priority: priority, tags: tags, timeToLive: timeToLive,
      unique: unique)
  }
}

/// Makes a journal's file look as if a later version had written it.
enum JournalHeaderForgery {
  static func newer(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[8] = 9
    bytes[10] = 9
    let crc = crc32c(bytes[..<60])
    for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
    return bytes
  }

  /// CRC-32C (Castagnoli 1993), bit by bit.
  private static func crc32c(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
    }
    return ~crc
  }
}

extension Relay {
  /// Whether what is read from disk holds a feature's delivery.
  func isHeld<F>(_ feature: F.Type) -> Bool {
    core.existingSlot(FeatureKey.of(feature))?.withState { $0.isHeld } ?? false
  }
}
