// SPDX-License-Identifier: MIT

/// Four first-in-first-out lists, one for each priority, threaded through a queue's nodes, and
/// which of them are not empty.
struct PriorityLists: ~Copyable {
  /// In memory of their own: a subscript of four stored lists is a switch, or a copy of all four.
  private let lists: UnsafeMutablePointer<CommandQueue.List>
  /// Bit n is set when the list of priority n is not empty.
  private(set) var bitmap: UInt8 = 0

  var highest: CommandPriority? {
    bitmap == 0 ? nil : CommandPriority(rawValue: UInt8(7 - bitmap.leadingZeroBitCount))
  }

  var lowest: CommandPriority? {
    bitmap == 0 ? nil : CommandPriority(rawValue: UInt8(bitmap.trailingZeroBitCount))
  }

  init() {
    lists = .allocate(capacity: CommandPriority.allCases.count)
    lists.initialize(repeating: CommandQueue.List(), count: CommandPriority.allCases.count)
  }

  deinit { lists.deallocate() }

  @inline(__always)
  subscript(priority: CommandPriority) -> CommandQueue.List {
    get { lists[Int(priority.rawValue)] }
    nonmutating set { lists[Int(priority.rawValue)] = newValue }
  }

  @inline(__always)
  mutating func append(_ index: UInt32, to priority: CommandPriority, in slab: CommandSlab) {
    insert(index, before: CommandNode.none, in: priority, in: slab)
  }

  /// Links a node in front of another one, or at the end.
  @inline(__always)
  mutating func insert(
    _ index: UInt32, before after: UInt32, in priority: CommandPriority, in slab: CommandSlab
  ) {
    var list = self[priority]
    let node = slab.node(index)
    let before = after == CommandNode.none ? list.tail : slab.node(after).pointee.previous
    node.pointee.previous = before
    node.pointee.next = after
    if before == CommandNode.none {
      list.head = index
    } else {
      slab.node(before).pointee.next = index
    }
    if after == CommandNode.none {
      list.tail = index
    } else {
      slab.node(after).pointee.previous = index
    }
    self[priority] = list
    bitmap |= 1 << priority.rawValue
  }

  /// Whether the list is not empty, and those of lower priorities are.
  @inline(__always)
  func isLowest(_ priority: CommandPriority) -> Bool {
    bitmap.trailingZeroBitCount == Int(priority.rawValue)
  }

  /// Takes everything up to a node out; the links of what is taken out stay.
  mutating func removeFirst(
    through last: UInt32, of priority: CommandPriority, in slab: CommandSlab
  ) {
    let after = slab.node(last).pointee.next
    var list = self[priority]
    list.head = after
    if after == CommandNode.none {
      list.tail = CommandNode.none
      bitmap &= ~(1 << priority.rawValue)
    } else {
      slab.node(after).pointee.previous = CommandNode.none
    }
    self[priority] = list
  }

  @inline(__always)
  mutating func remove(_ index: UInt32, from priority: CommandPriority, in slab: CommandSlab) {
    var list = self[priority]
    let node = slab.node(index)
    let (before, after) = (node.pointee.previous, node.pointee.next)
    if before == CommandNode.none {
      list.head = after
    } else {
      slab.node(before).pointee.next = after
    }
    if after == CommandNode.none {
      list.tail = before
    } else {
      slab.node(after).pointee.previous = before
    }
    node.pointee.previous = CommandNode.none
    node.pointee.next = CommandNode.none
    self[priority] = list
    if list.head == CommandNode.none { bitmap &= ~(1 << priority.rawValue) }
  }
}
