// SPDX-License-Identifier: MIT

internal import Synchronization

/// A look at whether the object of a weak reference lives, which takes no reference to it: 30 ns
/// less than to take one and let go of it, which each command beyond a queue's limit would have to.
/// And whether somebody else holds it, 5 ns less than to ask the runtime, which each command that
/// is replayed would have to.
///
/// Safe: a native weak reference is one word that leads to the object's side table, which lives as
/// long as the weak reference does. The table's second pair of words is the object's counts, whose
/// bit 32 is set from the moment on at which the last reference goes; the 30 bits behind it are the
/// number of references but one. What would break it is another runtime: compilers that were not looked at are kept out
/// (``Platform/hasKnownSideTables``), ``prepare()`` tries it with an object before the first use, and
/// WeakPeekTests would notice.
enum WeakPeek {
  private static let countsOffset = 16
  private static let isDying: UInt64 = 1 << 32
  private static let moreReferences: UInt64 = (1 << 30 - 1) << 33

  /// Whether the object of the weak reference at an address certainly lives. The reference must
  /// not change meanwhile.
  @inline(__always)
  static func isAlive(_ reference: UnsafeRawPointer) -> Bool {
    isPossible && read(reference)
  }

  @inline(__always)
  private static func read(_ reference: UnsafeRawPointer) -> Bool {
    guard let table = reference.load(as: UnsafeRawPointer?.self) else { return false }
    return table.load(fromByteOffset: countsOffset, as: UInt64.self) & isDying == 0
  }

  /// Whether ``isShared(_:)`` may be asked.
  @inline(__always)
  static var isPossible: Bool { Platform.hasKnownSideTables && known.load(ordering: .relaxed) }

  /// Finds out whether there is something to peek into. Called for each relay, before it is used.
  static func prepare() { known.store(isKnown, ordering: .relaxed) }

  /// What ``isKnown`` says, without the call that asks whether that has been found out.
  private static let known = Atomic<Bool>(false)

  /// Whether there are other references to the object of the weak reference at an address than the
  /// caller's own one.
  @inline(__always)
  static func isShared(_ reference: UnsafeRawPointer) -> Bool {
    guard let table = reference.load(as: UnsafeRawPointer?.self) else { return false }
    return table.load(fromByteOffset: countsOffset, as: UInt64.self) & moreReferences != 0
  }

  private final class Probe {}

  private static let isKnown: Bool = {
    let header = UnsafeMutablePointer<EntryHeader>.allocate(capacity: 1)
    defer {
      header.deinitialize(count: 1)
      header.deallocate()
    }
    // Counted by hand: a reference more or less is what is looked for.
    let probe = Unmanaged.passRetained(Probe())
    fill(header, probe)
    let isAlone = look(header) == (isAlive: true, isShared: false)
    _ = probe.retain()
    let isSeen = look(header) == (isAlive: true, isShared: true)
    probe.release()
    probe.release()
    return isAlone && isSeen && header.pointee.object == nil
      && look(header) == (isAlive: false, isShared: false)
  }()

  @inline(never)
  private static func fill(_ header: UnsafeMutablePointer<EntryHeader>, _ probe: Unmanaged<Probe>) {
    header.initialize(
      to: EntryHeader(object: probe.takeUnretainedValue(), type: Probe.self, isOwned: false))
  }

  @inline(never)
  private static func look(_ header: UnsafePointer<EntryHeader>) -> (isAlive: Bool, isShared: Bool)
  {
    (read(header), isShared(header))
  }
}
