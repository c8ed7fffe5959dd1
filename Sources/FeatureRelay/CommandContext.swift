// SPDX-License-Identifier: MIT

/// What a handler can know of the durable command that it handles.
///
/// ```swift
/// func send(_ text: String) throws {
///   if CommandContext.current?.isRedelivery == true { … }   // it may have been sent already
/// }
/// ```
public struct CommandContext: Sendable, Hashable {
  /// The context of the durable command whose handler calls; nil outside, and for commands that are
  /// not durable. Tasks that the handler starts inherit it.
  @TaskLocal public static var current: CommandContext?

  /// Which command: the same for all its attempts, also after a relaunch.
  public let id: CommandID
  /// Which attempt: 1 is the first. Attempts that ended with the process count, as far as they were
  /// written.
  public let attempt: Int
  /// Whether an earlier attempt may have done all or part of the work without anybody knowing: the
  /// process died in it, or its end could not be written.
  public let isRedelivery: Bool
  /// When it was accepted, in the time that has passed since 1 January 1970.
  public let acceptedAt: Duration
}

/// A context on its way to the handler: one reference, since the hot path carries it about.
final class DurableContext: Sendable {
  let context: CommandContext

  init(_ context: CommandContext) {
    self.context = context
  }

  /// Runs work with the context at hand.
  @inline(never)
  func run(_ work: inout UnmanagedWork, on cell: UnsafeMutableRawPointer) throws {
    try CommandContext.$current.withValue(context) { try work.run(on: cell, WorkRunner()) }
  }
}

extension AsyncRun {
  /// Performs the attempt with its context at hand.
  @MainActor
  func perform(_ work: WorkBox) async throws -> AsyncAnswer? {
    guard let context else { return try await work.perform() }
    return try await CommandContext.$current.withValue(context.context) {
      try await work.perform()
    }
  }
}
