// SPDX-License-Identifier: MIT

import Testing

@testable import FeatureRelay

@Suite
struct CommandEndsTests {
  @Test
  func `the last 1,024 ends are remembered with their reasons and no others`() {
    var ends = CommandEnds()
    func reason(_ sequence: Int) -> DropReason? {
      sequence % 3 == 0 ? nil : DropReason.allCases[sequence % DropReason.allCases.count]
    }
    for count in 1...3_000 {
      ends.append(UInt64(count), reason(count))
      guard [1, 2, 1_023, 1_024, 1_025, 2_048, 2_049, 3_000].contains(count) else { continue }
      let oldest = max(1, count - 1_023)
      for sequence in oldest...count {
        let expected = reason(sequence).map { CommandStatus.dropped($0) } ?? .delivered
        #expect(ends.status(UInt64(sequence)) == expected)
      }
      #expect(ends.status(UInt64(oldest - 1)) == nil)
      #expect(ends.status(UInt64(count + 1)) == nil)
    }
  }
}
