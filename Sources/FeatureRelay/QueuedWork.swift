// SPDX-License-Identifier: MIT

// The kinds of work. They are made where `dispatch` is called, so that their generic arguments are
// known there and nothing has to be looked up.

/// Calls with the handler in a cell, moved out and back in: a copy would be a retain and a release
/// of an object whose count is in a side table, since it is referenced weakly.
@inline(__always)
private func withHandler<F>(
  in cell: UnsafeMutableRawPointer, as feature: F.Type, _ body: (F) throws -> Void
) throws {
  let typed = cell.assumingMemoryBound(to: F.self)
  let handler = typed.move()
  do {
    try body(handler)
  } catch {
    typed.initialize(to: consume handler)
    throw error
  }
  typed.initialize(to: consume handler)
}

@usableFromInline
struct ClosureWork<F, Result>: QueuedWork {
  @usableFromInline let body: @MainActor @Sendable (F) throws -> Result

  @inlinable static var isInline: Bool { true }

  @inlinable @inline(__always)
  init(_ body: @escaping @MainActor @Sendable (F) throws -> Result) {
    self.body = body
  }

  // For who does not know the types; the hot one is `runner`.
  @usableFromInline
  static func run(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws {
    try taking(words) { work in
      let body = work.body
      try withHandler(in: cell, as: F.self) { _ = try callAlreadyOnMain($0, body) }
    }
  }

  @usableFromInline
  static func destroy(_ words: UnsafeMutableRawPointer) {
    words.assumingMemoryBound(to: ClosureWords.self).pointee.context?.release()
  }

  /// The same as ``run(_:on:)``, for who knows the types.
  @inlinable @inline(__always)
  static var runner: WorkRunner {
    WorkRunner { words, cell in
      let memory = words.assumingMemoryBound(to: LooseClosureWork<F, Result>.self)
      let typed = cell.assumingMemoryBound(to: F.self)
      let work = memory.move()
      let handler = typed.move()
      do {
        _ = try work.body(handler)
      } catch {
        typed.initialize(to: consume handler)
        memory.initialize(to: consume work)
        throw error
      }
      typed.initialize(to: consume handler)
    }
  }
}

/// ``ClosureWork`` for who is on the main actor already. It cannot be copied, so that a call of its
/// closure need not count it.
///
/// Safe: dropping the isolation changes no bit of the closure.
@usableFromInline
struct LooseClosureWork<F, Result>: ~Copyable {
  @usableFromInline let body: @Sendable (F) throws -> Result
}

/// What a closure is made of: a function, and a context if it captures something.
///
/// Safe: a closure's second word is a counted reference of the language's own, or nothing; letting
/// go of it as an object is what letting go of the closure does. `ClosureWork` has no other field.
private struct ClosureWords {
  let function: UInt
  let context: Unmanaged<AnyObject>?
}

@usableFromInline
struct OwnedClosureWork<F, Owner: AnyObject & Sendable, Result>: QueuedWork {
  @usableFromInline weak let owner: Owner?
  @usableFromInline let body: @MainActor @Sendable (F, Owner) throws -> Result

  @inlinable init(
    _ owner: Owner, _ body: @escaping @MainActor @Sendable (F, Owner) throws -> Result
  ) {
    self.owner = owner
    self.body = body
  }

  @usableFromInline
  static func run(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws {
    try taking(words) { work in
      guard let owner = work.owner else { throw OwnerGone() }
      let body = work.body
      try withHandler(in: cell, as: F.self) { feature in
        _ = try callAlreadyOnMain(feature) { @MainActor feature in try body(feature, owner) }
      }
    }
  }
}

@usableFromInline
struct CommandWork<Command: RelayCommand>: QueuedWork {
  @usableFromInline let command: Command

  @inlinable static var isInline: Bool { WorkShape.fitsInWords(Command.self) }
  @usableFromInline static var commandType: Any.Type? { Command.self }

