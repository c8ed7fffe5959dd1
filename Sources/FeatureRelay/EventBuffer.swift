// SPDX-License-Identifier: MIT

internal import Synchronization

/// The events that one consumer has not read yet: a ring that loses the oldest when it is full.
///
/// Whoever holds the log's token puts them in and waits for nobody: plain words say where the ring
/// begins and ends (Lamport, "Proving the correctness of multiprocess programs", 1977, section on
/// the bounded buffer). Only what takes events out, or makes room, is behind the lock.
///
/// The three events of a direct delivery take one unit (``EventUnit``), half of a line of the cache:
/// what is written here has been read by another processor, mostly, and each line has to come from
/// there. The end is added to its unit only as long as that is the last one, so that the events stay
/// in their order; and the reader stays at a unit without an end as long as that is the last one.
/// So one of them need not ask the other.
///
/// Safe to share: the units from `head` to `tail` are full. The holder of the token alone moves
/// `tail`, writes the units behind it, adds the end to the last one and exchanges the memory, the
/// latter under the lock; `head` is moved under the lock. In a unit an event's origin is not counted:
/// the log keeps all of its origins, and whoever reads the buffer keeps the log. RaceMixTests and
/// EventBufferTests under the thread sanitizer, and RelayEventsTests under the address sanitizer,
/// would notice.
final class EventBuffer: @unchecked Sendable {
  typealias Reader = UnsafeContinuation<RelayEvent?, Never>

  /// Where the reading is.
  private struct Readers {
    var head = 0
    /// The next event of the delivery at the head.
    var part = EventUnit.Part.accepted
    /// What the head's delivery has in common with those before it; nil before the first.
    var place: EventPlace?
    /// How many events have been taken out, or lost.
    var taken = 0
    /// Tasks that wait for an event, by number.
    var waiting: [(number: UInt64, reader: Reader)] = []
    var isFinished = false
  }

  private let limit: Int
  private let tail = Atomic<Int>(0)
  private var units: UnsafeMutableRawPointer
  /// A power of two.
  private var capacity = 16
  private let readers = Lock(Readers())

  // The token's holder's.
  /// Up to where there is certainly room for units.
  private var end = 16
  /// For how many events more there certainly is.
  private var room: Int
  /// How many events have been put in.
  private var added = 0
  /// The acceptance that the last unit begins with, if it is a delivery without an end.
  private var openDelivery = UInt64.max
  /// The last place that was put in.
  private var start: Unmanaged<EventContent.Kind>?
  private var type: Any.Type?
  private var priority = CommandPriority.normal

  /// - Parameter limit: how many events it holds, at least 1.
  init(limit: Int) {
    precondition(MemoryLayout<RelayEvent>.size <= 2 * EventUnit.size)
    self.limit = limit
    room = limit
    units = Self.memory(capacity)
  }

  deinit {
    readers.withLock { readers in
      while takeFirst(&readers) != nil {}
      readers.place?.start.release()
    }
    units.deallocate()
  }

  private static func memory(_ capacity: Int) -> UnsafeMutableRawPointer {
    .allocate(byteCount: capacity * EventUnit.size, alignment: 2 * EventUnit.size)
  }

  @inline(__always)
  private func unit(_ place: Int) -> EventUnit {
    EventUnit(address: units + (place & (capacity &- 1)) &* EventUnit.size)
  }
}

// MARK: Putting in

extension EventBuffer {
  /// Adds an event; wakes nobody. For the holder of the token.
  func append(_ event: RelayEvent) {
    let place = tail.load(ordering: .relaxed)
    if place &+ 3 > end { makeRoom() }
    unit(place).setEvent(event, unit(place &+ 1), unit(place &+ 2))
    openDelivery = .max
    publish(place &+ 3, events: 1)
  }

  /// Adds that a command was accepted and has started. For the holder of the token.
  @inline(__always)
  func appendStart(of observation: UnsafeMutablePointer<Observation>) {
    let accepted = observation.pointee.accepted.subject
    var place = tail.load(ordering: .relaxed)
    if place &+ 2 > end { makeRoom() }
    if start?.toOpaque() != observation.pointee.start.toOpaque() || type != accepted.type
      || priority != accepted.priority
    {
      appendPlace(of: observation, at: place)
      place &+= 1
    }
    let number = observation.pointee.accepted.number
    unit(place).setDelivery(number, at: accepted.acceptedAt, sequence: accepted.sequence)
    openDelivery = number
    publish(place &+ 1, events: 2)
  }

  @inline(never)
  private func appendPlace(of observation: UnsafeMutablePointer<Observation>, at place: Int) {
    let accepted = observation.pointee.accepted.subject
    start = observation.pointee.start
    type = accepted.type
    priority = accepted.priority ?? .normal
    _ = observation.pointee.start.retain()
    unit(place).setPlace(
      EventPlace(
        origin: observation.pointee.accepted.unretainedOrigin, start: observation.pointee.start,
        type: type, priority: priority))
  }

  /// Adds that it was delivered. For the holder of the token.
  @inline(__always)
  func appendEnd(of observation: UnsafeMutablePointer<Observation>) {
    let last = tail.load(ordering: .relaxed)
    if openDelivery == observation.pointee.accepted.number,
      unit(last &- 1).setEnd(
        observation.pointee.delivered.number, at: observation.pointee.delivered.nanoseconds)
    {
      openDelivery = .max
      publish(last, events: 1)
    } else {
      observation.pointee.appendDelivered(to: self)
    }
  }

