// SPDX-License-Identifier: MIT

import Testing

@testable import FeatureRelay

struct EventOrderTests {
  @Test func aClaimIsExclusiveUntilItIsReleased() {
    let order = EventOrder()
    let claim = order.claim(2, if: { _ in true })!
    #expect(claim.number == 0 && order.last == 2)
    #expect(order.claim(1, if: { _ in true })?.number == nil)
    #expect(order.take() == false)
    #expect(order.release(claim) == true)
    #expect(order.claim(1, if: { _ in false })?.number == nil)
    #expect(order.last == 2)
    #expect(order.take() == true)
  }

  @Test func whatComesUpMeanwhileKeepsTheTokenWithItsHolder() {
    let order = EventOrder()
    let claim = order.claim(1, if: { _ in true })!
    #expect(order.next(isPending: true) == 2)
    #expect(order.release(claim) == false)
    #expect(order.take() == false)
    order.releaseIdle()
    #expect(order.claim(1, if: { _ in true })?.number == 2)
  }

  @Test func nothingIsClaimedWhatIsPendingOrOver() {
    let order = EventOrder()
    order.setPending()
    #expect(order.claim(1, if: { _ in true })?.number == nil)
    #expect(order.take() == true)
    order.releaseIdle()
    let claim = order.claim(1, if: { _ in true })
    #expect(claim.map { order.release($0) } == true)
    order.finish()
    #expect(order.take() == true)
    order.releaseIdle()
    #expect(order.claim(1, if: { _ in true })?.number == nil)
  }

  @Test func whoeverClaimsWhatIsWantedKeepsTheTokenUntilHeHasLookedAfterIt() {
    let order = EventOrder()
    order.setWanted()
    let first = order.claim(1, if: { _ in true })
    #expect(first.map { order.release($0) } == false)
    #expect([order.takeWanted(), order.takeWanted()] == [true, false])
    order.releaseIdle()
    let second = order.claim(1, if: { _ in true })
    order.setWanted()
    #expect(second.map { order.release($0) } == false)
    #expect(order.last == 2)
  }

  @Test func whatIsNumberedInBetweenSpoilsTheClaim() {
    let order = EventOrder()
    let claim = order.claim(1) { number in
      #expect(number == 0)
      _ = order.next(isPending: false)
      return true
    }
    #expect(claim == nil)
    #expect(order.last == 1)
  }
}
