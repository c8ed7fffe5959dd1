// SPDX-License-Identifier: MIT

/// Items by identifier: open addressing with linear probing, in one array.
///
/// A value: a copy is made when one of two is changed. Identifiers mostly follow each other, so they
/// are their own places: neighbours stay neighbours, which the processor's caches like. Where that
/// makes items pile up, a multiplication spreads them (Fibonacci hashing, Knuth 6.4). Who is further
/// from home goes first (Robin Hood hashing, Celis 1986), so that removing moves back only those that
/// are not at home.
struct IdentifierTable: Sendable {
  private struct Slot {
    var id: UInt64 = 0
    /// Of size 0 if the slot is free: no record is that short.
    var item = JournalIndex.Item()
  }

  private var slots: ContiguousArray<Slot> = []
  private(set) var count = 0
  /// 64 less the logarithm of the number of slots, once identifiers are not their own places.
  private var shift: UInt64?

  init() {}

  mutating func reserve(_ count: Int) {
    var size = 16
    while size * 7 < count * 8 { size *= 2 }
    if size > slots.count { resize(to: size) }
  }

  @inline(__always)
  subscript(_ id: UInt64) -> JournalIndex.Item? {
    guard count > 0 else { return nil }
    let slot = slots[find(id)]
    return slot.item.size == 0 || slot.id != id ? nil : slot.item
  }

  /// - Returns: what was there before.
  @inline(__always)
  mutating func update(_ id: UInt64, _ item: JournalIndex.Item) -> JournalIndex.Item? {
    if (count + 1) * 8 > slots.count * 7 { resize(to: max(16, slots.count * 2)) }
    var index = find(id)
    if shift == nil, (index - home(id)) & (slots.count - 1) > 64 {
      spread()
      index = find(id)
    }
    if slots[index].item.size != 0, slots[index].id == id {
      let before = slots[index].item
      slots[index].item = item
      return before
    }
    var moving = Slot(id: id, item: item)
    while moving.item.size != 0 {
      swap(&moving, &slots[index])
      index = (index + 1) & (slots.count - 1)
      while moving.item.size != 0, slots[index].item.size != 0,
        distance(slots[index].id, index) >= distance(moving.id, index)
      { index = (index + 1) & (slots.count - 1) }
    }
    count += 1
    return nil
  }

  /// Changes an item in its place.
  ///
  /// - Returns: whether there is one.
  @inline(__always)
  mutating func change(_ id: UInt64, _ body: (inout JournalIndex.Item) -> Void) -> Bool {
    guard count > 0 else { return false }
    let index = find(id)
    guard slots[index].item.size != 0, slots[index].id == id else { return false }
    body(&slots[index].item)
    return true
  }

  @inline(__always)
  mutating func remove(_ id: UInt64) -> JournalIndex.Item? {
    guard count > 0 else { return nil }
    var hole = find(id)
    let item = slots[hole].item
    guard item.size != 0, slots[hole].id == id else { return nil }
    count -= 1
    while true {
      let next = (hole + 1) & (slots.count - 1)
      guard slots[next].item.size != 0, distance(slots[next].id, next) > 0 else { break }
      slots[hole] = slots[next]
      hole = next
    }
    slots[hole] = Slot()
    return item
  }

  mutating func removeAll() {
    slots = []
    count = 0
    shift = nil
  }

  /// All of them, in no order.
  var all: [(id: UInt64, item: JournalIndex.Item)] {
    slots.compactMap { $0.item.size == 0 ? nil : ($0.id, $0.item) }
  }

  @inline(__always)
  private func home(_ id: UInt64) -> Int {
    guard let shift else { return Int(truncatingIfNeeded: id) & (slots.count - 1) }
    return Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// How far from its home an identifier is.
  @inline(__always)
  private func distance(_ id: UInt64, _ index: Int) -> Int {
    (index - home(id)) & (slots.count - 1)
  }

  /// Where an identifier is; if it is nowhere, where it would go.
  @inline(__always)
  private func find(_ id: UInt64) -> Int {
    let mask = slots.count - 1
    var index = home(id)
    var steps = 0
    while slots[index].item.size != 0, slots[index].id != id {
      if steps > distance(slots[index].id, index) { break }
      index = (index + 1) & mask
      steps += 1
    }
    return index
  }

  /// Gives up neighbourhood, since items pile up; with room, so that they do not do so again.
  private mutating func spread() {
    shift = 0
    resize(to: slots.count * 2)
  }

  private mutating func resize(to size: Int) {
    let before = slots
    slots = ContiguousArray(repeating: Slot(), count: size)
    if shift != nil { shift = UInt64(64 - size.trailingZeroBitCount) }
    count = 0
    for slot in before where slot.item.size != 0 { _ = update(slot.id, slot.item) }
  }
}
