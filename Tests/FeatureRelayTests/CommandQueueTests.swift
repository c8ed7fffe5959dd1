// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import FeatureRelay

/// Work that does nothing, and tells when it is let go of.
private struct Nothing: QueuedWork {
  var token: QueueToken?
}

private final class QueueToken: Sendable {}

/// The queue as plain arrays.
private struct PlainQueue {
  struct Item {
    var index: UInt32
    var sequence: UInt64
    var order: UInt64
    var priority: CommandPriority
    var deadline: Int64
    var notBefore: Int64 = 0
    var tags: [CommandTag]
    var hasDetails: Bool
  }

  var ready: [CommandPriority: [Item]] = [:]
  var delayed: [Item] = []
  var running: [Item] = []

  var waiting: [Item] { ready.values.flatMap(\.self) + delayed }
  var live: [Item] { waiting + running }

  var head: Item? {
    for priority in CommandPriority.allCases.reversed() {
      if let first = ready[priority]?.first { return first }
    }
    return nil
  }

  mutating func takeWaiting(_ index: UInt32) -> Item? {
    for priority in CommandPriority.allCases {
      if let place = ready[priority]?.firstIndex(where: { $0.index == index }) {
        return ready[priority]!.remove(at: place)
      }
    }
    return delayed.firstIndex { $0.index == index }.map { delayed.remove(at: $0) }
  }

  mutating func append(_ item: Item) {
    ready[item.priority, default: []].append(item)
  }

  mutating func putBack(_ item: Item) {
    let list = ready[item.priority] ?? []
    let place = list.firstIndex { $0.order >= item.order } ?? list.endIndex
    ready[item.priority, default: []].insert(item, at: place)
  }
}

@Suite
struct CommandQueueTests {
  private func makeNode(
    in queue: inout CommandQueue, sequence: UInt64, priority: CommandPriority = .normal,
    deadline: Int64 = .max, isDefault: Bool = true, hasDetails: Bool = false,
    token: QueueToken? = nil
  ) -> UInt32 {
    let index = queue.allocate()
    let node = queue.node(index)
    node.pointee.work = UnmanagedWork(Nothing(token: token))
    node.pointee.sequence = sequence
    node.pointee.priority = priority
    node.pointee.deadline = deadline
    node.pointee.expiresInOrder = isDefault
    node.pointee.tags = TagIndex.none
    if hasDetails {
      node.pointee.details = CommandDetails(uniqueness: nil, retry: nil, executionLimit: nil)
    }
    return index
  }

  @Test
  func `a long queue that is empty keeps the memory of some commands and grows again`() {
    var queue = CommandQueue(kept: 1_024)
    var sequence: UInt64 = 0
    for _ in 0..<3 {
      var indices: Set<UInt32> = []
      for _ in 0..<5_000 {
        sequence += 1
        let index = makeNode(in: &queue, sequence: sequence)
        indices.insert(index)
        queue.insert(index)
      }
      #expect(indices.count == 5_000)
      #expect(queue.slab.capacity >= 5_000)
      while let head = queue.head { queue.remove(head)?.destroy() }
      #expect(queue.slab.capacity == 1_024)
      let isLive = queue.isLive(4_999, sequence: sequence)
      #expect(!isLive)
    }
  }

