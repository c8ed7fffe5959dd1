// SPDX-License-Identifier: MIT

/// A look at whether the object of a weak reference lives, which takes no reference to it: 30 ns
/// less than to take one and let go of it, which each command beyond a queue's limit would have to.
///
/// Safe: a native weak reference is one word that leads to the object's side table, which lives as
/// long as the weak reference does. The table's second pair of words is the object's counts, whose
/// bit 32 is set from the moment on at which the last reference goes. What would break it is
/// another runtime: compilers that were not looked at are kept out
/// (``Platform/hasKnownSideTables``), ``isKnown`` tries it with an object before the first use, and
/// WeakPeekTests would notice.
enum WeakPeek {
  private static let countsOffset = 16
  private static let isDying: UInt64 = 1 << 32

  /// Whether the object of the weak reference at an address certainly lives. The reference must
  /// not change meanwhile.
  @inline(__always)
  static func isAlive(_ reference: UnsafeRawPointer) -> Bool {
    Platform.hasKnownSideTables && isKnown && read(reference)
  }

  @inline(__always)
  private static func read(_ reference: UnsafeRawPointer) -> Bool {
    guard let table = reference.load(as: UnsafeRawPointer?.self) else { return false }
    return table.load(fromByteOffset: countsOffset, as: UInt64.self) & isDying == 0
  }

  private final class Probe {}

  private static let isKnown: Bool = {
    let header = UnsafeMutablePointer<EntryHeader>.allocate(capacity: 1)
    defer {
      header.deinitialize(count: 1)
      header.deallocate()
    }
    var probe: Probe? = Probe()
    header.initialize(to: EntryHeader(object: probe, type: Probe.self, isOwned: false))
    let lives = withExtendedLifetime(probe) { read(header) }
    probe = nil
    return lives && header.pointee.object == nil && !read(header)
  }()
}
