// SPDX-License-Identifier: MIT

/// A command's work without its type: two words and what to do with them.
///
/// Moving it is moving 32 bytes: a queue moves it often, and an existential would ask its type for
/// every move. Like `Unmanaged`, it is not counted: whoever has it last calls ``destroy()``, once,
/// or runs it. The work is in the words themselves if it fits and may be moved by copying bits
/// (closures, small commands), else in memory of its own. Tests under the address sanitizer and the
/// tests of captures would notice one that is released twice or never.
@usableFromInline
struct UnmanagedWork: @unchecked Sendable {
  // Safe: work is sendable, and a queue's lock or the main actor guards who has it.

  @usableFromInline var words: (UInt, UInt) = (0, 0)
  @usableFromInline let type: any QueuedWork.Type

  @inlinable @inline(__always)
  init<Work: QueuedWork>(_ work: Work) {
    type = Work.self
    withUnsafeMutableBytes(of: &words) { words in
      if Work.isInline {
        words.baseAddress!.initializeMemory(as: Work.self, to: work)
      } else {
        let memory = UnsafeMutablePointer<Work>.allocate(capacity: 1)
        memory.initialize(to: work)
        words.storeBytes(of: UInt(bitPattern: memory), as: UInt.self)
      }
    }
  }

  /// Runs synchronous work on the handler in a cell. The work is gone then, unless it has thrown.
  @inline(__always)
  mutating func run(on cell: UnsafeMutableRawPointer, _ runner: WorkRunner) throws {
    if let run = runner.function { return try run(&words, cell) }
    try type.run(&words, on: cell)
  }

  /// Asynchronous work that owns the handler in a cell. The work itself stays.
  func start(on cell: UnsafeMutableRawPointer) -> AsyncWork {
    var words = words
    return type.start(&words, on: cell)
  }

  /// The command that waits for the answer, where it is a request from inside one.
  var caller: RunContext? {
    var words = words
    return type.caller(&words)
  }

  /// Tells whoever waits for an answer that the command ended without one, and lets go of the work.
  ///
  /// It is done in place: two words that were just written one by one are read together slowly.
  ///
  /// - Parameter key: the feature, whose name is made where somebody is told.
  mutating func end(_ reason: DropReason, feature key: UInt) {
    type.ended(&words, reason, feature: key)
    type.destroy(&words)
  }

  /// Tells whoever waits for an answer that the handler threw for the last time, and lets go of the
  /// work.
  func fail(_ error: any Error) {
    var words = words
    type.failed(&words, error)
    type.destroy(&words)
  }

  /// Lets go of the work.
  func destroy() {
    var words = words
    type.destroy(&words)
  }
}

/// A function that runs work of one type, compiled where the command was dispatched.
///
/// Called through the type, generic code looks up what its arguments are for each command: half of
/// what it costs to deliver a waiting one. It goes beside the work, whose four words are passed in
/// registers: five would not be.
@usableFromInline
struct WorkRunner {
  @usableFromInline
  typealias Function = @Sendable (UnsafeMutableRawPointer, UnsafeMutableRawPointer) throws -> Void

  @usableFromInline
  struct Closure {
    @usableFromInline let function: Function

    @inlinable @inline(__always)
    init(_ function: @escaping Function) {
      self.function = function
    }
  }

  /// The function's address; zero where there is none.
  @usableFromInline let address: UInt

  @inlinable @inline(__always)
  init() {
    address = 0
  }

  /// Safe: a closure is a function and a context, and without a context the function is all of it.
  /// Where the compiler did not make it for known types the context says which those are: then it
  /// is not used.
  @inlinable @inline(__always)
  init(_ function: @escaping Function) {
    let (address, context) = unsafeBitCast(Closure(function), to: (UInt, UInt).self)
    self.address = context == 0 ? address : 0
  }

  @inline(__always)
  var function: Function? {
    guard address != 0 else { return nil }
    return unsafeBitCast((address, 0 as UInt), to: Closure.self).function
  }
}

/// What an asynchronous command does; it returns how to tell whoever waits for an answer, once its
/// end counts.
@usableFromInline typealias AsyncWork = @MainActor @Sendable () async throws -> AsyncAnswer?
@usableFromInline typealias AsyncAnswer = @Sendable () -> Void

