// SPDX-License-Identifier: MIT

internal import Foundation

/// Thrown by work whose payload cannot be read: no further attempt would change that.
struct UnreadablePayload: Error {
  let cause: any Error
}

/// A synchronous command that lies there as it was written, until it is delivered.
struct RestoredWork<Command: RelayCommand & DurableCommand>: QueuedWork {
  let payload: Data
  let version: Int

  static var commandType: String? { "\(Command.self)" }

  static func run(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws {
    try taking(words) { work in
      let command = try readPayload(Command.self, work.payload, work.version)
      let typed = cell.assumingMemoryBound(to: Command.Feature.self)
      let handler = typed.move()
      defer { typed.initialize(to: handler) }
      try executeAlreadyOnMain(handler, command)
    }
  }

  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let work = pointer(words).pointee
    return CommandContent(
      .command, for: Command.Feature.self,
      value: { try? readPayload(Command.self, work.payload, work.version) },
      run: .now { object in
        guard let handler = object as? Command.Feature else { return false }
        try readPayload(Command.self, work.payload, work.version).execute(on: handler)
        return true
      })
  }
}

/// An asynchronous command that lies there as it was written, until it is delivered.
struct AsyncRestoredWork<Command: AsyncRelayCommand & DurableCommand>: QueuedWork {
  let payload: Data
  let version: Int

  static var isAsync: Bool { true }
  static var commandType: String? { "\(Command.self)" }

  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    -> AsyncWork
  {
    let feature = MainActorValue(cell.assumingMemoryBound(to: Command.Feature.self).pointee)
    let work = pointer(words).pointee
    return {
      try await readPayload(Command.self, work.payload, work.version).execute(on: feature.value)
      return nil
    }
  }

  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let work = pointer(words).pointee
    return CommandContent(
      .command, for: Command.Feature.self,
      value: { try? readPayload(Command.self, work.payload, work.version) },
      run: .later { object in
        guard let handler = object as? Command.Feature else { return false }
        try await readPayload(Command.self, work.payload, work.version).execute(on: handler)
        return true
      })
  }
}

private func readPayload<Command: DurableCommand>(
  _ type: Command.Type, _ payload: Data, _ version: Int
) throws -> Command {
  do {
    if version == Command.version { return try Command.coder.decode(type, from: payload) }
    return try Command.migrate(payload, from: version)
  } catch {
    throw UnreadablePayload(cause: error)
  }
}
