// SPDX-License-Identifier: MIT

/// Bytes that may be a part of a larger block: what was read is not copied.
package typealias JournalBytes = ArraySlice<UInt8>

/// One thing that is kept until it is acknowledged: for the layer above, a durable command.
package struct JournalEntry: Hashable, Sendable {
  /// Unique among what the journal holds, and never used twice: ``Journal/makeIdentifier()``.
  package var id: UInt64
  /// The place in the order of acceptance: first by run, then by sequence.
  package var place: JournalPlace
  /// The stable name of the command.
  package var name: String
  /// The name of the feature. Names and groups are few: the journal writes them as numbers.
  package var group: String
  /// The priority, as the layer above numbers it.
  package var priority: UInt8 = 0
  /// The version of the payload's shape.
  package var payloadVersion: UInt32 = 0
  /// Milliseconds since 1970, by the wall clock.
  package var acceptedAt: Int64
  /// What the command's coder made.
  package var payload: JournalBytes
  /// What few entries have: nearly all are copied without it.
  private var rare: Box<Rare>?

  @inline(__always)
  package init(
    id: UInt64, place: JournalPlace, name: String, group: String, priority: UInt8 = 0,
    labels: [String] = [], key: JournalKey? = nil, acceptedAt: Int64, timeToLive: UInt64? = nil,
    payloadVersion: UInt32 = 0, payload: JournalBytes, replaces: UInt64? = nil
  ) {
    self.id = id
    self.place = place
    self.name = name
    self.group = group
    self.priority = priority
    self.payloadVersion = payloadVersion
    self.acceptedAt = acceptedAt
    self.payload = payload
    rare = nil
    if !labels.isEmpty || key != nil || timeToLive != nil || replaces != nil {
      changeRare { rare in
        rare = Rare(labels: labels, key: key, timeToLive: timeToLive, replaces: replaces)
      }
    }
  }
}

extension JournalEntry {
  private struct Rare: Hashable, Sendable {
    var labels: [String] = []
    var key: JournalKey?
    var timeToLive: UInt64?
    var replaces: UInt64?
  }

  /// The tags that can be named in another run.
  package var labels: [String] {
    get { rare?.value.labels ?? [] }
    set { changeRare { $0.labels = newValue } }
  }

  /// The unique key, if there is one.
  package var key: JournalKey? {
    get { rare?.value.key }
    set { changeRare { $0.key = newValue } }
  }

  /// Milliseconds; nil is for ever.
  package var timeToLive: UInt64? {
    get { rare?.value.timeToLive }
    set { changeRare { $0.timeToLive = newValue } }
  }

  /// The entry that ends by this one being written: one record, so neither both nor none.
  package var replaces: UInt64? {
    get { rare?.value.replaces }
    set { if newValue != nil || rare != nil { changeRare { $0.replaces = newValue } } }
  }

  private mutating func changeRare(_ body: (inout Rare) -> Void) {
    var changed = rare?.value ?? Rare()
    body(&changed)
    rare = changed == Rare() ? nil : Box(changed)
  }
}

/// A value behind one reference, for what is seldom there and often copied.
private final class Box<Value: Hashable & Sendable>: Hashable, Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }

  static func == (one: Box, other: Box) -> Bool { one.value == other.value }
  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// A place in the order of acceptance: the run of the process, then the number within it.
package struct JournalPlace: Hashable, Sendable, Comparable {
  package var run: UInt64
  package var sequence: UInt64

  package init(run: UInt64, sequence: UInt64) {
    self.run = run
    self.sequence = sequence
  }

  package static func < (one: JournalPlace, other: JournalPlace) -> Bool {
    (one.run, one.sequence) < (other.run, other.sequence)
  }
}

/// A unique key and the rule that goes with it; both are the layer above's own bytes.
package struct JournalKey: Hashable, Sendable {
  package var bytes: [UInt8]
  package var rule: [UInt8]

  package init(bytes: [UInt8], rule: [UInt8]) {
    self.bytes = bytes
    self.rule = rule
  }
}

/// Why and when an entry was given up on.
package struct JournalDeath: Hashable, Sendable {
  /// The reason, as the layer above numbers it.
  package var reason: UInt8
  /// A few words for people; never a payload. Cut to 256 bytes.
  package var detail: String
  /// Milliseconds since 1970, by the wall clock.
  package var at: Int64

  package init(reason: UInt8, detail: String = "", at: Int64) {
    self.reason = reason
    self.detail = detail
    self.at = at
  }
}

/// An entry as a journal gives it back, with what has happened to it.
package struct RecoveredEntry: Hashable, Sendable {
  /// The entry; its place is the last one that was written down for it.
  package var entry: JournalEntry
  /// How many attempts count: started ones less interrupted ones.
  package var attempts: UInt32
  /// How many attempts started and neither ended nor were interrupted: each a process that died.
  package var unfinishedAttempts: UInt32
  /// Whether a handler may have seen it before.
  package var wasStarted: Bool
  /// Set for a dead letter.
  package var death: JournalDeath? {
    get { deathBox?.value }
    set { deathBox = newValue.map { Box($0) } }
  }
  private var deathBox: Box<JournalDeath>?

  package init(
    entry: JournalEntry, attempts: UInt32 = 0, unfinishedAttempts: UInt32 = 0,
    wasStarted: Bool = false, death: JournalDeath? = nil
  ) {
    self.entry = entry
    self.attempts = attempts
    self.unfinishedAttempts = unfinishedAttempts
    self.wasStarted = wasStarted
    deathBox = death.map { Box($0) }
  }
}
