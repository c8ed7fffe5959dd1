// SPDX-License-Identifier: MIT

/// What is in the journal and where: a pure value that follows the records.
struct JournalIndex: Sendable {
  /// Where an entry lies and what has happened to it.
  struct Item: Hashable, Sendable {
    var offset = 0
    /// The file's number, its lower half.
    var file: UInt32 = 0
    /// Bytes of its record.
    var size: Int32 = 0
    var attempts: UInt16 = 0
    var unfinished: UInt16 = 0
    var wasStarted = false
    var isDead = false
    /// Whether `places` has another place for it than its record.
    var isMoved = false
    var hasOrigin = false
  }

  private(set) var items = IdentifierTable()
  private(set) var deaths: [UInt64: JournalDeath] = [:]
  private(set) var places: [UInt64: JournalPlace] = [:]
  /// How far inboxes were taken over, by salt.
  var inboxes: [UInt32: Int] = [:]
  /// Entries of inboxes that are still here, by what they were there.
  private(set) var origins: [EntryOrigin: UInt64] = [:]
  private var originsByIdentifier: [UInt64: EntryOrigin] = [:]
  /// Bytes of the records of all items.
  private(set) var liveBytes = 0
  private(set) var nextIdentifier: UInt64 = 1
  private(set) var highestRun: UInt64 = 0

  var liveCount: Int { items.count - deaths.count }

  /// An identifier, or a run, has been seen: later ones are higher.
  @inline(__always)
  mutating func note(identifier: UInt64, run: UInt64 = 0) {
    if identifier >= nextIdentifier { nextIdentifier = identifier &+ 1 }
    if run > highestRun { highestRun = run }
  }

  mutating func note(header: FileHeader) {
    nextIdentifier = max(nextIdentifier, header.nextIdentifier)
    highestRun = max(highestRun, header.run)
  }

  mutating func note(nextIdentifier: UInt64, run: UInt64) {
    self.nextIdentifier = max(self.nextIdentifier, nextIdentifier)
    highestRun = max(highestRun, run)
  }

  mutating func reserve(_ count: Int) { items.reserve(count) }

  /// An entry was written that replaces none and to which nothing has happened.
  @inline(__always)
  mutating func accept(_ id: UInt64, run: UInt64, file: UInt64, offset: Int, size: Int) {
    note(identifier: id, run: run)
    take(
      id,
      Item(
        offset: offset, file: UInt32(truncatingIfNeeded: file),
        size: Int32(truncatingIfNeeded: size)))
  }

  /// An entry was written.
  mutating func accept(
    _ id: UInt64, run: UInt64, replaces: UInt64?, _ state: EntryState, file: UInt64, offset: Int,
    size: Int
  ) {
    note(identifier: id, run: run)
    if let replaces { remove(replaces) }
    var item = Item(
      offset: offset, file: UInt32(truncatingIfNeeded: file), size: Int32(truncatingIfNeeded: size))
    if state.wasStarted {
      item.attempts = UInt16(clamping: state.attempts)
      item.unfinished = UInt16(clamping: state.unfinished)
      item.wasStarted = true
    }
    if let death = state.death {
      item.isDead = true
      deaths[id] = death
    }
    if let origin = state.origin {
      item.hasOrigin = true
      origins[origin] = id
      originsByIdentifier[id] = origin
    }
    take(id, item)
  }

  @inline(__always)
  private mutating func take(_ id: UInt64, _ item: Item) {
    liveBytes += Int(item.size)
    if let before = items.update(id, item) {
      liveBytes -= Int(before.size)
      if before.isDead, !item.isDead { deaths[id] = nil }
      if before.isMoved { places[id] = nil }
    }
  }

  /// A record other than an entry was written.
  ///
  /// - Returns: whether it concerned anything that is here.
  @discardableResult
  mutating func apply(_ record: JournalRecord) -> Bool {
    switch record {
    case .accepted, .acceptedAndStarted: return false
    case .acknowledged(let id), .ended(let id, _): return remove(id)
    case .started(let id, let attempt):
      return change(id) { item in
        item.attempts = UInt16(clamping: attempt)
        item.unfinished = item.unfinished == .max ? .max : item.unfinished + 1
        item.wasStarted = true
      }
    case .interrupted(let id):
      return change(id) { item in
        if item.attempts > 0 { item.attempts -= 1 }
        if item.unfinished > 0 { item.unfinished -= 1 }
      }
    case .failed(let id, let place):
      if let place, items[id] != nil {
        places[id] = place
        note(identifier: id, run: place.run)
      }
      return change(id) { item in
        if item.unfinished > 0 { item.unfinished -= 1 }
        if place != nil { item.isMoved = true }
      }
    case .dead(let id, let death):
      guard change(id, { $0.isDead = true }) else { return false }
      deaths[id] = death
      return true
    case .revived(let id):
      deaths[id] = nil
      return change(id) { item in
        item.isDead = false
        item.attempts = 0
        item.unfinished = 0
      }
    case .barrier:
      items.removeAll()
      deaths.removeAll()
      places.removeAll()
      origins.removeAll()
      originsByIdentifier.removeAll()
      liveBytes = 0
      return true
    }
  }

  /// The entry was written anew, at another place.
  mutating func move(_ id: UInt64, from item: Item, file: UInt64, offset: Int, size: Int) {
    guard let now = items[id], now.file == item.file, now.offset == item.offset else { return }
    liveBytes += size - Int(now.size)
    _ = items.change(id) { item in
      item.file = UInt32(truncatingIfNeeded: file)
      item.offset = offset
      item.size = Int32(truncatingIfNeeded: size)
    }
  }

  /// What has happened to an item.
  func state(_ id: UInt64, _ item: Item) -> EntryState {
    EntryState(
      attempts: UInt32(item.attempts), unfinished: UInt32(item.unfinished),
      wasStarted: item.wasStarted, death: item.isDead ? deaths[id] : nil,
      origin: item.hasOrigin ? originsByIdentifier[id] : nil)
  }

  @discardableResult
  @inline(__always)
  private mutating func remove(_ id: UInt64) -> Bool {
    guard let item = items.remove(id) else { return false }
    liveBytes -= Int(item.size)
    if item.isDead { deaths[id] = nil }
    if item.isMoved { places[id] = nil }
    if item.hasOrigin, let origin = originsByIdentifier.removeValue(forKey: id) {
      origins[origin] = nil
    }
    return true
  }

  @inline(__always)
  private mutating func change(_ id: UInt64, _ body: (inout Item) -> Void) -> Bool {
    items.change(id, body)
  }
}
