// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import RelayJournal

struct IdentifierTableTests {
  @Test(arguments: [UInt64(1), 1 << 20, 1 << 32, 0x9E37_79B9_7F4A_7C15])
  func itDoesWhatADictionaryDoes(stride: UInt64) {
    var generator = SeededGenerator(seed: stride)
    var table = IdentifierTable()
    var dictionary: [UInt64: Int] = [:]
    for round in 1...20_000 {
      let id = UInt64.random(in: 0..<400, using: &generator) &* stride
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1:
        let before = table.update(id, JournalIndex.Item(offset: round, size: 16))
        #expect(before?.offset == dictionary.updateValue(round, forKey: id))
      case 2, 3:
        #expect(table.remove(id)?.offset == dictionary.removeValue(forKey: id))
      default:
        let isThere = table.change(id) { $0.offset += 1 }
        #expect(isThere == (dictionary[id] != nil))
        if isThere { dictionary[id]! += 1 }
      }
      #expect(table.count == dictionary.count)
    }
    let all = Dictionary(uniqueKeysWithValues: table.all.map { ($0.id, $0.item.offset) })
    #expect(all == dictionary)
    for id in 0..<400 as Range<UInt64> {
      #expect(table[id &* stride]?.offset == dictionary[id &* stride])
    }
  }
}
