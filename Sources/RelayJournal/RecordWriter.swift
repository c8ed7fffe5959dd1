// SPDX-License-Identifier: MIT

/// Turns records into bytes for one file: numbers them and gives numbers to names.
struct RecordWriter: ~Copyable {
  /// Begins each checksum.
  let salt: UInt32
  /// The number of the next record.
  var sequence: UInt32
  /// The numbers of names in this file.
  private(set) var names: NameNumbers
  private(set) var buffer = RecordBuffer()

  init(salt: UInt32, sequence: UInt32 = 1, names: NameNumbers = NameNumbers()) {
    self.salt = salt
    self.sequence = sequence
    self.names = names
  }

  /// Forgets what is in the buffer: it was written.
  mutating func removeAll() { buffer.removeAll() }

  /// Forgets what is in the buffer as if it had never been there.
  mutating func rollBack(to sequence: UInt32) {
    buffer.removeAll()
    self.sequence = sequence
    names.startBlock()
  }

  mutating func write(_ header: FileHeader) { header.write(to: &buffer) }

  /// Adds a record.
  ///
  /// - Parameter offset: where the buffer's first byte will lie in the file.
  mutating func write(_ record: JournalRecord, at offset: Int) {
    switch record {
    case .accepted(let entry): write(entry, EntryState(), at: offset)
    case .acceptedAndStarted(let entry): write(entry, .startedOnce, at: offset)
    case .started(let id, let attempt):
      let start = begin()
      buffer.append(id)
      buffer.append(UInt64(attempt))
      end(start, .started)
    case .acknowledged(let id): write(id, .acknowledged)
    case .interrupted(let id): write(id, .interrupted)
    case .failed(let id, let place):
      let start = begin()
      buffer.append(id)
      if let place {
        buffer.append(place.run)
        buffer.append(place.sequence)
      }
      end(start, .failed)
    case .ended(let id, let reason):
      let start = begin()
      buffer.append(id)
      buffer.append(reason)
      end(start, .ended)
    case .dead(let id, let death):
      let start = begin()
      buffer.append(id)
      write(death)
      end(start, .dead)
    case .revived(let id): write(id, .revived)
    case .barrier: end(begin(), .barrier)
    }
  }

  /// Adds an entry with what has happened to it.
  mutating func write(_ entry: JournalEntry, _ state: EntryState, at offset: Int) {
    let start = begin()
    let block = (offset + start) / JournalFormat.blockSize
    let (name, carriesName) = names.number(of: entry.name, block: block)
    let (group, carriesGroup) = names.number(of: entry.group, block: block)
    var flags: EntryFlags = []
    if entry.replaces != nil { flags.insert(.replaces) }
    if carriesName { flags.insert(.name) }
    if carriesGroup { flags.insert(.group) }
    if entry.timeToLive != nil { flags.insert(.timeToLive) }
    if state.attempts > 0 || state.unfinished > 0 { flags.insert(.attempts) }
    if state.wasStarted { flags.insert(.wasStarted) }
    if state.death != nil { flags.insert(.death) }
    if !entry.labels.isEmpty { flags.insert(.labels) }
    if entry.key != nil { flags.insert(.key) }
    if state.origin != nil { flags.insert(.origin) }
    if entry.payloadVersion != 0 { flags.insert(.payloadVersion) }

    buffer.append(flags.rawValue)
    buffer.append(entry.id)
    if let replaces = entry.replaces { buffer.append(replaces) }
    buffer.append(entry.place.run)
    buffer.append(entry.place.sequence)
    buffer.append(entry.priority)
    buffer.append(UInt64(name))
    if carriesName { buffer.append(entry.name) }
    buffer.append(UInt64(group))
    if carriesGroup { buffer.append(entry.group) }
    buffer.append(signed: entry.acceptedAt)
    if let timeToLive = entry.timeToLive { buffer.append(timeToLive) }
    if flags.contains(.attempts) {
      buffer.append(UInt64(state.attempts))
      buffer.append(UInt64(state.unfinished))
    }
    if let death = state.death { write(death) }
    if flags.contains(.labels) {
      buffer.append(UInt64(entry.labels.count))
      for label in entry.labels { buffer.append(label) }
    }
    if let key = entry.key {
      buffer.append(counted: key.bytes)
      buffer.append(counted: key.rule)
    }
    if let origin = state.origin {
      buffer.append(fixed: origin.salt)
      buffer.append(origin.id)
    }
    if flags.contains(.payloadVersion) { buffer.append(UInt64(entry.payloadVersion)) }
    entry.payload.withUnsafeBytes { buffer.append(raw: $0) }
    end(start, .entry)
  }

  /// Says how far an inbox was taken over.
  mutating func write(adopted inbox: InboxMark) {
    let start = begin()
    buffer.append(fixed: inbox.salt)
    buffer.append(UInt64(inbox.offset))
    end(start, .adopted)
  }

  /// Says where an earlier file ends.
  mutating func write(cut: FileCut) {
    let start = begin()
    buffer.append(cut.number)
    buffer.append(UInt64(cut.offset))
    end(start, .cut)
  }

  /// Adds a record of a later version as it is.
  mutating func write(_ type: RecordType, verbatim body: UnsafeRawBufferPointer) {
    let start = begin()
    buffer.append(raw: body)
    end(start, type)
  }

  private mutating func write(_ id: UInt64, _ type: RecordType) {
    let start = begin()
    buffer.append(id)
    end(start, type)
  }

  private mutating func write(_ death: JournalDeath) {
    buffer.append(death.reason)
    buffer.append(signed: death.at)
    buffer.append(
      death.detail.utf8.count <= JournalFormat.detailLimit
        ? death.detail
        : String(decoding: death.detail.utf8.prefix(JournalFormat.detailLimit), as: UTF8.self))
  }

  @inline(__always)
  private mutating func begin() -> Int {
    let start = buffer.count
    buffer.append(fixed: UInt64(0))
    buffer.append(fixed: UInt64(0))
    return start
  }

  @inline(__always)
  private mutating func end(_ start: Int, _ type: RecordType) {
    let size = JournalFormat.recordHeaderSize
    buffer.store(UInt32(truncatingIfNeeded: buffer.count - start - size), at: start)
    buffer.store(sequence, at: start + 4)
    buffer.store(UInt16(type.rawValue), at: start + 8)
    let check = Checksum.crc32c(buffer.start + start, 10, seed: salt)
    buffer.store(UInt16(truncatingIfNeeded: check), at: start + 10)
    let head = Checksum.crc32c(buffer.start + start + 10, 2, seed: check)
    let crc = Checksum.crc32c(
      buffer.start + start + size, buffer.count - start - size, seed: head)
    buffer.store(crc, at: start + 12)
    sequence &+= 1
  }
}

/// What has happened to an entry since it was accepted.
struct EntryState: Hashable, Sendable {
  var attempts: UInt32 = 0
  var unfinished: UInt32 = 0
  var wasStarted = false
  var death: JournalDeath?
  var origin: EntryOrigin?

  static let startedOnce = EntryState(attempts: 1, unfinished: 1, wasStarted: true)
}

/// Which entry of which inbox it was.
struct EntryOrigin: Hashable, Sendable {
  var salt: UInt32
  var id: UInt64
}

/// How far an inbox was taken over.
struct InboxMark: Hashable, Sendable {
  var salt: UInt32
  var offset: Int
}

/// Where a file ends, whatever lies behind.
struct FileCut: Hashable, Sendable {
  var number: UInt64
  var offset: Int
}
