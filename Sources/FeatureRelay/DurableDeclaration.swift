// SPDX-License-Identifier: MIT

internal import Foundation

/// What a relay knows of a durable type: its name, where its commands go, and how they are written
/// and read.
final class DurableDeclaration: Sendable {
  /// How a command of the type is made from a record.
  typealias Read = @Sendable (_ payload: Data, _ version: Int) -> UnmanagedWork

  let type: ObjectIdentifier
  let typeName: String
  let name: String
  let version: Int
  /// The feature's key.
  let key: UInt
  let isAsync: Bool
  let policy: CommandPolicy
  let durability: Durability
  private let write: @Sendable (UnsafeRawPointer) throws -> Data
  let read: Read

  private init<Command: DurableCommand>(
    _ command: Command.Type, key: UInt, isAsync: Bool, policy: CommandPolicy,
    durability: Durability, read: @escaping Read
  ) {
    type = ObjectIdentifier(command)
    typeName = "\(command)"
    name = Command.commandName
    version = Command.version
    self.key = key
    self.isAsync = isAsync
    self.policy = policy
    self.durability = durability
    // Safe: whoever calls has a command of the type that the declaration was found by.
    write = { try Command.coder.encode($0.assumingMemoryBound(to: Command.self).pointee) }
    self.read = read
  }

  /// The payload of a command of this type.
  func encode<Command>(_ command: Command) throws -> Data {
    precondition(ObjectIdentifier(Command.self) == type)
    return try withUnsafePointer(to: command) { try write(UnsafeRawPointer($0)) }
  }
}

extension DurableDeclaration {
  /// Reads what a type says about itself. Foreign code: call it outside locks.
  static func of(_ type: any DurableCommand.Type) -> DurableDeclaration {
    if let type = type as? any (RelayCommand & DurableCommand).Type { return synchronous(type) }
    if let type = type as? any (AsyncRelayCommand & DurableCommand).Type {
      return asynchronous(type)
    }
    mistake(
      "Relay: \(type) is durable, but neither a RelayCommand nor an AsyncRelayCommand: make it one."
    )
  }

  private static func synchronous<Command: RelayCommand & DurableCommand>(
    _ type: Command.Type
  ) -> DurableDeclaration {
    DurableDeclaration(
      type, key: FeatureKey.of(Command.Feature.self), isAsync: false, policy: Command.policy,
      durability: Command.durability,
      read: { UnmanagedWork(RestoredWork<Command>(payload: $0, version: $1)) })
  }

  private static func asynchronous<Command: AsyncRelayCommand & DurableCommand>(
    _ type: Command.Type
  ) -> DurableDeclaration {
    DurableDeclaration(
      type, key: FeatureKey.of(Command.Feature.self), isAsync: true, policy: Command.policy,
      durability: Command.durability,
      read: { UnmanagedWork(AsyncRestoredWork<Command>(payload: $0, version: $1)) })
  }
}

/// The declared types of one relay.
struct DurableDeclarations: Sendable {
  private var byType: [ObjectIdentifier: DurableDeclaration] = [:]
  private var byName: [String: DurableDeclaration] = [:]

  subscript(type: Any.Type) -> DurableDeclaration? { byType[ObjectIdentifier(type)] }
  subscript(name: String) -> DurableDeclaration? { byName[name] }

  /// The features that durable commands are declared for, in the order of their declaration.
  private(set) var keys: [UInt] = []

  /// Adds a type.
  ///
  /// - Returns: the type that has the name already, if that is another one.
  mutating func add(_ declaration: DurableDeclaration) -> DurableDeclaration? {
    if let other = byName[declaration.name], other.type != declaration.type { return other }
    byType[declaration.type] = declaration
    if !keys.contains(declaration.key) { keys.append(declaration.key) }
    byName[declaration.name] = declaration
    return nil
  }
}
