// SPDX-License-Identifier: MIT

internal import Synchronization

/// The events that one consumer has not read yet: a ring that loses the oldest when it is full.
///
/// Whoever holds the log's token puts them in and waits for nobody: two plain words say where the
/// ring begins and ends (Lamport, "Proving the correctness of multiprocess programs", 1977, section
/// on the bounded buffer). Only what takes events out, or makes room, is behind the lock.
///
/// Safe to share: the cells from `head` to `tail` are full. The holder of the token alone moves
/// `tail`, writes the cells behind it and exchanges the memory, the latter under the lock; `head` is
/// moved under the lock. In a cell an event's origin is not counted: the log keeps all of its
/// origins, and whoever reads the buffer keeps the log. RaceMixTests under the thread sanitizer, and
/// RelayEventsTests under the address sanitizer, would notice.
final class EventBuffer: @unchecked Sendable {
  typealias Reader = UnsafeContinuation<RelayEvent?, Never>

  private struct Readers {
    /// Tasks that wait for an event, by number.
    var waiting: [(number: UInt64, reader: Reader)] = []
    var isFinished = false
  }

  private let limit: Int
  private let head = Atomic<Int>(0)
  private let tail = Atomic<Int>(0)
  private var cells: UnsafeMutablePointer<RelayEvent>
  /// A power of two.
  private var capacity = 16
  private let readers = Lock(Readers())

  /// - Parameter limit: how many events it holds, at least 1.
  init(limit: Int) {
    self.limit = limit
    cells = .allocate(capacity: capacity)
  }

  deinit {
    while takeFirst() != nil {}
    cells.deallocate()
  }

  private func cell(_ place: Int) -> UnsafeMutablePointer<RelayEvent> {
    cells + (place & (capacity - 1))
  }
}

// MARK: Putting in

extension EventBuffer {
  /// Adds an event; wakes nobody. For the holder of the token.
  @inline(__always)
  func append(_ event: RelayEvent) {
    let place = tail.load(ordering: .relaxed)
    if place &- head.load(ordering: .acquiring) >= min(limit, capacity) { makeRoom() }
    event.copy(to: cell(place))
    tail.store(place &+ 1, ordering: .releasing)
  }

  @inline(never)
  private func makeRoom() {
    // Let go of outside the lock: an error's release is foreign code.
    let displaced = readers.withLock { _ -> RelayEvent? in
      let (first, last) = (head.load(ordering: .relaxed), tail.load(ordering: .relaxed))
      if last - first == capacity, capacity < limit { grow(first, last) }
      return last - first >= limit ? takeFirst() : nil
    }
    withExtendedLifetime(displaced) {}
  }

  private func grow(_ first: Int, _ last: Int) {
    let former = (cells: cells, mask: capacity - 1)
    capacity *= 2
    cells = .allocate(capacity: capacity)
    for place in first..<last {
      cell(place).moveInitialize(from: former.cells + (place & former.mask), count: 1)
    }
    former.cells.deallocate()
  }

  /// Gives events to tasks that wait for them.
  ///
  /// - Returns: whether a task still waits.
  func wakeReaders() -> Bool {
    while true {
      var next: (Reader, RelayEvent?)?
      let isWaiting = readers.withLock { readers in
        guard let first = readers.waiting.first else { return false }
        let event = takeFirst()
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
      if let event = takeFirst() { return .some(event) }
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
  private func takeFirst() -> RelayEvent? {
    let first = head.load(ordering: .relaxed)
    guard first < tail.load(ordering: .acquiring) else { return nil }
    let event = RelayEvent.take(from: cell(first))
    head.store(first + 1, ordering: .releasing)
    return event
  }
}
