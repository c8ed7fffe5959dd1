// SPDX-License-Identifier: MIT

import RaceSupport
import Testing

@testable import FeatureRelay

private final class Peeked: Sendable {
  let onDeath: @Sendable () -> Void
  init(onDeath: @escaping @Sendable () -> Void = {}) { self.onDeath = onDeath }
  deinit { onDeath() }
}

/// Where the layout of weak references is known, a peek says what a look says.
@Suite
struct WeakPeekTests {
  #if os(Linux) && (arch(x86_64) || arch(arm64)) && compiler(>=6.2) && compiler(<6.4)
    @Test func aLiveObjectIsKnownToLive() {
      WeakPeek.prepare()
      let object = Peeked()
      withHeader(of: object) { #expect(WeakPeek.isAlive($0)) }
      withExtendedLifetime(object) {}
    }

    // Counted by hand: the compiler may hold a reference of its own for as long as it likes.
    @Test func whatIsHeldOnceIsNotShared() {
      WeakPeek.prepare()
      #expect(WeakPeek.isPossible)
      let object = Unmanaged.passRetained(Peeked())
      let header = UnsafeMutablePointer<EntryHeader>.allocate(capacity: 1)
      fill(header, object)
      #expect(!WeakPeek.isShared(header))
      _ = object.retain()
      #expect(WeakPeek.isShared(header))
      object.release()
      #expect(!WeakPeek.isShared(header))
      object.release()
      #expect(!WeakPeek.isShared(header), "it is dead")
      header.deinitialize(count: 1)
      header.deallocate()
    }

    @inline(never)
    private func fill(_ header: UnsafeMutablePointer<EntryHeader>, _ object: Unmanaged<Peeked>) {
      header.initialize(
        to: EntryHeader(object: object.takeUnretainedValue(), type: Peeked.self, isOwned: false))
    }
  #endif

  @Test func aDeadObjectIsNot() {
    let header = UnsafeMutablePointer<EntryHeader>.allocate(capacity: 1)
    var object: Peeked? = Peeked()
    header.initialize(to: EntryHeader(object: object, type: Peeked.self, isOwned: false))
    object = nil
    #expect(!WeakPeek.isAlive(header))
    header.deinitialize(count: 1)
    header.deallocate()
  }

  @Test func anObjectIsDeadFromItsDeinitOn() {
    let answers = Tally()
    let place = UnsafeMutablePointer<EntryHeader>.allocate(capacity: 1)
    nonisolated(unsafe) let header = place
    var object: Peeked? = Peeked { if WeakPeek.isAlive(header) { answers.add() } }
    place.initialize(to: EntryHeader(object: object, type: Peeked.self, isOwned: false))
    object = nil
    #expect(answers.current == 0)
    place.deinitialize(count: 1)
    place.deallocate()
  }

  @Test func withoutAnObjectNothingLives() {
    withHeader(of: nil) { #expect(!WeakPeek.isAlive($0)) }
  }

  private func withHeader(of object: AnyObject?, _ body: (UnsafeRawPointer) -> Void) {
    let header = UnsafeMutablePointer<EntryHeader>.allocate(capacity: 1)
    header.initialize(to: EntryHeader(object: object, type: Peeked.self, isOwned: false))
    body(header)
    header.deinitialize(count: 1)
    header.deallocate()
  }
}
