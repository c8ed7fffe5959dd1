// SPDX-License-Identifier: MIT

/// Which commands carry which tag, in the order of acceptance.
///
/// An entry is not taken out when its command ends: it then names a node that is free or belongs to
/// another command, which its sequence number tells. Once there are twice as many entries as there
/// were live ones the last time, the others go: a constant cost for each command with a tag, and
/// none when it ends.
struct TagIndex {
  struct Entry {
    let index: UInt32
    let sequence: UInt64
  }

  private static let smallest = 64

  private var entries: [CommandTag: [Entry]] = [:]
  private(set) var count = 0
  private var sweepsAt = TagIndex.smallest

  mutating func add(_ tags: [CommandTag], _ entry: Entry, in slab: CommandSlab) {
    // The same tag twice is one tag.
    for (place, tag) in tags.enumerated() where !tags[..<place].contains(tag) {
      entries[tag, default: []].append(entry)
      count += 1
    }
    if count >= sweepsAt { sweep(in: slab) }
  }

  func commands(_ tag: CommandTag, in slab: CommandSlab) -> [UInt32] {
    (entries[tag] ?? []).lazy.filter { Self.isLive($0, in: slab) }.map(\.index)
  }

  private mutating func sweep(in slab: CommandSlab) {
    count = 0
    for (tag, all) in entries {
      let live = all.filter { Self.isLive($0, in: slab) }
      entries[tag] = live.isEmpty ? nil : live
      count += live.count
    }
    sweepsAt = max(Self.smallest, 2 * count)
  }

  private static func isLive(_ entry: Entry, in slab: CommandSlab) -> Bool {
    guard entry.index < slab.capacity else { return false }
    let node = slab.node(entry.index)
    return node.pointee.state != .free && node.pointee.sequence == entry.sequence
  }
}
