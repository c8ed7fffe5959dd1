// SPDX-License-Identifier: MIT

internal import Dispatch

// One function under two declarations. Isolation is no part of a lowered function type, so the
// unisolated declaration can be called where the caller has proven already that it is on the main
// actor, and the optimiser sees through it: a capturing closure needs no context on the heap, and
// no executor is looked up (55 to 65 ns each). What would break it: a compiler that mangles
// isolation into these two symbols, which the linker would tell. `RELAY_PLAIN_ISOLATION` takes the
// way without underscored attributes; DirectPathTests runs under both.

#if RELAY_PLAIN_ISOLATION

  @inlinable @inline(__always)
  func callAlreadyOnMain<F, Result>(
    _ feature: F, _ body: @MainActor (F) throws -> Result
  ) throws -> Result {
    // Safe: the caller is on the main actor, and dropping the isolation changes no bit of the
    // closure.
    try withoutActuallyEscaping(body) { body in
      try unsafeBitCast(body, to: ((F) throws -> Result).self)(feature)
    }
  }

  @inlinable @inline(__always)
  func executeAlreadyOnMain<Command: RelayCommand>(
    _ feature: Command.Feature, _ command: Command
  ) throws {
    try callAlreadyOnMain(feature) { @MainActor feature in try command.execute(on: feature) }
  }

#else

  @_silgen_name("featurerelay_call_on_main") @inlinable @inline(__always)
  @MainActor func callOnMain<F, Result>(
    _ feature: F, _ body: @MainActor (F) throws -> Result
  ) throws -> Result {
    try body(feature)
  }

  @_silgen_name("featurerelay_call_on_main")
  @usableFromInline func callAlreadyOnMain<F, Result>(
    _ feature: F, _ body: @MainActor (F) throws -> Result
  ) throws -> Result

  @_silgen_name("featurerelay_execute_on_main") @inlinable @inline(__always)
  @MainActor func executeOnMain<Command: RelayCommand>(
    _ feature: Command.Feature, _ command: Command
  ) throws {
    try command.execute(on: feature)
  }

  @_silgen_name("featurerelay_execute_on_main")
  @usableFromInline func executeAlreadyOnMain<Command: RelayCommand>(
    _ feature: Command.Feature, _ command: Command
  ) throws

#endif

/// Whether the caller is on the main queue, asked by code without isolation.
///
/// Works under synchronous and asynchronous `main`, XCTest and Swift Testing; `Thread.isMainThread`
/// answers *no* on the main actor of an asynchronous `main` on Linux.
@usableFromInline
enum MainQueue {
  @usableFromInline @inline(never)
  static var isCurrent: Bool { Platform.isOnMainQueue }

  /// Runs a synchronous action on the main actor, whose executor the main queue is.
  static func async(_ action: @escaping @MainActor @Sendable () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated { action() } }
  }
}