  @inlinable @inline(__always)
  init(_ command: Command) {
    self.command = command
  }

  // None of this looks up this type's metadata: it has the command, and nothing else.

  @usableFromInline
  static func run(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws {
    if isInline { return try runInline(words, on: cell) }
    try runInMemory(words, on: cell)
  }

  @inlinable @inline(__always)
  static var runner: WorkRunner {
    if isInline { return WorkRunner { words, cell in try runInline(words, on: cell) } }
    return WorkRunner { words, cell in try runInMemory(words, on: cell) }
  }

  @inlinable @inline(__always)
  static func runInline(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws {
    try execute(words.assumingMemoryBound(to: Command.self), on: cell)
  }

  @inlinable @inline(__always)
  static func runInMemory(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    throws
  {
    let memory = words.load(as: UnsafeMutablePointer<Command>.self)
    try execute(memory, on: cell)
    memory.deallocate()
  }

  @inlinable @inline(__always)
  static func execute(_ memory: UnsafeMutablePointer<Command>, on cell: UnsafeMutableRawPointer)
    throws
  {
    let typed = cell.assumingMemoryBound(to: Command.Feature.self)
    let command = memory.move()
    let handler = typed.move()
    do {
      try executeAlreadyOnMain(handler, command)
    } catch {
      typed.initialize(to: consume handler)
      memory.initialize(to: consume command)
      throw error
    }
    typed.initialize(to: consume handler)
  }
}

@usableFromInline
struct AsyncClosureWork<F, Result>: QueuedWork {
  @usableFromInline let body: @MainActor @Sendable (F) async throws -> Result

  @inlinable static var isInline: Bool { true }
  @usableFromInline static var isAsync: Bool { true }

  @inlinable init(_ body: @escaping @MainActor @Sendable (F) async throws -> Result) {
    self.body = body
  }

  @usableFromInline
  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    -> AsyncWork
  {
    let feature = MainActorValue(cell.assumingMemoryBound(to: F.self).pointee)
    let body = pointer(words).pointee.body
    return {
      _ = try await body(feature.value)
      return nil
    }
  }
}

@usableFromInline
struct AsyncOwnedClosureWork<F, Owner: AnyObject & Sendable, Result>: QueuedWork {
  @usableFromInline weak let owner: Owner?
  @usableFromInline let body: @MainActor @Sendable (F, Owner) async throws -> Result

  @usableFromInline static var isAsync: Bool { true }

  @inlinable init(
    _ owner: Owner, _ body: @escaping @MainActor @Sendable (F, Owner) async throws -> Result
  ) {
    self.owner = owner
    self.body = body
  }

  @usableFromInline
  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    -> AsyncWork
  {
    let feature = MainActorValue(cell.assumingMemoryBound(to: F.self).pointee)
    let work = pointer(words)
    return { [body = work.pointee.body, weak owner = work.pointee.owner] in
      guard let owner else { throw OwnerGone() }
      _ = try await body(feature.value, owner)
      return nil
    }
  }
}

@usableFromInline
struct AsyncCommandWork<Command: AsyncRelayCommand>: QueuedWork {
  @usableFromInline let command: Command

  @usableFromInline static var isAsync: Bool { true }
  @usableFromInline static var commandType: Any.Type? { Command.self }

  @inlinable init(_ command: Command) {
    self.command = command
  }

  @usableFromInline
  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    -> AsyncWork
  {
    let feature = MainActorValue(cell.assumingMemoryBound(to: Command.Feature.self).pointee)
    let command = pointer(words).pointee.command
    return {
      try await command.execute(on: feature.value)
      return nil
    }
  }
}

/// A handler in the closure that a task of the main actor runs.
///
/// Safe: it is made and read on the main actor only, and what it holds is a class that conforms to
/// a main-actor protocol. The type of a feature is generic here and cannot say so.
struct MainActorValue<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
