// SPDX-License-Identifier: MIT

/// The commands of one slot: those that wait, in order, and those that run. A plain data structure
/// without locks, clocks or policies.
///
/// Each priority has a first-in-first-out list, threaded through the nodes, and commands that gave
/// way have one more; commands with the default time to live are in a list by deadline as well,
/// since their deadlines only grow, every other wake-up is in an indexed 4-ary heap (Johnson,
/// "Priority queues with update and finding minimum spanning trees", 1975). Everything takes
/// constant time, or logarithmic in the heap.
struct CommandQueue: ~Copyable {
  private(set) var slab: CommandSlab
  private var ready = PriorityLists()
  private var delayed = PriorityLists()
  var toExpire = List()
  var heap: [Wake] = []
  var lastWake: UInt32 = 0
  private var tagged = TagIndex()
  /// Commands in a list: ready or delayed.
  private(set) var waiting = 0
  /// Commands that run.
  private(set) var running = 0

  init(kept: UInt32 = CommandSlab.defaultKept) {
    slab = CommandSlab(kept: kept)
  }

  deinit {
    for index in 0..<slab.capacity where node(index).pointee.state != .free {
      node(index).pointee.work?.destroy()
    }
    slab.deallocate()
  }

  struct List {
    var head = CommandNode.none
    var tail = CommandNode.none
  }

  struct Wake {
    var time: Int64
    /// Of two at the same time the one that was planned first comes first.
    var number: UInt32
    var index: UInt32

    static func < (left: Wake, right: Wake) -> Bool {
      left.time != right.time ? left.time < right.time : left.number < right.number
    }
  }

  @inline(__always)
  func node(_ index: UInt32) -> UnsafeMutablePointer<CommandNode> {
    slab.node(index)
  }

  /// Whether the index is of a command that waits or runs.
  func isLive(_ index: UInt32, sequence: UInt64) -> Bool {
    guard index < slab.capacity else { return false }
    let node = node(index)
    return node.pointee.state != .free && node.pointee.sequence == sequence
  }

  /// Whether a command waits or runs there.
  @inline(__always)
  func isLive(_ index: UInt32) -> Bool {
    index < slab.capacity && node(index).pointee.state != .free
  }

  /// Whether nothing stands in a list of its priority; what gave way does not count.
  var hasNothingReady: Bool { ready.bitmap == 0 }
}

// MARK: Getting in and out

extension CommandQueue {
  /// A free node; the caller fills it in and calls ``insert(_:)``.
  @inline(__always)
  mutating func allocate() -> UInt32 { slab.allocate() }

  /// Puts a node that has been filled in at the end of its priority.
  mutating func insert(_ index: UInt32, tags: [CommandTag] = []) {
    insertPlain(index)
    if !tags.isEmpty { tagged.add(tags, to: index, in: slab) }
  }

  /// The same for a node without tags.
  @inline(__always)
  mutating func insertPlain(_ index: UInt32) {
    let node = node(index)
    node.pointee.state = .ready
    ready.append(index, to: node.pointee.priority, in: slab)
    waiting += 1
    if node.pointee.deadline != .max {
      if node.pointee.expiresInOrder {
        appendToExpire(index)
      } else {
        updateWake(index)
      }
    }
  }

  /// Puts a node that has been filled in where a ready command of the same priority stands, right
  /// before it.
  mutating func insert(_ index: UInt32, before other: UInt32, tags: [CommandTag] = []) {
    let node = node(index)
    insert(index, tags: tags)
    ready.remove(index, from: node.pointee.priority, in: slab)
    ready.insert(index, before: other, in: node.pointee.priority, in: slab)
  }

  /// Takes a waiting command out of all lists and marks it as running.
  mutating func start(_ index: UInt32) {
    unlinkWaiting(index)
    let node = node(index)
    node.pointee.state = .running
    running += 1
    if node.pointee.details != nil || node.pointee.heapIndex != CommandNode.none {
      node.pointee.details?.notBefore = 0
      updateWake(index)
    }
  }

  /// Gives a running command the place in front of everything of its priority that waits.
  mutating func moveToFront(_ index: UInt32) {
    let first = ready[node(index).pointee.priority].head
    if first != CommandNode.none { node(index).pointee.details?.order = node(first).pointee.order }
  }

  /// Puts a running command back to its place: before everything of its priority that was accepted
  /// after it.
  mutating func putBack(_ index: UInt32, notBefore: Int64) {
    let node = node(index)
    stopRunning(index, notBefore: notBefore)
    node.pointee.state = .ready
    ready.insert(index, before: follower(of: index), in: node.pointee.priority, in: slab)
    updateWake(index)
  }

