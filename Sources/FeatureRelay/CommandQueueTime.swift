// SPDX-License-Identifier: MIT

// When something happens to a queue's commands by itself: a list by deadline and a heap.

extension CommandQueue {
  /// The next time at which something happens by itself.
  @inline(__always)
  var nextWake: Int64 {
    let inOrder = toExpire.head == CommandNode.none ? .max : node(toExpire.head).pointee.deadline
    return min(inOrder, heap.first?.time ?? .max)
  }

  /// A command whose time has come: expired, due again, or running for too long.
  func due(at now: Int64) -> UInt32? {
    if toExpire.head != CommandNode.none, node(toExpire.head).pointee.deadline <= now {
      return toExpire.head
    }
    guard let first = heap.first, first.time <= now else { return nil }
    return first.index
  }

  @inline(__always)
  mutating func appendToExpire(_ index: UInt32) {
    node(index).pointee.previousToExpire = toExpire.tail
    if toExpire.tail == CommandNode.none {
      toExpire.head = index
    } else {
      node(toExpire.tail).pointee.nextToExpire = index
    }
    toExpire.tail = index
  }

  /// Everything before a node has been taken out of the list by deadline.
  @inline(__always)
  mutating func setFirstToExpire(_ index: UInt32) {
    toExpire.head = index
    if index == CommandNode.none {
      toExpire.tail = index
    } else {
      node(index).pointee.previousToExpire = CommandNode.none
    }
  }

  @inline(__always)
  mutating func removeToExpire(_ index: UInt32) {
    let node = node(index)
    let (previous, next) = (node.pointee.previousToExpire, node.pointee.nextToExpire)
    if previous == CommandNode.none {
      toExpire.head = next
    } else {
      self.node(previous).pointee.nextToExpire = next
    }
    if next == CommandNode.none {
      toExpire.tail = previous
    } else {
      self.node(next).pointee.previousToExpire = previous
    }
    node.pointee.previousToExpire = CommandNode.none
    node.pointee.nextToExpire = CommandNode.none
    // Put back after an attempt it would stand out of order there: from now on it is in the heap.
    node.pointee.expiresInOrder = false
  }

  /// Puts the command where its next wake-up belongs in the heap, or takes it out.
  mutating func updateWake(_ index: UInt32) {
    let node = node(index)
    var time = Int64.max
    switch node.pointee.state {
    case .free: break
    case .running: time = node.pointee.details?.runsUntil ?? .max
    case .ready, .delayed:
      if !node.pointee.expiresInOrder { time = node.pointee.deadline }
      if let notBefore = node.pointee.details?.notBefore, notBefore > 0 {
        time = min(time, notBefore)
      }
    }
    if time == .max {
      if node.pointee.heapIndex != CommandNode.none { removeWake(index) }
    } else if node.pointee.heapIndex == CommandNode.none {
      lastWake &+= 1
      heap.append(Wake(time: time, number: lastWake, index: index))
      node.pointee.heapIndex = UInt32(heap.count - 1)
      siftUp(heap.count - 1)
    } else {
      let place = Int(node.pointee.heapIndex)
      lastWake &+= 1
      heap[place].time = time
      heap[place].number = lastWake
      siftUp(place)
      siftDown(Int(node.pointee.heapIndex))
    }
  }

  mutating func removeWake(_ index: UInt32) {
    let place = Int(node(index).pointee.heapIndex)
    node(index).pointee.heapIndex = CommandNode.none
    let last = heap.removeLast()
    guard place < heap.count else { return }
    heap[place] = last
    node(last.index).pointee.heapIndex = UInt32(place)
    siftUp(place)
    siftDown(Int(node(last.index).pointee.heapIndex))
  }

  private mutating func siftUp(_ start: Int) {
    var place = start
    while place > 0, heap[place] < heap[(place - 1) / 4] {
      exchange(place, (place - 1) / 4)
      place = (place - 1) / 4
    }
  }

  private mutating func siftDown(_ start: Int) {
    var place = start
    while true {
      // A leaf's first child would stand behind the end.
      let children = (4 * place + 1..<4 * place + 5).clamped(to: 0..<heap.count)
      guard let least = children.min(by: { heap[$0] < heap[$1] }),
        heap[least] < heap[place]
      else { return }
      exchange(place, least)
      place = least
    }
  }

  private mutating func exchange(_ left: Int, _ right: Int) {
    heap.swapAt(left, right)
    node(heap[left].index).pointee.heapIndex = UInt32(left)
    node(heap[right].index).pointee.heapIndex = UInt32(right)
  }
}