  @inline(__always)
  private func publish(_ tail: Int, events: Int) {
    self.tail.store(tail, ordering: .releasing)
    added &+= events
    room &-= events
    if room < 0 { loseOldest() }
  }

  /// Makes room for three units.
  @inline(never)
  private func makeRoom() {
    readers.withLock { readers in
      let last = tail.load(ordering: .relaxed)
      if last + 3 > readers.head + capacity { grow(readers.head, last) }
      end = readers.head + capacity
    }
  }

  private func grow(_ first: Int, _ last: Int) {
    let former = (units: units, mask: capacity - 1)
    capacity *= 2
    units = Self.memory(capacity)
    for place in first..<last {
      unit(place).address.copyMemory(
        from: former.units + (place & former.mask) * EventUnit.size, byteCount: EventUnit.size)
    }
    former.units.deallocate()
  }

  /// Loses the oldest events beyond the limit.
  @inline(never)
  private func loseOldest() {
    while loseDeliveries() { loseEvent() }
  }

  /// - Returns: whether the oldest one is no delivery's, and has to go as well.
  private func loseDeliveries() -> Bool {
    readers.withLock { readers in
      while added - readers.taken > limit, let found = findFirst(&readers) {
        guard let part = found else { return true }
        pass(part, &readers)
      }
      room = limit - (added - readers.taken)
      return false
    }
  }

  @inline(never)
  private func loseEvent() {
    let displaced = readers.withLock { readers -> RelayEvent? in
      // It may have been read meanwhile.
      guard added - readers.taken > limit, case .some(nil) = findFirst(&readers) else { return nil }
      return takeEvent(&readers)
    }
    // Let go of outside the lock: an error's release is foreign code.
    withExtendedLifetime(displaced) {}
  }
}

// MARK: Waking

extension EventBuffer {
  /// Gives events to tasks that wait for them.
  ///
  /// - Returns: whether a task still waits.
  func wakeReaders() -> Bool {
    while true {
      var next: (Reader, RelayEvent?)?
      let isWaiting = readers.withLock { readers in
        guard let first = readers.waiting.first else { return false }
        let event = takeFirst(&readers)
        guard event != nil || readers.isFinished else { return true }
        readers.waiting.removeFirst()
        next = (first.reader, event)
        return false
      }
      guard let (reader, event) = next else { return isWaiting }
      reader.resume(returning: event)
    }
  }

  /// Ends the sequence once everything in the buffer is read.
  func finish() {
    readers.withLock { $0.isFinished = true }
    _ = wakeReaders()
  }
}

// MARK: Taking out

extension EventBuffer {
  /// The first event, without waiting.
  ///
  /// - Returns: nil when there is none yet; nil in it when there will be none.
  func next() -> RelayEvent?? {
    readers.withLock { readers in
      if let event = takeFirst(&readers) { return .some(event) }
      return readers.isFinished ? .some(nil) : nil
    }
  }

  /// Lets a task wait. Whoever calls it looks for an event once more after it has said that
  /// somebody waits: ``wakeReaders()``.
  func wait(_ number: UInt64, _ reader: Reader) {
    let isOver = readers.withLock { readers in
      // If it is cancelled from now on, it finds itself among those who wait.
      if Task.isCancelled { return true }
      readers.waiting.append((number, reader))
      return false
    }
    if isOver { reader.resume(returning: nil) }
  }

  /// A task that waits is cancelled.
  func stopWaiting(_ number: UInt64) {
    let reader = readers.withLock { readers -> Reader? in
      guard let place = readers.waiting.firstIndex(where: { $0.number == number })
      else { return nil }
      return readers.waiting.remove(at: place).reader
    }
    reader?.resume(returning: nil)
  }

  /// Under the lock.
  private func takeFirst(_ readers: inout Readers) -> RelayEvent? {
    guard let found = findFirst(&readers) else { return nil }
    guard let part = found, let place = readers.place else { return takeEvent(&readers) }
    defer { pass(part, &readers) }
    return unit(readers.head).event(part, in: place)
  }

  /// Brings the head to the first event.
  ///
  /// - Returns: which one of a delivery it is; nil in it when it is another event; nil when there is
  ///   none.
  private func findFirst(_ readers: inout Readers) -> EventUnit.Part?? {
    while true {
      // Before the unit is looked at: where another one stands behind it, nothing is added to it.
      let end = tail.load(ordering: .acquiring)
      guard readers.head < end else { return nil }
      let unit = unit(readers.head)
      switch unit.form {
      case .event: return .some(nil)
      case .place:
        readers.place?.start.release()
        readers.place = unit.place
        readers.head += 1
      case .delivery:
        if readers.part != .ended || unit.hasEnded { return .some(readers.part) }
        guard readers.head + 1 < end else { return nil }
        readers.head += 1
        readers.part = .accepted
      }
    }
  }

  /// Goes on behind a delivery's event.
  @inline(__always)
  private func pass(_ part: EventUnit.Part, _ readers: inout Readers) {
    readers.taken += 1
    switch part {
    case .accepted: readers.part = .started
    case .started: readers.part = .ended
    case .ended:
      readers.part = .accepted
      readers.head += 1
    }
  }

  /// Takes out an event that is no delivery's.
  private func takeEvent(_ readers: inout Readers) -> RelayEvent {
    readers.taken += 1
    let place = readers.head
    readers.head += 3
    return unit(place).takeEvent(unit(place + 1), unit(place + 2))
  }
}
