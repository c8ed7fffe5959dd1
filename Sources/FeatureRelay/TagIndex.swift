// SPDX-License-Identifier: MIT

/// The tags of a queue's commands: which ones a command was dispatched with, and who carries one, in
/// the order of acceptance.
///
/// A list of tags is kept once, under a number that its commands' nodes have: mostly many commands
/// share one, and a command without anything else that is rare needs no ``CommandDetails``.
///
/// An entry is not taken out when its command ends: it then names a node that is free or belongs to
/// another command, which its sequence number tells. Once there are twice as many entries as there
/// were live ones the last time, the others go, and lists that nobody has any more: a constant cost
/// for each command with a tag, and none when it ends.
struct TagIndex: ~Copyable {
  /// The number of a command without tags.
  static let none = UInt32.max
  private static let smallest = 64

  fileprivate struct Entry {
    let index: UInt32
    let sequence: UInt64
  }

  /// What some commands were dispatched with; without tags where a number is free.
  fileprivate struct List {
    var tags: [CommandTag] = []
    /// Where there are several: the numbers of the lists of each alone, none of them twice.
    var parts: [UInt32] = []
    /// Where there is one: who carries it, alone or among others.
    var entries: [Entry] = []
  }

  fileprivate struct Body {
    var lists: [List] = []
    var numbers: [[CommandTag]: UInt32] = [:]
    var free: [UInt32] = []
    /// The list that was asked for last: one command's tags are mostly those of the one before.
    var latest = TagIndex.none
    var count = 0
    var sweepsAt = TagIndex.smallest
  }

  /// In memory of its own, which only a queue has that has seen a tag.
  private var body: UnsafeMutablePointer<Body>?

  /// How many entries there are, those of ended commands included.
  var count: Int { body?.pointee.count ?? 0 }
  /// How many lists of tags there are, free numbers included.
  var listCount: Int { body?.pointee.lists.count ?? 0 }

  deinit {
    body?.deinitialize(count: 1)
    body?.deallocate()
  }

  /// Gives a command its tags, of which there is at least one.
  mutating func add(_ tags: [CommandTag], to index: UInt32, in slab: CommandSlab) {
    if body == nil {
      body = .allocate(capacity: 1)
      body!.initialize(to: Body())
    }
    body!.pointee.add(tags, to: index, in: slab)
  }

  /// What a command was dispatched with.
  func tags(of index: UInt32, in slab: CommandSlab) -> [CommandTag] {
    let number = slab.node(index).pointee.tags
    guard number != Self.none, let body else { return [] }
    return body.pointee.lists[Int(number)].tags
  }

  /// Who carries a tag. Nodes are only looked at, one behind the other, so that memory answers for
  /// several of them at once.
  func commands(_ tag: CommandTag, in slab: CommandSlab) -> [UInt32] {
    guard let body, let number = body.pointee.numbers[[tag]] else { return [] }
    let entries = body.pointee.lists[Int(number)].entries
    var indices: [UInt32] = []
    indices.reserveCapacity(entries.count)
    for entry in entries where entry.isLive(in: slab) { indices.append(entry.index) }
    return indices
  }
}

extension TagIndex.Entry {
  @inline(__always)
  func isLive(in slab: CommandSlab) -> Bool {
    guard index < slab.capacity else { return false }
    let node = slab.node(index)
    return node.pointee.state != .free && node.pointee.sequence == sequence
  }
}

extension TagIndex.Body {
  mutating func add(_ tags: [CommandTag], to index: UInt32, in slab: CommandSlab) {
    let number = number(of: tags)
    let node = slab.node(index)
    node.pointee.tags = number
    let entry = TagIndex.Entry(index: index, sequence: node.pointee.sequence)
    if lists[Int(number)].parts.isEmpty {
      lists[Int(number)].entries.append(entry)
      count += 1
    } else {
      let parts = lists[Int(number)].parts
      for part in parts { lists[Int(part)].entries.append(entry) }
      count += parts.count
    }
    if count >= sweepsAt { sweep(in: slab) }
  }

  private mutating func number(of tags: [CommandTag]) -> UInt32 {
    if latest != TagIndex.none, lists[Int(latest)].tags == tags { return latest }
    latest = numbers[tags] ?? makeList(tags)
    return latest
  }

  private mutating func makeList(_ tags: [CommandTag]) -> UInt32 {
    var list = TagIndex.List(tags: tags)
    if tags.count > 1 {
      for tag in tags {
        let part = numbers[[tag]] ?? makeList([tag])
        // The same tag twice is one tag.
        if !list.parts.contains(part) { list.parts.append(part) }
      }
    }
    let number = free.popLast() ?? UInt32(lists.count)
    if number == lists.count { lists.append(list) } else { lists[Int(number)] = list }
    numbers[tags] = number
    return number
  }

  private mutating func sweep(in slab: CommandSlab) {
    var isUsed = Array(repeating: false, count: lists.count)
    count = 0
    for number in lists.indices where !lists[number].entries.isEmpty {
      lists[number].entries.removeAll { !$0.isLive(in: slab) }
      for entry in lists[number].entries {
        isUsed[number] = true
        isUsed[Int(slab.node(entry.index).pointee.tags)] = true
      }
      count += lists[number].entries.count
    }
    for number in lists.indices where !isUsed[number] && !lists[number].tags.isEmpty {
      numbers[lists[number].tags] = nil
      lists[number] = TagIndex.List()
    }
    while lists.last?.tags.isEmpty == true { lists.removeLast() }
    // Low numbers are given out first, so that high ones become free.
    free = lists.indices.reversed().filter { lists[$0].tags.isEmpty }.map { UInt32($0) }
    latest = TagIndex.none
    // Each list is looked at as well, free ones included; an entry makes two lists at most.
    sweepsAt = max(TagIndex.smallest, 2 * count, lists.count / 2)
  }
}

extension CommandQueue {
  /// Looks at the neighbours of waiting commands that are to be taken out: memory that nobody has
  /// looked at for long then answers for many at once, where one after the other would wait.
  func look(atNeighboursOf indices: ArraySlice<UInt32>) {
    for index in indices where isLive(index) && node(index).pointee.state == .ready {
      let (before, after) = (node(index).pointee.previous, node(index).pointee.next)
      precondition(
        (before == CommandNode.none || node(before).pointee.next == index)
          && (after == CommandNode.none || node(after).pointee.previous == index),
        "FeatureRelay: a waiting command's neighbours do not know it.")
    }
  }
}
