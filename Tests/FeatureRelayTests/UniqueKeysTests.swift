// SPDX-License-Identifier: MIT

import Testing

@testable import FeatureRelay

@Suite
struct UniqueKeysTests {
  private func id(_ number: UInt64) -> CommandID {
    CommandID(relay: 1, slot: 0, index: 0, sequence: number)
  }

  private func holder(_ keys: UniqueKeys, _ key: String, at time: Int64) -> UInt64? {
    switch keys.holder(of: key, at: time) {
    case .command(let id), .delivered(let id, _): id.sequence
    case nil: nil
    }
  }

  @Test
  func `a key is held until its command ends`() {
    var keys = UniqueKeys()
    keys.take("a", for: id(1))
    #expect(holder(keys, "a", at: .max) == 1)
    keys.release("a", by: id(1))
    #expect(keys.isEmpty)
  }

  @Test
  func `a command lets go of no other one's key`() {
    var keys = UniqueKeys()
    keys.take("a", for: id(1))
    keys.take("a", for: id(2))
    keys.release("a", by: id(1))
    keys.remember("a", deliveredAs: id(1), until: 100)
    #expect(holder(keys, "a", at: 200) == 2)
  }

  @Test
  func `a delivered key is remembered up to the end of its window and not at it`() {
    var keys = UniqueKeys()
    keys.take("a", for: id(1))
    keys.remember("a", deliveredAs: id(1), until: 100)
    #expect(holder(keys, "a", at: 99) == 1)
    #expect(holder(keys, "a", at: 100) == nil)
  }

  @Test
  func `of more than 1,024 delivered keys the oldest are forgotten`() {
    var keys = UniqueKeys()
    for number in 0..<3_000 {
      keys.take("\(number)", for: id(UInt64(number)))
      keys.remember("\(number)", deliveredAs: id(UInt64(number)), until: .max)
    }
    let known = (0..<3_000).filter { holder(keys, "\($0)", at: 0) != nil }
    #expect(known == Array((3_000 - 1_024)..<3_000))
  }

  @Test
  func `a key that was taken again outlives the forgetting of its first delivery`() {
    var keys = UniqueKeys()
    keys.take("a", for: id(1))
    keys.remember("a", deliveredAs: id(1), until: 1)
    keys.take("a", for: id(2))
    for number in 0..<2_000 {
      keys.take("\(number)", for: id(UInt64(10 + number)))
      keys.remember("\(number)", deliveredAs: id(UInt64(10 + number)), until: .max)
    }
    #expect(holder(keys, "a", at: 5) == 2)
  }
}
