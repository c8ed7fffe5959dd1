// SPDX-License-Identifier: MIT

/// The memory of a queue's nodes: chunks that never move, and a chain of free nodes.
///
/// Safe: raw memory, since each look at a node of an array of chunks would check bounds twice.
/// Indices come from ``allocate()`` or were checked against ``capacity``; the tests of the queue
/// under the address sanitizer would notice one that is not.
struct CommandSlab {
  private static let chunkBits: UInt32 = 6
  private static let chunkSize: UInt32 = 1 << chunkBits
  /// So many nodes stay when a queue that was longer is empty, a mebibyte: from burst to burst the
  /// memory would come from the system and go back, each page with a fault.
  static let defaultKept: UInt32 = 10_240

  /// Where the chunks are.
  private var chunks: UnsafeMutablePointer<UnsafeMutablePointer<CommandNode>>?
  private var count: UInt32 = 0
  private var firstFree = CommandNode.none
  /// How many nodes stay.
  let kept: UInt32

  init(kept: UInt32) {
    self.kept = kept
  }

  /// How many nodes there are, free ones included.
  var capacity: UInt32 { count << Self.chunkBits }

  @inline(__always)
  func node(_ index: UInt32) -> UnsafeMutablePointer<CommandNode> {
    chunks.unsafelyUnwrapped[Int(index >> Self.chunkBits)] + Int(index & (Self.chunkSize - 1))
  }

  @inline(__always)
  mutating func allocate() -> UInt32 {
    if firstFree == CommandNode.none { grow() }
    let index = firstFree
    firstFree = node(index).pointee.next
    node(index).pointee.next = CommandNode.none
    return index
  }

  @inline(__always)
  mutating func free(_ index: UInt32) {
    let node = node(index)
    node.pointee.state = .free
    node.pointee.next = firstFree
    firstFree = index
  }

  /// Frees nodes that are chained in the order of a list.
  mutating func free(chainFrom first: UInt32, to last: UInt32) {
    node(last).pointee.next = firstFree
    firstFree = first
  }

  @inline(never)
  private mutating func grow() {
    let chunk = UnsafeMutablePointer<CommandNode>.allocate(capacity: Int(Self.chunkSize))
    let base = capacity
    if count & (count &- 1) == 0 { moveChunks() }
    (chunks! + Int(count)).initialize(to: chunk)
    count += 1
    for offset in 0..<Self.chunkSize {
      (chunk + Int(offset)).initialize(to: CommandNode())
      chunk[Int(offset)].next = offset + 1 < Self.chunkSize ? base + offset + 1 : CommandNode.none
    }
    firstFree = base
  }

  /// Gives back what a long queue needed beyond ``kept``. No node may be in use.
  mutating func shrink() {
    guard capacity > kept else { return }
    let rest = kept >> Self.chunkBits
    for number in rest..<count {
      chunks![Int(number)].deinitialize(count: Int(Self.chunkSize))
      chunks![Int(number)].deallocate()
    }
    count = rest
    firstFree = CommandNode.none
    for index in (0..<capacity).reversed() {
      node(index).pointee.next = firstFree
      firstFree = index
    }
  }

  /// Makes room for twice as many chunks, at powers of two.
  private mutating func moveChunks() {
    let larger = UnsafeMutablePointer<UnsafeMutablePointer<CommandNode>>.allocate(
      capacity: max(1, 2 * Int(count)))
    if let chunks {
      larger.moveInitialize(from: chunks, count: Int(count))
      chunks.deallocate()
    }
    chunks = larger
  }

  /// Gives the memory back. No index may be used any more.
  func deallocate() {
    guard let chunks else { return }
    for number in 0..<Int(count) {
      chunks[number].deinitialize(count: Int(Self.chunkSize))
      chunks[number].deallocate()
    }
    chunks.deallocate()
  }
}