  /// The first command of the same priority that stands behind the one given.
  private func follower(of index: UInt32) -> UInt32 {
    let order = node(index).pointee.order
    var after = ready[node(index).pointee.priority].head
    while after != CommandNode.none, node(after).pointee.order < order {
      after = node(after).pointee.next
    }
    return after
  }

  /// Puts a node that has been filled in where its order says. Constant where that is in front.
  mutating func insertInOrder(_ index: UInt32, tags: [CommandTag]) {
    let place = follower(of: index)
    if place == CommandNode.none {
      insert(index, tags: tags)
    } else {
      insert(index, before: place, tags: tags)
    }
  }

  /// Lets a running command give way until the given time.
  mutating func delay(_ index: UInt32, until time: Int64) {
    let node = node(index)
    stopRunning(index, notBefore: time)
    node.pointee.state = .delayed
    delayed.append(index, to: node.pointee.priority, in: slab)
    updateWake(index)
  }

  private mutating func stopRunning(_ index: UInt32, notBefore: Int64) {
    let node = node(index)
    running -= 1
    waiting += 1
    // Only what has details can have a time to come back, or to end.
    node.pointee.details?.notBefore = notBefore
    node.pointee.details?.runsUntil = .max
  }

  /// Frees the node of a command that ran or waited, and hands out its work if it still has it.
  mutating func remove(_ index: UInt32) -> UnmanagedWork? {
    let node = node(index)
    if node.pointee.state == .running { running -= 1 } else { unlinkWaiting(index) }
    if node.pointee.details != nil { node.pointee.details = nil }
    if node.pointee.heapIndex != CommandNode.none { removeWake(index) }
    let work = node.pointee.work.take()
    slab.free(index)
    giveBackMemory()
    return work
  }

  /// The same for one of many commands that wait and have no details: ``giveBackMemory()`` is called
  /// after the last one.
  @inline(__always)
  mutating func removePlain(_ index: UInt32) -> UnmanagedWork {
    let node = node(index)
    unlinkWaiting(index)
    if node.pointee.heapIndex != CommandNode.none { removeWake(index) }
    // A waiting command has its work.
    let work = node.pointee.work.take()!
    slab.free(index)
    return work
  }

  @inline(__always)
  mutating func giveBackMemory() {
    if waiting == 0, running == 0, slab.capacity > slab.kept { shrink() }
  }

  /// Frees the nodes of the first commands of a priority, which somebody else has the work of: at
  /// once what ``remove(_:)`` does for one. Not for those with details.
  @inline(__always)
  mutating func removeFirst(
    _ count: Int, of priority: CommandPriority,
    _ body: (UnsafeMutablePointer<CommandNode>) -> Void
  ) {
    guard count > 0 else { return }
    let first = ready[priority].head
    var (index, last) = (first, first)
    // Mostly they are the first ones by deadline as well.
    var firstToExpire = toExpire.head
    for _ in 0..<count {
      let node = node(index)
      if node.pointee.expiresInOrder {
        if firstToExpire == index {
          firstToExpire = node.pointee.nextToExpire
          node.pointee.nextToExpire = CommandNode.none
        } else if node.pointee.deadline != .max {
          setFirstToExpire(firstToExpire)
          removeToExpire(index)
          firstToExpire = toExpire.head
        }
      } else if node.pointee.heapIndex != CommandNode.none {
        removeWake(index)
      }
      body(node)
      node.pointee.work = nil
      node.pointee.state = .free
      last = index
      index = node.pointee.next
    }
    setFirstToExpire(firstToExpire)
    ready.removeFirst(through: last, of: priority, in: slab)
    slab.free(chainFrom: first, to: last)
    waiting -= count
  }

  /// Gives back the memory of a queue that was long once and is empty now.
  private mutating func shrink() {
    slab.shrink()
    heap = []
    tagged = TagIndex()
  }

  @inline(__always)
  private mutating func unlinkWaiting(_ index: UInt32) {
    let node = node(index)
    waiting -= 1
    if node.pointee.state == .delayed {
      delayed.remove(index, from: node.pointee.priority, in: slab)
    } else {
      ready.remove(index, from: node.pointee.priority, in: slab)
    }
    if node.pointee.expiresInOrder, node.pointee.deadline != .max { removeToExpire(index) }
  }
}

// MARK: Order

extension CommandQueue {
  /// The command whose turn it is.
  var head: UInt32? {
    guard let priority = ready.highest else { return nil }
    return ready[priority].head
  }

