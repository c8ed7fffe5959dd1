// SPDX-License-Identifier: MIT

public import Synchronization

/// The part of one feature in one relay that the direct path reads: raw memory at a fixed address.
///
/// It belongs to a ``SlotStorage`` and lives as long as that, which the relay's table keeps until
/// the relay's own end; whoever dispatches holds the relay.
@usableFromInline
struct Slot: ~Copyable {
  /// The identity of the feature's type.
  @usableFromInline let key: UInt

  /// The registration that may be called directly: nil unless there is one, nothing waits, the
  /// gates are open, nothing is retired and nobody looks. Published under the slot's lock, read on
  /// the main actor only.
  @usableFromInline let direct: Atomic<UnsafeMutableRawPointer?>

  /// The same while somebody looks: the registration that may be called without a way through the
  /// queue, with events (SlotObservation.swift). Nil while a thread changes the slot.
  let observed: Atomic<UnsafeMutableRawPointer?>

  /// Whether somebody follows the status of the direct command that runs.
  let isFollowed = Atomic<Bool>(false)

  /// Whether a command here may go straight to an ancestor's handler: as for ``direct``, with
  /// nothing registered here.
  let inherits: Atomic<Bool>

  /// The slot's place among those of its relay.
  let number: UInt32

  /// Four times the number of direct deliveries; bit 0 is set while the lane is busy, bit 1 while
  /// it is so for a direct one. Written on the main actor only.
  ///
  /// One word, so that a reader elsewhere never sees a command that is neither running nor
  /// delivered.
  @usableFromInline let lane: Atomic<UInt>

  let storage: Unmanaged<SlotStorage>

  /// Where the slot's events come from: made for the first of them, or when its name is asked for.
  let origin = EventOriginPlace()

  init(key: UInt, number: UInt32, storage: Unmanaged<SlotStorage>) {
    self.key = key
    direct = Atomic(nil)
    observed = Atomic(nil)
    inherits = Atomic(false)
    self.number = number
    lane = Atomic(0)
    self.storage = storage
  }
}

extension UnsafeMutablePointer<Slot> {
  /// Says that no command may go past the queue. Under the slot's lock. Mostly it has been said
  /// already, and not to write spares the main actor's cache.
  @inline(__always)
  func withdraw() {
    if pointee.direct.load(ordering: .relaxed) != nil {
      pointee.direct.store(nil, ordering: .releasing)
    }
    if pointee.inherits.load(ordering: .relaxed) {
      pointee.inherits.store(false, ordering: .releasing)
    }
  }

  /// Whether a command of this slot, or one that borrows its lane, runs. Exact on the main actor
  /// only.
  var isLaneBusy: Bool { pointee.lane.load(ordering: .relaxed) & 1 == 1 }

  /// Where the slot's events come from.
  func origin(_ recorder: any EventRecorder) -> EventOrigin {
    pointee.origin.origin { recorder.origin(slot: pointee.number, feature: pointee.key) }
  }
}

/// One registration as the direct path sees it: this header, and behind it the cell that holds the
/// handler as the feature's type, however many words that has.
///
/// The cell's first word is the object: always for an owned handler, only while a command runs for
/// a weak one. Read and written on the main actor only. The memory belongs to a
/// ``RegistrationEntry``; while the lane is busy nothing is freed.
@usableFromInline
struct EntryHeader: ~Copyable {
  @usableFromInline weak var object: AnyObject?
  @usableFromInline let isOwned: Bool
  /// Written on the main actor, without the lock.
  @usableFromInline let wasUsed = Atomic<Bool>(false)
  /// Whether the slot was emptied while it was registered. Under the slot's lock.
  var isEmptied = false
  /// The handler's own type.
  let type: Any.Type

  init(object: AnyObject?, type: Any.Type, isOwned: Bool) {
    self.object = object
    self.type = type
    self.isOwned = isOwned
  }

  @usableFromInline static var cellOffset: Int { 24 }
}

extension UnsafeMutableRawPointer {
  @inlinable @inline(__always)
  var header: UnsafeMutablePointer<EntryHeader> { assumingMemoryBound(to: EntryHeader.self) }

  @inlinable @inline(__always)
  var cell: UnsafeMutableRawPointer { self + EntryHeader.cellOffset }

  /// Makes the cell hold a live handler; false when the handler has died. Call on the main actor,
  /// and not twice.
  @inlinable @inline(__always)
  func begin() -> Bool {
    if header.pointee.isOwned { return true }
    guard let object = header.pointee.object else { return false }
    cell.storeBytes(
      of: UInt(bitPattern: Unmanaged.passRetained(object).toOpaque()), as: UInt.self)
    return true
  }

