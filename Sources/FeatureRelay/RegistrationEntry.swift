// SPDX-License-Identifier: MIT

internal import Synchronization

/// Whether a relay keeps a handler alive.
public enum HandlerOwnership: Sendable {
  /// The relay does not keep the handler alive; when the handler dies its registration is gone. The
  /// default.
  case weak
  /// The relay keeps the handler until it is unregistered or the relay goes.
  case owned
}

/// One registration of one handler for one feature: owner of the memory that the direct path reads.
///
/// Safe to share: everything is immutable but the cell behind the header and `wasUsed`, which the
/// main actor alone touches, and the weak reference, whose loads are atomic. Kept alive by the
/// slot's stack, by the list of what is retired (emptied on the main actor while nothing runs
/// synchronously)
/// and by whoever looks at it at the moment.
final class RegistrationEntry: @unchecked Sendable {
  let id: UInt64
  let pointer: UnsafeMutableRawPointer
  /// Which object, also after its death: for the same object registered again. Never dereferenced.
  let identity: UInt
  var handlerType: Any.Type { pointer.header.pointee.type }
  var handlerName: String { "\(handlerType)" }
  let isOwned: Bool
  private let group: RegistrationGroup?

  /// - Precondition: `F` is class-bound (``FeatureShape``).
  init<F>(
    _ handler: F, ownership: HandlerOwnership, id: UInt64, group: RegistrationGroup? = nil
  ) {
    // Safe: a value of a class, or of a class-bound protocol's type, starts with its object. A cast
    // would look at the type.
    let object = withUnsafeBytes(of: handler) {
      Unmanaged<AnyObject>.fromOpaque($0.load(as: UnsafeRawPointer.self)).takeUnretainedValue()
    }
    self.id = id
    identity = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    isOwned = ownership == .owned
    self.group = group
    pointer = .allocate(
      byteCount: EntryHeader.cellOffset + MemoryLayout<F>.size, alignment: 8)
    pointer.header.initialize(
      to: EntryHeader(object: isOwned ? nil : object, type: type(of: object), isOwned: isOwned))
    if isOwned {
      pointer.cell.initializeMemory(as: F.self, to: handler)
    } else {
      withUnsafeBytes(of: handler) { bytes in
        // The witness tables; the object's word is filled in while a command runs.
        pointer.cell.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      }
    }
    group?.insert(pointer)
  }

  deinit {
    group?.remove(pointer)
    if isOwned {
      Unmanaged<AnyObject>.fromOpaque(pointer.cell.load(as: UnsafeRawPointer.self)).release()
    }
    pointer.header.deinitialize(count: 1)
    pointer.deallocate()
  }

  /// Whether a command has reached the handler, by way of any feature of its registration.
  var wasUsed: Bool {
    pointer.header.pointee.wasUsed.load(ordering: .relaxed) || group?.wasUsed == true
  }

  /// The handler while it lives. A new reference, which may turn out to be the last one: let go of
  /// it outside locks.
  var handler: AnyObject? {
    guard isOwned else { return pointer.header.pointee.object }
    return Unmanaged<AnyObject>.fromOpaque(pointer.cell.load(as: UnsafeRawPointer.self))
      .takeUnretainedValue()
  }

  /// The handler as its feature's type while it lives. On the main actor.
  @MainActor
  func handler<F>(as feature: F.Type) -> F? {
    guard pointer.begin() else { return nil }
    defer { pointer.end() }
    return pointer.cell.assumingMemoryBound(to: F.self).pointee
  }

  static let lastID = Atomic<UInt64>(0)
}

/// The entries of one registration for several features: a coordinator that was used in one of them
/// was used.
final class RegistrationGroup: Sendable {
  private struct State {
    var entries: [UInt] = []
    var wasUsed = false
  }

  private let state = Lock(State())

  func insert(_ entry: UnsafeMutableRawPointer) {
    state.withLock { $0.entries.append(UInt(bitPattern: entry)) }
  }

  /// The entry's memory is about to go.
  func remove(_ entry: UnsafeMutableRawPointer) {
    state.withLock { state in
      state.entries.removeAll { $0 == UInt(bitPattern: entry) }
      if entry.header.pointee.wasUsed.load(ordering: .relaxed) { state.wasUsed = true }
    }
  }

  var wasUsed: Bool {
    state.withLock { state in
      state.wasUsed
        || state.entries.contains { entry in
          // Safe: an entry takes itself out before its memory goes, under this lock.
          UnsafeMutableRawPointer(bitPattern: entry)!.header.pointee.wasUsed.load(
            ordering: .relaxed)
        }
    }
  }
}

/// What kind of type a feature is, read from its metadata.
enum FeatureShape {
  /// Traps with a sentence unless the type is a class or a class-bound protocol.
  static func check<F>(_ feature: F.Type) {
    if let problem = problem(with: feature) { mistake(problem) }
  }

  /// What is wrong with the type as a feature; nil when nothing is.
  static func problem<F>(with feature: F.Type) -> String? {
    if feature is AnyClass { return nil }
    let metadata = UnsafeRawPointer(bitPattern: FeatureKey.of(feature))!
    // The first word of a type's metadata is its kind; 0x303 is an existential, 0x307 a constrained
    // one.
    switch metadata.load(as: UInt.self) {
    case 0x303:
      // The next word starts with the flags, whose top bit is clear for class-bound protocols.
      if metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) >> 31 == 0 {
        return nil
      }
    case 0x307:
      // The next word points at the shape, whose flags start with the special kind: 1 is
      // class-bound.
      let shape = metadata.load(
        fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
      if shape.load(as: UInt32.self) & 0xFF == 1 { return nil }
    default:
      if feature is any AnyOptional.Type {
        return """
          FeatureRelay: \(feature) is an optional: unwrap the handler before registering it, and name the \
          feature itself.
          """
      }
      return """
        FeatureRelay: \(feature) is neither a protocol nor a class: a relay holds handlers weakly, so that a \
        handler has to be a class. Make it a class, or dispatch to the protocol that it implements.
        """
    }
    return """
      FeatureRelay: the protocol \(feature) is not class-bound, so that its handlers could not be held weakly. \
      Let it inherit from RelayFeature.
      """
  }
}

private protocol AnyOptional {}
extension Optional: AnyOptional {}