  @Test
  func `does the same as plain arrays over random operations`() {
    let seed = SeededGenerator.freshSeed()
    print("RELAY_TEST_SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
    var tags = (0..<4).map { _ in CommandTag() }
    var queue = CommandQueue(kept: 1_024)
    var plain = PlainQueue()
    var sequence: UInt64 = 0
    var lastOrder: UInt64 = 0
    var now: Int64 = 1
    for step in 0..<120_000 {
      // Long phases of growth and of decline, so that the slab grows, empties and shrinks.
      let grows = (step / 6_000) % 2 == 0
      switch roll(grows ? 14 : 24) {
      case 0..<6:
        sequence += 1
        let isDefault = roll(3) > 0
        let deadline: Int64 =
          isDefault ? now + 3_000 : roll(4) == 0 ? .max : now + Int64(1 + roll(4_000))
        let priority = CommandPriority.allCases[roll(4)]
        // New ones come and old ones stay behind, in lists of any order, also twice.
        if roll(50) == 0 { tags[roll(4)] = CommandTag() }
        let chosen = roll(4) == 0 ? (0..<roll(4)).map { _ in tags[roll(4)] } : []
        let hasDetails = roll(2) == 0
        let index = makeNode(
          in: &queue, sequence: sequence, priority: priority, deadline: deadline,
          isDefault: isDefault, hasDetails: hasDetails)
        var item = PlainQueue.Item(
          index: index, sequence: sequence, order: sequence, priority: priority,
          deadline: deadline, tags: chosen, hasDetails: hasDetails)
        if hasDetails, let list = plain.ready[priority], !list.isEmpty, roll(6) == 0 {
          // In another one's place, as the latest of a key is.
          let place = roll(list.count)
          item.order = list[place].order
          queue.node(index).pointee.details!.order = Int64(item.order)
          queue.insert(index, before: list[place].index, tags: chosen)
          plain.ready[priority]!.insert(item, at: place)
        } else {
          queue.insert(index, tags: chosen)
          plain.append(item)
        }
        lastOrder = max(lastOrder, item.order)
      case 6..<9:
        guard let head = queue.head, plain.running.count < 50 else { break }
        #expect(head == plain.head?.index)
        queue.start(head)
        var item = plain.takeWaiting(head)!
        item.notBefore = 0
        plain.running.append(item)
      case 9:
        guard !plain.running.isEmpty else { break }
        let item = plain.running.remove(at: roll(plain.running.count))
        queue.remove(item.index)?.destroy()
      case 10:
        guard let place = plain.running.firstIndex(where: \.hasDetails) else { break }
        var item = plain.running.remove(at: place)
        item.notBefore = roll(3) == 0 ? 0 : now + Int64(roll(200))
        queue.putBack(item.index, notBefore: item.notBefore)
        plain.putBack(item)
      case 11:
        guard let place = plain.running.firstIndex(where: \.hasDetails) else { break }
        var item = plain.running.remove(at: place)
        item.notBefore = now + Int64(1 + roll(200))
        queue.delay(item.index, until: item.notBefore)
        plain.delayed.append(item)
      case 12:
        now += Int64(roll(40))
        while let index = queue.due(at: now) {
          let node = queue.node(index)
          if node.pointee.deadline <= now {
            #expect(plain.takeWaiting(index)!.deadline <= now)
            queue.remove(index)?.destroy()
          } else {
            var item = plain.waiting.first { $0.index == index }!
            #expect(item.notBefore > 0 && item.notBefore <= now)
            queue.wake(index, after: lastOrder)
            item.notBefore = 0
            if let place = plain.delayed.firstIndex(where: { $0.index == index }) {
              plain.delayed.remove(at: place)
              item.order = lastOrder
              plain.append(item)
            } else {
              let place = plain.ready[item.priority]!.firstIndex { $0.index == index }!
              plain.ready[item.priority]![place] = item
            }
          }
        }
        let isLate = plain.waiting.contains {
          $0.deadline <= now || ($0.notBefore > 0 && $0.notBefore <= now)
        }
        #expect(!isLate)
      case 13:
        let tag = tags[roll(4)]
        let tagged = plain.live.filter { $0.tags.contains(tag) }.sorted {
          $0.sequence < $1.sequence
        }
        let found = queue.commands(tagged: tag)
        #expect(found == tagged.map(\.index))
      case 14:
        // Delivers the first ones of a priority at once.
        let priority = CommandPriority.allCases[roll(4)]
        let first = (plain.ready[priority] ?? []).prefix { !$0.hasDetails }
        let count = roll(min(first.count, 40) + 1)
        var sequences: [UInt64] = []
        queue.removeFirst(count, of: priority) { node in
          sequences.append(node.pointee.sequence)
          node.pointee.work?.destroy()
        }
        #expect(sequences == first.prefix(count).map(\.sequence))
        plain.ready[priority]?.removeFirst(count)
        for item in first.prefix(count) {
          let isLive = queue.isLive(item.index, sequence: item.sequence)
          #expect(!isLive)
        }
        queue.giveBackMemory()
      default:
        // Evicts, or cancels anything.
        let victim = roll(2) == 0 ? queue.victim : plain.live.randomElement(using: &random)?.index
        guard let victim else { break }
        let hasDetails = plain.live.first { $0.index == victim }!.hasDetails
        let isRunning = plain.running.contains { $0.index == victim }
        plain.running.removeAll { $0.index == victim }
        _ = plain.takeWaiting(victim)
        if !hasDetails, !isRunning, roll(2) == 0 {
          queue.look(atNeighboursOf: [victim])
          queue.removePlain(victim).destroy()
          queue.giveBackMemory()
        } else {
          queue.remove(victim)?.destroy()
        }
      }
      let waiting = plain.ready.values.reduce(plain.delayed.count) { $0 + $1.count }
      guard queue.head == plain.head?.index, queue.waiting == waiting,
        queue.running == plain.running.count
      else {
        Issue.record("Step \(step): another head, or others that wait or run.")
        return
      }
      if step % 500 == 0 { checkAll(queue, plain, now) }
    }
    checkAll(queue, plain, now)
  }

  @Test
  func `a newcomer gets the node of the oldest where that leaves all orders as they are`() {
    let seed = SeededGenerator.freshSeed()
    print("RELAY_TEST_SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
    var queue = CommandQueue()
    var plain = PlainQueue()
    var (inPlace, refused) = (0, 0)
    for step in 1...20_000 {
      let sequence = UInt64(step)
      let deadline: Int64 = (step / 2_000) % 3 == 0 ? .max : Int64(step) + 100
      let priority = roll(20) == 0 ? CommandPriority.allCases[roll(4)] : .normal
      var item = PlainQueue.Item(
        index: 0, sequence: sequence, order: sequence, priority: priority, deadline: deadline,
        tags: [], hasDetails: roll(50) == 0)
      let victim = queue.victim
      if queue.waiting >= 1 + roll(12),
        let index = queue.moveFirstToEnd(of: priority, deadline: deadline)
      {
        #expect(index == victim)
        inPlace += 1
        let gone = plain.takeWaiting(index)!
        #expect(gone.priority == priority && !gone.hasDetails)
        let node = queue.node(index)
        node.pointee.sequence = sequence
        node.pointee.deadline = deadline
        (item.index, item.hasDetails) = (index, false)
        plain.append(item)
      } else {
        refused += 1
        item.index = makeNode(
          in: &queue, sequence: sequence, priority: priority, deadline: deadline,
          hasDetails: item.hasDetails)
        queue.insert(item.index)
        plain.append(item)
      }
      while queue.waiting > 12 || roll(8) == 0 {
        let chosen = roll(3) == 0 ? plain.live.randomElement(using: &random)?.index : queue.victim
        guard let chosen else { break }
        _ = plain.takeWaiting(chosen)
        queue.remove(chosen)?.destroy()
      }
      if step % 10 == 0 { checkAll(queue, plain, 0) }
    }
    #expect(inPlace > 2_000 && refused > 2_000)
  }

  private func checkAll(_ queue: borrowing CommandQueue, _ plain: PlainQueue, _ now: Int64) {
    var indices: [UInt32] = []
    queue.forEachWaiting { indices.append($0) }
    let expected = CommandPriority.allCases.reversed().flatMap { priority in
      (plain.ready[priority] ?? []) + plain.delayed.filter { $0.priority == priority }
    }
    #expect(indices == expected.map(\.index))
    #expect(Set(queue.runningCommands) == Set(plain.running.map(\.index)))
    for item in plain.live {
      let isLive = queue.isLive(item.index, sequence: item.sequence)
      #expect(isLive)
      let tags = queue.tags(of: item.index)
      #expect(tags == item.tags)
    }
    let wakes = plain.waiting.flatMap { [$0.deadline, $0.notBefore > 0 ? $0.notBefore : .max] }
    #expect(queue.nextWake == wakes.min() ?? .max)
    // The victim is the first of the lowest priority, among what is ready and what gave way.
    if let lowest = plain.waiting.map(\.priority).min() {
      let candidates = [
        plain.ready[lowest]?.first, plain.delayed.first { $0.priority == lowest },
      ].compactMap(\.self)
      #expect(candidates.contains { $0.index == queue.victim })
    } else {
      #expect(queue.victim == nil)
    }
  }

  @Test
  func `a million commands come and go in order and without recursion`() {
    var queue = CommandQueue()
    weak var last: QueueToken?
    do {
      let token = QueueToken()
      last = token
      for sequence in 1...1_000_000 {
        let index = makeNode(
          in: &queue, sequence: UInt64(sequence), deadline: Int64(sequence),
          token: sequence == 1_000_000 ? token : nil)
        queue.insert(index)
      }
    }
    #expect(queue.waiting == 1_000_000)
    var expected: UInt64 = 0
    var inOrder = true
    while let head = queue.head {
      expected += 1
      if queue.node(head).pointee.sequence != expected { inOrder = false }
      queue.start(head)
      queue.remove(head)?.destroy()
    }
    #expect(inOrder && expected == 1_000_000)
    #expect(last == nil)
    #expect(queue.nextWake == .max)
  }

  @Test
  func `a queue that is thrown away full lets go of everything`() {
    weak var last: QueueToken?
    do {
      let token = QueueToken()
      last = token
      var queue = CommandQueue()
      for sequence in 1...200_000 {
        let index = makeNode(in: &queue, sequence: UInt64(sequence), token: token)
        queue.insert(index)
      }
      #expect(queue.waiting == 200_000)
    }
    #expect(last == nil)
  }

  @Test
  func `an index that is used again is not taken for the command that had it`() {
    var queue = CommandQueue()
    let first = makeNode(in: &queue, sequence: 1)
    queue.insert(first)
    queue.remove(first)?.destroy()
    let second = makeNode(in: &queue, sequence: 2)
    queue.insert(second)
    #expect(first == second)
    let lives = [
      queue.isLive(first, sequence: 1), queue.isLive(second, sequence: 2),
      queue.isLive(100_000, sequence: 1),
    ]
    #expect(lives == [false, true, false])
  }

  @Test
  func `tags whose commands have ended are forgotten`() {
    var queue = CommandQueue()
    let lasting = CommandTag()
    let first = makeNode(in: &queue, sequence: 1)
    queue.insert(first, tags: [lasting, lasting])
    for sequence in 2...10_000 {
      let tag = CommandTag()
      let index = makeNode(in: &queue, sequence: UInt64(sequence))
      queue.insert(index, tags: [[tag, lasting], [tag, tag], [CommandTag(), tag]][sequence % 3])
      let found = queue.commands(tagged: tag)
      #expect(found == [index])
      queue.remove(index)?.destroy()
    }
    let (kept, count) = (queue.commands(tagged: lasting), queue.taggedCount)
    #expect(kept == [first])
    #expect(count.entries <= 64 && count.lists <= 256)
    let tags = queue.tags(of: first)
    #expect(tags == [lasting, lasting])
  }
}
