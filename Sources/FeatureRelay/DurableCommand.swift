// SPDX-License-Identifier: MIT

public import Foundation

/// A command that survives the process: it is written to the relay's journal before anything else
/// happens to it, and stays there until its handler has ended without error.
///
/// ```swift
/// struct SendReceipt: AsyncRelayCommand, DurableCommand {
///   static let commandName = "receipt.send"
///   var orderID: String
///   func execute(on mailer: any MailFeature) async throws { try await mailer.send(orderID) }
/// }
/// ```
///
/// A type is declared where the relay is made (`restoring:`) or later by ``Relay/declare(_:)``, so
/// that a relay knows what to make of its records after a relaunch. A relay without a journal
/// keeps such commands in memory.
///
/// What its ``CommandPolicy`` leaves open follows ``DurableConfiguration``: no time to live, 10,000
/// waiting commands, a full queue refuses the newcomer, a failed attempt gives way and comes back.
///
/// A durable command is delivered at least once: again when the process dies between the start of
/// its handler and the record that it has ended. ``CommandContext`` tells a handler so.
public protocol DurableCommand: Codable, Sendable {
  /// The name under which commands of this type are written. Never change it: what lies on disk is
  /// found by it. Two types with one name trap.
  static var commandName: String { get }

  /// The version of the payload; 1 by default. Raise it when older payloads cannot be read as they
  /// are, and read them in ``migrate(_:from:)``.
  static var version: Int { get }

  /// What payloads are written with; JSON by default.
  static var coder: any CommandCoder { get }

  /// Reads a payload that another version of the type has written.
  ///
  /// The default reads it as if it were of this version. It runs when the command is delivered, on
  /// the main actor.
  ///
  /// - Parameters:
  ///   - payload: the bytes as they were written.
  ///   - version: the version that wrote them; a newer one than this after a downgrade.
  /// - Throws: anything: the command becomes a dead letter, with its bytes.
  static func migrate(_ payload: Data, from version: Int) throws -> Self
}

extension DurableCommand {
  /// The first version.
  public static var version: Int { 1 }

  /// JSON.
  public static var coder: any CommandCoder { JSONCommandCoder() }

  /// Reads the payload as if it were of this version.
  public static func migrate(_ payload: Data, from version: Int) throws -> Self {
    try coder.decode(Self.self, from: payload)
  }
}

extension RelayCommand where Self: DurableCommand {
  /// The operating system has it when `dispatch` returns.
  @inlinable public static var durability: Durability { .survivesProcessDeath }
}

extension AsyncRelayCommand where Self: DurableCommand {
  /// The operating system has it when `dispatch` returns.
  @inlinable public static var durability: Durability { .survivesProcessDeath }
}

/// Turns commands into bytes and back.
///
/// It is called on whichever thread dispatches, on the main actor for reading, and with no lock
/// held.
public protocol CommandCoder: Sendable {
  /// The bytes of a value.
  ///
  /// - Throws: anything: the command is refused with ``RefusalReason/encoding``.
  func encode<Value: Encodable>(_ value: Value) throws -> Data

  /// The value that bytes stand for.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// JSON, with the defaults of Foundation's encoder.
public struct JSONCommandCoder: CommandCoder {
  // Safe to share: both are only used, never set up again.
  private static let encoder = JSONEncoder()
  private static let decoder = JSONDecoder()

  /// Makes a coder.
  public init() {}

  /// The value as JSON.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    try Self.encoder.encode(value)
  }

  /// The value that the JSON stands for.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try Self.decoder.decode(type, from: data)
  }
}
