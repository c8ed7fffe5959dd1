// SPDX-License-Identifier: MIT

internal import Synchronization

/// A piece of a consumer's ring (``EventBuffer``): 32 bytes, half of a line of the cache.
///
/// What the ring holds takes one or three of them; the upper four bits of the first word, which are
/// clear in the number of an event, say which it is.
///
/// | first word | the others |
/// |---|---|
/// | the number of an acceptance | a direct delivery: its time, its sequence, its end |
/// | 1, the priority | the place of those behind it: origin, start, type of the command |
/// | 2 | an event, in the two units behind it |
///
/// A direct delivery is three events: it was accepted, it has started, which has the next number and
/// the same time, and it has ended. The end is zero until then; afterwards it is the distance from
/// the acceptance, in numbers over nanoseconds.
///
/// Safe: the ring alone makes units, of its own memory (``EventBuffer``).
struct EventUnit {
  enum Form { case delivery, place, event }

  static let size = 32
  private static let formShift: UInt64 = 60
  private static let timeBits: UInt64 = 40
  private static let numberBits: UInt64 = 24

  let address: UnsafeMutableRawPointer

  @inline(__always)
  private func set(_ word: Int, _ value: UInt64) {
    (address + word * 8).storeBytes(of: value, as: UInt64.self)
  }

  @inline(__always)
  private func word(_ word: Int) -> UInt64 { (address + word * 8).load(as: UInt64.self) }

  private var end: UnsafeMutablePointer<Atomic<UInt64>> {
    (address + 24).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  var form: Form {
    switch word(0) >> Self.formShift {
    case 0: .delivery
    case 1: .place
    default: .event
    }
  }
}

// MARK: Deliveries

/// What deliveries one after the other have in common, in plain bits.
struct EventPlace {
  /// Not counted: the log keeps all of its origins, and whoever reads a ring keeps the log.
  var origin: Unmanaged<EventOrigin>
  /// Counted once for each unit that names it; whoever reads that takes it over.
  var start: Unmanaged<EventContent.Kind>
  var type: Any.Type?
  var priority: CommandPriority
}

extension EventUnit {
  /// One of a direct delivery's events.
  enum Part: UInt8 { case accepted, started, ended }

  @inline(__always)
  func setDelivery(_ number: UInt64, at time: Int64, sequence: UInt64) {
    set(0, number)
    set(1, UInt64(bitPattern: time))
    set(2, sequence)
    end.pointee.store(0, ordering: .relaxed)
  }

  /// Adds the end to a delivery.
  ///
  /// - Returns: false when it is too far away, or before it.
  @inline(__always)
  func setEnd(_ number: UInt64, at time: Int64) -> Bool {
    let numbers = number &- word(0)
    let elapsed = UInt64(bitPattern: time &- Int64(bitPattern: word(1)))
    guard numbers >> Self.numberBits == 0, elapsed >> Self.timeBits == 0 else { return false }
    end.pointee.store(numbers << Self.timeBits | elapsed, ordering: .releasing)
    return true
  }

  var hasEnded: Bool { end.pointee.load(ordering: .acquiring) != 0 }

  /// One of a delivery's events.
  func event(_ part: Part, in place: EventPlace) -> RelayEvent {
    let time = Int64(bitPattern: word(1))
    let command = EventCommand(
      sequence: word(2), acceptedAt: time, type: place.type, index: CommandNode.none,
      attempt: part == .accepted ? 0 : 1, priority: place.priority)
    let origin = place.origin.takeUnretainedValue()
    switch part {
    case .accepted:
      return RelayEvent(.accepted, command, number: word(0), at: time, from: origin)
    case .started:
      return RelayEvent(
        .other(place.start.takeUnretainedValue()), command, number: word(0) &+ 1, at: time,
        from: origin)
    case .ended:
      let end = end.pointee.load(ordering: .relaxed)
      let elapsed = end & (1 << Self.timeBits - 1)
      return RelayEvent(
        .delivered, command, number: word(0) &+ end >> Self.timeBits,
        at: time &+ Int64(bitPattern: elapsed), from: origin)
    }
  }

  func setPlace(_ place: EventPlace) {
    set(0, 1 << Self.formShift | UInt64(bitPattern: Int64(place.priority.rawValue)))
    set(1, UInt64(UInt(bitPattern: place.origin.toOpaque())))
    set(2, UInt64(UInt(bitPattern: place.start.toOpaque())))
    // Safe: a metatype is one pointer, and nil is zero.
    set(3, UInt64(unsafeBitCast(place.type, to: UInt.self)))
  }

  var place: EventPlace {
    EventPlace(
      origin: .fromOpaque(UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: word(1)))!),
      start: .fromOpaque(UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: word(2)))!),
      // Safe: it was put in by `setPlace`.
      type: unsafeBitCast(UInt(truncatingIfNeeded: word(3)), to: Any.Type?.self),
      priority: CommandPriority(rawValue: .init(truncatingIfNeeded: word(0) & 0xFF))!)
  }
}

// MARK: Other events

extension EventUnit {
  /// Copies an event into this unit and the two behind it, without counting its origin.
  func setEvent(_ event: RelayEvent, _ second: EventUnit, _ third: EventUnit) {
    set(0, 2 << Self.formShift)
    event.copy(to: second.address, third.address, Self.size)
  }

  /// Takes it out again.
  func takeEvent(_ second: EventUnit, _ third: EventUnit) -> RelayEvent {
    RelayEvent.take(from: second.address, third.address, Self.size)
  }
}
