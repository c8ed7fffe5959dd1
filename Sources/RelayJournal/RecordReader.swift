// SPDX-License-Identifier: MIT

/// What the body of a record says.
enum RecordBody {
  case entry(EntryHead)
  case other(JournalRecord)
  case adopted(InboxMark)
  case cut(FileCut)
}

/// The first fields of an entry: all that is needed while a file is read.
struct EntryHead {
  var flags: EntryFlags
  var id: UInt64
  var replaces: UInt64?
  var place: JournalPlace
  var priority: UInt8
  var name: UInt32
  var group: UInt32
  /// Where the fields after them begin.
  var tail: Int
}

/// Reads bodies. Bytes that make no sense are nil, although their checksum was right.
enum RecordReader {
  /// - Parameter define: called with each number and name that are written in full.
  @inline(__always)
  static func read(
    _ type: RecordType, _ bytes: UnsafeRawBufferPointer, define: (UInt32, String) -> Void
  ) -> RecordBody? {
    if type == .entry { return head(bytes, define: define).map(RecordBody.entry) }
    return other(type, bytes)
  }

  /// Whether a record is what was written.
  static func isWhole(_ record: UnsafeRawBufferPointer, salt: UInt32) -> Bool {
    let size = JournalFormat.recordHeaderSize
    guard record.count >= size, let start = record.baseAddress else { return false }
    let head = Checksum.crc32c(start, 12, seed: salt)
    return Int(UInt32(littleEndian: start.loadUnaligned(as: UInt32.self))) == record.count - size
      && Checksum.crc32c(start + size, record.count - size, seed: head)
        == UInt32(littleEndian: start.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
  }

  private static func other(_ type: RecordType, _ bytes: UnsafeRawBufferPointer) -> RecordBody? {
    var reader = ByteReader(bytes)
    if type == .barrier { return .other(.barrier) }
    if type == .adopted {
      guard let salt = reader.fixed(UInt32.self), let offset = reader.number(),
        let offset = Int(exactly: offset)
      else { return nil }
      return .adopted(InboxMark(salt: salt, offset: offset))
    }
    guard let id = reader.number() else { return nil }
    if type == .cut {
      guard let offset = reader.number(), let offset = Int(exactly: offset) else { return nil }
      return .cut(FileCut(number: id, offset: offset))
    }
    switch type {
    case .started:
      guard let attempt = reader.number() else { return nil }
      return .other(.started(id, attempt: UInt32(clamping: attempt)))
    case .acknowledged: return .other(.acknowledged(id))
    case .interrupted: return .other(.interrupted(id))
    case .failed:
      guard reader.rest > 0 else { return .other(.failed(id, place: nil)) }
      guard let run = reader.number(), let sequence = reader.number() else { return nil }
      return .other(.failed(id, place: JournalPlace(run: run, sequence: sequence)))
    case .ended: return reader.byte().map { .other(.ended(id, reason: $0)) }
    case .dead: return death(&reader).map { .other(.dead(id, $0)) }
    case .revived: return .other(.revived(id))
    default: return nil
    }
  }

  private static func death(_ reader: inout ByteReader) -> JournalDeath? {
    guard let reason = reader.byte(), let at = reader.signed(), let detail = reader.text() else {
      return nil
    }
    return JournalDeath(reason: reason, detail: detail, at: at)
  }

  @inline(__always)
  static func head(_ bytes: UnsafeRawBufferPointer, define: (UInt32, String) -> Void)
    -> EntryHead?
  {
    var reader = ByteReader(bytes)
    guard let flags = reader.number(), let id = reader.number() else { return nil }
    let set = EntryFlags(rawValue: flags)
    guard set.isSubset(of: .known) else { return nil }
    var replaces: UInt64?
    if set.contains(.replaces) {
      replaces = reader.number()
      if replaces == nil { return nil }
    }
    guard let run = reader.number(), let sequence = reader.number(), let priority = reader.byte(),
      let name = nameNumber(&reader, set.contains(.name), define),
      let group = nameNumber(&reader, set.contains(.group), define)
    else { return nil }
    return EntryHead(
      flags: set, id: id, replaces: replaces, place: JournalPlace(run: run, sequence: sequence),
      priority: priority, name: name, group: group, tail: reader.position)
  }

  @inline(__always)
  private static func nameNumber(
    _ reader: inout ByteReader, _ isInFull: Bool, _ define: (UInt32, String) -> Void
  ) -> UInt32? {
    guard let number = reader.number(), number < JournalFormat.nameLimit else { return nil }
    if isInFull {
      guard let text = reader.text() else { return nil }
      define(UInt32(number), text)
    }
    return UInt32(number)
  }

  /// Whether the fields behind the first ones are what they should be; makes nothing of them.
  @inline(__always)
  static func isSensible(_ head: EntryHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var reader = ByteReader(bytes, from: head.tail)
    guard reader.number() != nil else { return false }
    // Most have none of the rarer fields.
    if head.flags.isSubset(of: [.name, .group, .replaces, .wasStarted, .payloadVersion]) {
      return !head.flags.contains(.payloadVersion) || reader.version() != nil
    }
    return hasSensibleFields(head.flags, &reader)
  }

  private static func hasSensibleFields(_ flags: EntryFlags, _ reader: inout ByteReader) -> Bool {
    if flags.contains(.timeToLive), reader.number() == nil { return false }
    if flags.contains(.attempts), reader.number() == nil || reader.number() == nil { return false }
    if flags.contains(.death) {
      guard reader.byte() != nil, reader.number() != nil, reader.counted() != nil else {
        return false
      }
    }
    if flags.contains(.labels) {
      guard let count = reader.number(), count <= UInt64(reader.rest) else { return false }
      for _ in 0..<count where reader.counted() == nil { return false }
    }
    if flags.contains(.key), reader.counted() == nil || reader.counted() == nil { return false }
    if flags.contains(.origin), reader.fixed(UInt32.self) == nil || reader.number() == nil {
      return false
    }
    return !flags.contains(.payloadVersion) || reader.version() != nil
  }

  /// An entry that has none of the rarer fields and no name in full, as most are.
  struct Plain {
    var id: UInt64
    var place: JournalPlace
    var priority: UInt8
    var name: Int
    var group: Int
    var acceptedAt: Int64
    var payloadVersion: UInt32 = 0
    /// Where its payload begins.
    var payloadStart: Int
  }

  @inline(__always)
  static func plain(_ bytes: UnsafeRawBufferPointer) -> Plain? {
    var reader = ByteReader(bytes)
    guard let flags = reader.number(), EntryFlags(rawValue: flags).isSubset(of: .plain),
      let id = reader.number(), let run = reader.number(), let sequence = reader.number(),
      let priority = reader.byte(), let name = reader.number(), let group = reader.number(),
      let acceptedAt = reader.signed()
    else { return nil }
    if flags & EntryFlags.attempts.rawValue != 0 {
      guard reader.number() != nil, reader.number() != nil else { return nil }
    }
    var payloadVersion: UInt32 = 0
    if flags & EntryFlags.payloadVersion.rawValue != 0 {
      guard let version = reader.version() else { return nil }
      payloadVersion = version
    }
    return Plain(
      id: id, place: JournalPlace(run: run, sequence: sequence), priority: priority,
      name: Int(truncatingIfNeeded: name), group: Int(truncatingIfNeeded: group),
      acceptedAt: acceptedAt, payloadVersion: payloadVersion, payloadStart: reader.position)
  }

  /// What an entry's record says about what has happened to it.
  static func state(_ head: EntryHead, _ bytes: UnsafeRawBufferPointer) -> EntryState {
    entry(head, Array(bytes)[...], name: "", group: "")?.1 ?? EntryState()
  }

  /// The whole entry.
  ///
  /// - Parameters:
  ///   - body: the record's bytes; the payload will be a part of them.
  ///   - names: the name and the group.
  static func entry(
    _ head: EntryHead, _ body: ArraySlice<UInt8>, name: String, group: String
  ) -> (JournalEntry, EntryState)? {
    body.withUnsafeBytes { bytes -> (JournalEntry, EntryState)? in
      let tail = UnsafeRawBufferPointer(rebasing: bytes[head.tail...])
      var reader = ByteReader(tail)
      var state = EntryState()
      guard let acceptedAt = reader.signed() else { return nil }
      var entry = JournalEntry(
        id: head.id, place: head.place, name: name, group: group, priority: head.priority,
        acceptedAt: acceptedAt, payload: [])
      if let replaces = head.replaces { entry.replaces = replaces }
      let flags = head.flags
      if flags.contains(.timeToLive) {
        guard let timeToLive = reader.number() else { return nil }
        entry.timeToLive = timeToLive
      }
      if flags.contains(.attempts) {
        guard let attempts = reader.number(), let unfinished = reader.number() else { return nil }
        state.attempts = UInt32(clamping: attempts)
        state.unfinished = UInt32(clamping: unfinished)
      }
      state.wasStarted = flags.contains(.wasStarted)
      if flags.contains(.death) {
        guard let death = death(&reader) else { return nil }
        state.death = death
      }
      if flags.contains(.labels) {
        // Each label has at least its count: a count that is too high ends soon.
        guard let count = reader.number(), count <= UInt64(reader.rest) else { return nil }
        for _ in 0..<count {
          guard let label = reader.text() else { return nil }
          entry.labels.append(label)
        }
      }
      if flags.contains(.key) {
        guard let key = reader.array(), let rule = reader.array() else { return nil }
        entry.key = JournalKey(bytes: key, rule: rule)
      }
      if flags.contains(.origin) {
        guard let salt = reader.fixed(UInt32.self), let id = reader.number() else { return nil }
        state.origin = EntryOrigin(salt: salt, id: id)
      }
      if flags.contains(.payloadVersion) {
        guard let version = reader.version() else { return nil }
        entry.payloadVersion = version
      }
      entry.payload = body[(body.startIndex + head.tail + reader.position)...]
      return (entry, state)
    }
  }
}