/// Thrown by work that found its owner gone.
@usableFromInline
struct OwnerGone: Error {
  @usableFromInline @inline(never)
  init() {}
}

/// What a relay keeps of a command while it waits. The functions are static, since they are called
/// with the words of an ``UnmanagedWork``.
@usableFromInline
protocol QueuedWork: Sendable {
  /// Whether the work starts in a later turn and holds the lane until it ends.
  static var isAsync: Bool { get }

  /// The command's own type; nil for closures.
  static var commandType: Any.Type? { get }

  /// Whether the words hold the work itself.
  static var isInline: Bool { get }

  /// Runs synchronous work on the handler in a cell, on the main actor. Takes the work out, and
  /// puts it back if it throws.
  static func run(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws

  /// Asynchronous work that owns the handler in a cell. On the main actor.
  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) -> AsyncWork

  /// The command that waits for the answer, where it is a request from inside one.
  static func caller(_ words: UnsafeMutableRawPointer) -> RunContext?

  /// The command ended without an answer, and not by an error.
  static func ended(_ words: UnsafeMutableRawPointer, _ reason: DropReason, feature key: UInt)

  /// The handler threw for the last time.
  static func failed(_ words: UnsafeMutableRawPointer, _ error: any Error)

  /// Lets go of the work.
  static func destroy(_ words: UnsafeMutableRawPointer)

  /// A copy of what the command is, for whoever tests.
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent?
}

extension QueuedWork {
  @inlinable static var isAsync: Bool { false }
  @inlinable static var commandType: Any.Type? { nil }
  @inlinable static var isInline: Bool { false }

  @usableFromInline
  static func run(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer) throws {
    preconditionFailure("FeatureRelay: asynchronous work was run as if it were synchronous.")
  }

  @usableFromInline
  static func start(_ words: UnsafeMutableRawPointer, on cell: UnsafeMutableRawPointer)
    -> AsyncWork
  {
    preconditionFailure("FeatureRelay: synchronous work was started as if it were asynchronous.")
  }

  @usableFromInline
  static func caller(_ words: UnsafeMutableRawPointer) -> RunContext? { nil }

  @usableFromInline
  static func ended(_ words: UnsafeMutableRawPointer, _ reason: DropReason, feature key: UInt) {}

  @usableFromInline
  static func failed(_ words: UnsafeMutableRawPointer, _ error: any Error) {}

  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? { nil }

  @usableFromInline
  static func destroy(_ words: UnsafeMutableRawPointer) {
    let work = pointer(words)
    work.deinitialize(count: 1)
    if !isInline { work.deallocate() }
  }

  /// Where the work is.
  @inline(__always)
  static func pointer(_ words: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Self> {
    if isInline { return words.assumingMemoryBound(to: Self.self) }
    return words.load(as: UnsafeMutablePointer<Self>.self)
  }

  /// Calls with the work taken out, and puts it back if that throws.
  @inline(__always)
  static func taking(
    _ words: UnsafeMutableRawPointer, _ body: (borrowing Self) throws -> Void
  ) throws {
    let memory = pointer(words)
    let work = memory.move()
    do {
      try body(work)
    } catch {
      memory.initialize(to: consume work)
      throw error
    }
    if !isInline { memory.deallocate() }
  }
}

/// Which values may be kept in two words and moved by copying bits.
@usableFromInline
enum WorkShape {
  @inlinable @inline(__always)
  static func fitsInWords<Value>(_ type: Value.Type) -> Bool {
    MemoryLayout<Value>.size <= 16 && MemoryLayout<Value>.alignment <= 8 && isMovable(type)
  }

  /// Whether the type's values may be moved by copying their bits: weak references may not.
  @usableFromInline
  static func isMovable<Value>(_ type: Value.Type) -> Bool {
    // Safe: the word before a type's metadata leads to its value witnesses, whose flags, after
    // eight functions, size and stride, say so in bit 20.
    let metadata = UnsafeRawPointer(bitPattern: FeatureKey.of(type))!
    let witnesses = metadata.load(
      fromByteOffset: -MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
    let flags = witnesses.load(fromByteOffset: 10 * MemoryLayout<UInt>.size, as: UInt32.self)
    return flags & 0x0010_0000 == 0
  }
}
