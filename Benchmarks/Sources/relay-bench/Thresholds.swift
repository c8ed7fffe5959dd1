// SPDX-License-Identifier: MIT

import BenchmarkHarness

/// What the counted rows must not exceed. A change that makes one of them smaller lowers it here.
enum Thresholds {
  /// Heap allocations per operation: exact.
  static let allocations: [(workload: String, title: String, limit: Double)] = [
    ("direct", "direct, without captures", 0),
    ("direct-capture", "direct, with a number", 0),
    ("direct-string", "direct, with a string", 0),
    ("direct-typed", "direct, typed", 0),
    ("direct-owned", "direct, owned handler", 0),
    ("direct-shared", "direct, Relay.shared in a loop", 0),
    ("direct-nonisolated", "direct, from nonisolated code", 0),
    ("direct-parent", "delivered by a parent's handler", 0),
    ("observed", "direct, with an observer", 0),
    ("observed-capture", "direct, with an observer and a number", 0),
    ("consumed", "direct, with a consumer of events", 0),
    ("churn", "register, cancel", 2),
    ("enqueue", "enqueue, without captures", 0),
    ("enqueue-capture", "enqueue, with a number", 1),
    ("enqueue-typed", "enqueue, typed", 0),
    ("replay", "replay, without captures", 0),
    ("replay-capture", "replay, with a number", 0),
    ("replay-typed", "replay, typed", 0),
    ("flood", "a full queue, without captures", 0),
    ("flood-capture", "a full queue, with a number", 1),
    ("cancel", "cancelled by tag, one of ten", 0),
    ("off-main", "from another thread, without captures", 0),
    ("off-main-capture", "from another thread, with a number", 1),
    // With those of JSONEncoder.
    ("durable-wait", "durable, nobody registered", 17),
    ("durable-handler", "durable, with a handler", 22),
    ("journal-append", "journal, append", 0),
    ("journal-acknowledge", "journal, acknowledge", 0),
    ("journal-restore", "journal, restore", 0.01),
  ]

  /// Instructions per operation, with 5 % slack: those of Swift 6.3 on x86-64.
  static let instructions: [(workload: String, title: String, limit: Double)] = [
    ("direct", "direct, without captures", 259),
    ("direct-capture", "direct, with a number", 259),
    ("direct-string", "direct, with a string", 269),
    ("direct-typed", "direct, typed", 263),
    ("direct-owned", "direct, owned handler", 104),
    ("direct-shared", "direct, Relay.shared in a loop", 448),
    ("direct-nonisolated", "direct, from nonisolated code", 318),
    ("direct-parent", "delivered by a parent's handler", 570),
    ("observed", "direct, with an observer", 680),
    ("observed-capture", "direct, with an observer and a number", 680),
    ("consumed", "direct, with a consumer of events", 803),
    ("churn", "register, cancel", 3750),
    ("death", "a handler comes, dies and is missed", 9024),
    ("enqueue", "enqueue, without captures", 522),
    ("enqueue-capture", "enqueue, with a number", 769),
    ("enqueue-typed", "enqueue, typed", 781),
    ("replay", "replay, without captures", 237),
    ("replay-capture", "replay, with a number", 450),
    ("replay-typed", "replay, typed", 195),
    ("flood", "a full queue, without captures", 690),
    ("flood-capture", "a full queue, with a number", 986),
    ("cancel", "cancelled by tag, one of ten", 281),
  ]

  /// Whether the instruction counts are those of this compiler and processor; elsewhere they are only shown.
  static var areInstructionsKnown: Bool {
    #if arch(x86_64) && os(Linux) && compiler(>=6.3) && compiler(<6.4)
      true
    #else
      false
    #endif
  }

  /// Bytes: of the heap per thing, of code per call site.
  static let bytes: [(workload: String, title: String, limit: Double)] = [
    ("waiting-closure", "waiting command, without captures", 160),
    ("waiting-capture", "waiting command, with a number", 160),
    ("waiting-typed", "waiting command, typed", 160),
    ("relay", "idle relay", 1_024),
    ("slot", "slot", 256),
    ("finished-action", "finished action of a reactor", 0),
    ("finished-serial-action", "finished serial action", 0),
  ]

  static let codeBytes = 512.0
}
