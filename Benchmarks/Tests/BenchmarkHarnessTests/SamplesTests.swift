// SPDX-License-Identifier: MIT

import BenchmarkHarness
import Testing

@Suite struct SamplesTests {
  @Test func quantilesLieBetweenNeighbours() {
    let samples = Samples([4, 1, 3, 2])
    #expect(samples.minimum == 1)
    #expect(samples.median == 2.5)
    #expect(samples.quantile(1) == 4)
    #expect(samples.spread == (3.25 - 1.75) / 2.5)
  }

  @Test func oneRoundIsItsOwnMedianWithoutSpread() {
    let samples = Samples([7])
    #expect(samples.median == 7)
    #expect(samples.spread == 0)
  }
}

@Suite struct BoundTests {
  private let figures = ["F": 20.0, "peer": 100.0]

  @Test func boundsCompareWithTheFloorAndWithPeers() {
    #expect(Bound.floors(1.35).value(of: 30, among: figures) == 1.5)
    #expect(Bound.times(1.1, of: "peer").value(of: 50, among: figures) == 0.5)
    #expect(Bound.faster(2, than: "peer").value(of: 50, among: figures) == 2)
    #expect(Bound.floors(1, over: "peer").value(of: 130, among: figures) == 1.5)
    #expect(Bound.count(3).value(of: 4, among: figures) == 4)
  }

  @Test func aBoundOfAMissingPeerHasNoValue() {
    #expect(Bound.faster(2, than: "nobody").value(of: 50, among: figures) == nil)
    #expect(Bound.floors(2).value(of: 50, among: [:]) == nil)
  }

  @Test func theMarginIsOnTheSideOfTheNoise() {
    #expect(Bound.floors(2, margin: 0.1).isMet(by: 2.19))
    #expect(!Bound.floors(2, margin: 0.1).isMet(by: 2.21))
    #expect(Bound.faster(2, than: "peer", margin: 0.1).isMet(by: 1.81))
    #expect(!Bound.faster(2, than: "peer", margin: 0.1).isMet(by: 1.79))
    #expect(Bound.floors(0.5, over: "peer", margin: 0.1).isMet(by: 0.59))
    #expect(!Bound.count(0).isMet(by: 1))
    #expect(!Bound.count(5, atLeast: 1).isMet(by: 0))
  }

  @Test func theAimIsReachedFromTheRightSide() {
    #expect(Bound.floors(2, aim: 1).reachesAim(1))
    #expect(!Bound.floors(2, aim: 1).reachesAim(1.1))
    #expect(Bound.faster(2, than: "peer", aim: 4).reachesAim(5))
    #expect(!Bound.floors(2).reachesAim(0))
  }
}