  /// Lets go of the handler that ``begin()`` took. It may be the last reference: call it outside
  /// any lock.
  @inlinable @inline(__always)
  func end() {
    if header.pointee.isOwned { return }
    Unmanaged<AnyObject>.fromOpaque(cell.load(as: UnsafeRawPointer.self)).release()
  }
}

/// Through which the direct path finds a relay's slots and its ancestors: raw memory that the
/// relay's core owns. The cores themselves are referenced weakly, so that each look at one would
/// cost a slow retain.
@usableFromInline
struct SlotDirectory: ~Copyable {
  @usableFromInline let table: Atomic<UnsafeMutablePointer<SlotTable>>
  let gateIsClosed = Atomic<Bool>(false)
  /// Whether somebody waits until nothing runs. The main actor's.
  var hasIdleWaiters = false
  /// Whether the relay ever had a child.
  let hasChildren = Atomic<Bool>(false)
  /// Another number whenever there are other registrations.
  let registrations = Atomic<UInt64>(0)
  /// The parent's, which the relay keeps alive by way of its parent.
  let parent: UnsafeMutablePointer<SlotDirectory>?

  init(
    table: UnsafeMutablePointer<SlotTable>, parent: UnsafeMutablePointer<SlotDirectory>?
  ) {
    self.table = Atomic(table)
    self.parent = parent
  }
}

extension UnsafeMutablePointer<SlotDirectory> {
  func find(_ key: UInt) -> UnsafeMutablePointer<Slot>? {
    pointee.table.load(ordering: .acquiring).pointee.find(key)
  }

  func registrationsChanged() {
    pointee.registrations.add(1, ordering: .relaxed)
  }

  /// Which registrations there are, here and above: another number when there are others.
  var registrationVersion: UInt64 {
    var version: UInt64 = 0
    var directory: UnsafeMutablePointer<SlotDirectory>? = self
    while let current = directory {
      version &+= current.pointee.registrations.load(ordering: .relaxed)
      directory = current.pointee.parent
    }
    return version
  }
}

/// Where a relay finds its slots: an open-addressing table to which slots are only ever added.
///
/// A table that is full is replaced by one of twice the size; old ones are kept until the relay
/// goes, since a reader may still be in one. Linear probing after Knuth, The Art of Computer
/// Programming, volume 3, section 6.4.
@usableFromInline
struct SlotTable {
  @usableFromInline struct Cell: ~Copyable {
    @usableFromInline let slot: Atomic<UnsafeMutablePointer<Slot>?>
  }

  @usableFromInline let mask: UInt
  /// The main actor's identity, here because the direct path has this cache line at hand.
  @usableFromInline let main: UInt
  @usableFromInline let cells: UnsafeMutablePointer<Cell>

  static func make(capacity: Int) -> UnsafeMutablePointer<SlotTable> {
    let cells = UnsafeMutablePointer<Cell>.allocate(capacity: capacity)
    for index in 0..<capacity { (cells + index).initialize(to: Cell(slot: Atomic(nil))) }
    let table = UnsafeMutablePointer<SlotTable>.allocate(capacity: 1)
    table.initialize(
      to: SlotTable(
        mask: UInt(capacity - 1),
        main: UInt(bitPattern: Unmanaged.passUnretained(MainActor.shared).toOpaque()),
        cells: cells))
    return table
  }

  static func free(_ table: UnsafeMutablePointer<SlotTable>) {
    let capacity = Int(table.pointee.mask) + 1
    table.pointee.cells.deinitialize(count: capacity)
    table.pointee.cells.deallocate()
    table.deallocate()
  }

  @inlinable @inline(__always)
  func find(_ key: UInt) -> UnsafeMutablePointer<Slot>? {
    var index = (key >> 4) & mask
    while let slot = cells[Int(bitPattern: index)].slot.load(ordering: .acquiring) {
      if slot.pointee.key == key { return slot }
      index = (index &+ 1) & mask
    }
    return nil
  }

  /// Adds a slot. Under the relay's lock, and only while the table has a free cell left.
  func add(_ slot: UnsafeMutablePointer<Slot>) {
    var index = (slot.pointee.key >> 4) & mask
    while cells[Int(bitPattern: index)].slot.load(ordering: .relaxed) != nil {
      index = (index &+ 1) & mask
    }
    cells[Int(bitPattern: index)].slot.store(slot, ordering: .releasing)
  }
}

/// The identity of a feature's type.
@usableFromInline
enum FeatureKey {
  @inlinable @inline(__always)
  static func of<F>(_ feature: F.Type) -> UInt {
    // Safe: a metatype is one pointer to the type's metadata, which is unique and never goes.
    UInt(bitPattern: unsafeBitCast(feature as Any.Type, to: Int.self))
  }

  static func type(_ key: UInt) -> Any.Type {
    // Safe: the key was made from a metatype by `of`.
    unsafeBitCast(Int(bitPattern: key), to: Any.Type.self)
  }
}