  /// The first of a priority.
  @inline(__always)
  func first(of priority: CommandPriority) -> UInt32? {
    let head = ready[priority].head
    return head == CommandNode.none ? nil : head
  }

  /// Calls the closure with each command of a priority that could be next, until it says no.
  @inline(__always)
  func forEachReady(
    _ priority: CommandPriority, _ body: (UnsafeMutablePointer<CommandNode>) -> Bool
  ) {
    var index = ready[priority].head
    while index != CommandNode.none {
      let node = node(index)
      guard body(node) else { return }
      index = node.pointee.next
    }
  }

  /// The command that goes first when there has to be room: the oldest of the lowest priority.
  var victim: UInt32? {
    switch (ready.lowest, delayed.lowest) {
    case (nil, nil): return nil
    case (let priority?, nil): return ready[priority].head
    case (nil, let priority?): return delayed[priority].head
    case (let first?, let second?):
      if first < second { return ready[first].head }
      if second < first { return delayed[second].head }
      let (left, right) = (ready[first].head, delayed[second].head)
      return node(left).pointee.order < node(right).pointee.order ? left : right
    }
  }

  /// Moves the ``victim`` to the end of its priority and of the list by deadline, for another command
  /// that gets its node.
  ///
  /// - Returns: its index; nil where it cannot be done in place: it has another priority or details,
  ///   it is alone, or the order by deadline is another one at either end.
  @inline(__always)
  mutating func moveFirstToEnd(of priority: CommandPriority, deadline: Int64) -> UInt32? {
    guard delayed.bitmap == 0, ready.isLowest(priority) else { return nil }
    let list = ready[priority]
    let index = list.head
    let node = node(index)
    let next = node.pointee.next
    guard node.pointee.details == nil, node.pointee.expiresInOrder, next != CommandNode.none
    else { return nil }
    let (nextNode, last) = (self.node(next), self.node(list.tail))
    if node.pointee.deadline != .max {
      // Mostly both lists are the same.
      guard deadline != .max, toExpire.head == index, node.pointee.nextToExpire == next,
        toExpire.tail == list.tail
      else { return nil }
      nextNode.pointee.previousToExpire = CommandNode.none
      last.pointee.nextToExpire = index
      node.pointee.previousToExpire = list.tail
      node.pointee.nextToExpire = CommandNode.none
      toExpire = List(head: next, tail: index)
    } else if deadline != .max {
      return nil
    }
    nextNode.pointee.previous = CommandNode.none
    last.pointee.next = index
    node.pointee.previous = list.tail
    node.pointee.next = CommandNode.none
    ready[priority] = List(head: next, tail: index)
    return index
  }

  /// Moves what gave way, and is due, to the end of its priority.
  ///
  /// - Parameter last: the order of what was accepted last; from now on it stands behind that.
  mutating func wake(_ index: UInt32, after last: UInt64) {
    let node = node(index)
    node.pointee.details?.notBefore = 0
    if node.pointee.state == .delayed {
      node.pointee.details?.order = Int64(bitPattern: last)
      delayed.remove(index, from: node.pointee.priority, in: slab)
      node.pointee.state = .ready
      ready.append(index, to: node.pointee.priority, in: slab)
    }
    updateWake(index)
  }

  /// Calls the closure with each command that waits, the highest priority first, each in its order.
  func forEachWaiting(_ body: (UInt32) -> Void) {
    for priority in CommandPriority.allCases.reversed() {
      for head in [ready[priority].head, delayed[priority].head] {
        var index = head
        while index != CommandNode.none {
          let next = node(index).pointee.next
          body(index)
          index = next
        }
      }
    }
  }

  /// The commands that run.
  var runningCommands: [UInt32] {
    guard running > 0 else { return [] }
    return (0..<slab.capacity).filter { node($0).pointee.state == .running }
  }

  /// The first command that fulfils a condition. Looks at all of them.
  func first(where isMeant: (borrowing CommandNode) -> Bool) -> UInt32? {
    (0..<slab.capacity).first { node($0).pointee.state != .free && isMeant(node($0).pointee) }
  }

  /// What a command was dispatched with.
  func tags(of index: UInt32) -> [CommandTag] { tagged.tags(of: index, in: slab) }

  /// What waits or runs under a tag, in the order of acceptance.
  func commands(tagged tag: CommandTag) -> [UInt32] { tagged.commands(tag, in: slab) }

  /// How many entries and lists the index of tags has, those of ended commands included.
  var taggedCount: (entries: Int, lists: Int) { (tagged.count, tagged.listCount) }
}
