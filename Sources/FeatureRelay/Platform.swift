// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Synchronization

#if os(Linux)
  internal import CDispatch
#endif
#if canImport(Darwin)
  internal import Darwin
  internal import os
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif os(Windows)
  internal import ucrt
#else
  #error("FeatureRelay does not know this platform: add its clock, log and standard error here.")
#endif

/// Everything that differs from one platform to the other.
enum Platform {
  /// Whether this compiler's runtime keeps weak references as ``WeakPeek`` reads them.
  @inline(__always)
  static var hasKnownSideTables: Bool {
    #if os(Linux) && (arch(x86_64) || arch(arm64)) && compiler(>=6.2) && compiler(<6.4)
      true
    #else
      false
    #endif
  }

  /// The continuous clock, which goes on while the system sleeps, in nanoseconds.
  static var continuousNanoseconds: Int64 {
    #if canImport(Darwin)
      Int64(bitPattern: clock_gettime_nsec_np(CLOCK_MONOTONIC))
    #elseif os(Windows)
      Origin.continuous.duration(to: .now).nanoseconds
    #else
      read(CLOCK_BOOTTIME)
    #endif
  }

  /// A cheap clock that lags by up to ``coarseTolerance``, in nanoseconds.
  static var coarseNanoseconds: Int64 {
    #if canImport(Darwin)
      Int64(bitPattern: clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX))
    #elseif os(Windows)
      continuousNanoseconds
    #else
      read(CLOCK_MONOTONIC_COARSE)
    #endif
  }

  /// The exact time of the clock that ``coarseNanoseconds`` lags behind.
  static var tickingNanoseconds: Int64 {
    #if canImport(Darwin) || os(Windows)
      continuousNanoseconds
    #else
      read(CLOCK_MONOTONIC)
    #endif
  }

  /// A cheap time of day that changes together with ``coarseNanoseconds``, in nanoseconds.
  static var coarseWallNanoseconds: Int64 {
    #if canImport(Darwin) || os(Windows)
      coarseNanoseconds
    #else
      read(CLOCK_REALTIME_COARSE)
    #endif
  }

  /// Whether ``coarseNanoseconds`` is cheaper than the exact clock by so much that two looks at
  /// such clocks cost less.
  static var isCoarseClockCheap: Bool {
    #if canImport(Darwin) || os(Windows)
      false
    #else
      true
    #endif
  }

  /// The time since 1970 by the wall clock, in nanoseconds.
  static var wallNanoseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) * 1_000 }

  /// A tick of a kernel that runs at 100 Hz.
  static let coarseTolerance: Int64 = 10_000_000

  /// Whether nobody but the caller holds the object in a registration's cell. On Apple platforms an
  /// object may count its references in Objective-C's way, which cannot be told: there the answer
  /// is yes.
  @inline(__always)
  static func isUniquelyReferenced(_ entry: UnsafeMutableRawPointer) -> Bool {
    #if canImport(Darwin)
      true
    #else
      // Safe: only the object's count is looked at. As `AnyObject` the answer is always no in debug.
      if entry.header.pointee.isOwned { return false }
      if WeakPeek.isPossible { return !WeakPeek.isShared(entry) }
      let cell = entry.cell.assumingMemoryBound(to: SomeObject.self)
      return isKnownUniquelyReferenced(&cell.pointee)
    #endif
  }

  static func schedule(afterNanoseconds delay: Int64, _ action: @escaping @Sendable () -> Void) {
    // Dispatch adds the delay to the clock's own time: half of the range is a century and cannot
    // overflow.
    let bounded = Int(min(delay, Int64.max / 4))
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(bounded), execute: action)
  }

  /// Writes a line to standard error in one call, so that lines of several threads do not mix.
  static func writeToStandardError(_ line: String) {
    var bytes = Array(line.utf8)
    bytes.append(10)
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        #if os(Windows)
          let count = Int(_write(2, rest.baseAddress, UInt32(rest.count)))
        #else
          let count = write(2, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        #endif
        // Standard error is where a failure would be told: there is no other place to go to.
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Whether the process's environment has a variable of this name.
  static func environmentHas(_ name: String) -> Bool { getenv(name) != nil }

  private final class SomeObject {}

  #if os(Windows)
    private enum Origin { static let continuous = ContinuousClock.now }
  #elseif !canImport(Darwin)
    @inline(__always)
    private static func read(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
  #endif
}

extension Platform {
  #if canImport(Darwin)
    /// The system's log, and an interval for each command.
    final class LogSink: Sendable {
      /// Safe: loggers and signposters may be used from any thread.
      private struct Place: @unchecked Sendable {
        let logger: Logger
        let signposter: OSSignposter
      }

      private struct State {
        var places: [String: Place] = [:]
        /// The signposts of commands that have been accepted and have not ended.
        var signposts: [CommandID: UInt64] = [:]
      }

      private let subsystem: String
      private let state = Lock(State())

      init(subsystem: String) {
        self.subsystem = subsystem
      }

      func write(_ event: RelayEvent) {
        let place = place(event.scope, event.feature)
        // An event's text holds nothing of a command's payload.
        let line = event.description
        if event.isProblem {
          place.logger.error("\(line, privacy: .public)")
        } else {
          place.logger.debug("\(line, privacy: .public)")
        }
        guard let id = event.id else { return }
        switch event.kind {
        case .accepted:
          let signpost = place.signposter.makeSignpostID()
          _ = place.signposter.beginInterval(
            "command", id: signpost, "\(id.description, privacy: .public)")
          state.withLock { $0.signposts[id] = signpost.rawValue }
        case .delivered, .dropped:
          guard let signpost = state.withLock({ $0.signposts.removeValue(forKey: id) }) else {
            return
          }
          place.signposter.endInterval(
            "command", OSSignpostIntervalState.beginState(id: OSSignpostID(signpost)))
        default: break
        }
      }

      /// Intervals have one name, and each category is a lane of its own in Instruments.
      private func place(_ scope: String, _ feature: String?) -> Place {
        let lane = feature.map { "\(scope) \($0)" } ?? scope
        return state.withLock { state in
          if let place = state.places[lane] { return place }
          let place = Place(
            logger: Logger(subsystem: subsystem, category: scope),
            signposter: OSSignposter(subsystem: subsystem, category: lane))
          state.places[lane] = place
          return place
        }
      }
    }
  #else
    /// Standard error, a line for each event.
    struct LogSink: Sendable {
      let subsystem: String

      func write(_ event: RelayEvent) {
        writeToStandardError("\(subsystem) \(event.isProblem ? "warning" : "debug") \(event)")
      }
    }
  #endif
}

extension Platform {
  /// Whether the caller runs on the main queue, or on one that leads to it.
  ///
  /// `DispatchQueue.getSpecific(key:)` says the same, for three times what C's function takes:
  /// values of any type are boxed, retained and copied.
  @inline(__always)
  static var isOnMainQueue: Bool {
    #if os(Linux)
      CDispatch.dispatch_get_specific(mainMark) != nil
    #else
      DispatchQueue.getSpecific(key: mainMark) != nil
    #endif
  }

  #if os(Linux)
    /// Safe: only the address is used, which is nobody else's and never changes.
    nonisolated(unsafe) private static let mainMark: UnsafeMutableRawPointer = {
      let mark = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
      CDispatch.dispatch_queue_set_specific(CDispatch.dispatch_get_main_queue(), mark, mark, nil)
      return mark
    }()
  #else
    private static let mainMark: DispatchSpecificKey<Bool> = {
      let key = DispatchSpecificKey<Bool>()
      DispatchQueue.main.setSpecific(key: key, value: true)
      return key
    }()
  #endif
}

#if os(Linux) && (arch(x86_64) || arch(arm64))

  // The C function takes its arguments in a list without types, which Swift does not import. Safe:
  // there and here whole words are passed in the same registers on these two processors.
  @_silgen_name("syscall")
  private func systemCall(
    _ number: Int, _ word: UnsafeMutableRawPointer, _ operation: Int, _ value: Int, _ timeout: Int
  ) -> Int

  /// A mutex for what many threads want at the same time, each for a moment: whoever comes first
  /// has it.
  ///
  /// `Synchronization.Mutex` is a futex here that the kernel hands over to the thread that has slept
  /// longest. That one has yet to wake up, and until then the others, which run, have to sleep as
  /// well: from then on each of them comes by way of the scheduler. This one is free while nobody
  /// runs in it (Drepper, "Futexes are tricky", 2011, the second mutex). A thread may be overtaken,
  /// and lends nobody its priority. The thread sanitizer sees the word. Not recursive; nothing
  /// foreign may be called inside.
  struct BargingLock<State: ~Copyable>: ~Copyable {
    /// How often a thread looks before it sleeps: for about as long as it takes to sleep and to be
    /// woken (Karlin, Li, Manasse, Owicki, "Empirical studies of competitive spinning", 1991).
    private static var looks: Int { 2_000 }
    /// Before the state, in the same memory.
    private static var headroom: Int { max(MemoryLayout<State>.alignment, 8) }

    /// 0: free; 1: held; 2: held, and perhaps somebody sleeps.
    private let word: UnsafeMutablePointer<Atomic<UInt32>>

    private var state: UnsafeMutablePointer<State> {
      (UnsafeMutableRawPointer(word) + Self.headroom).assumingMemoryBound(to: State.self)
    }

    init(_ state: consuming sending State) {
      let memory = UnsafeMutableRawPointer.allocate(
        byteCount: Self.headroom + MemoryLayout<State>.size, alignment: Self.headroom)
      word = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
      word.initialize(to: Atomic(0))
      (memory + Self.headroom).initializeMemory(as: State.self, to: state)
    }

    deinit {
      state.deinitialize(count: 1)
      word.deinitialize(count: 1)
      UnsafeMutableRawPointer(word).deallocate()
    }

    @inline(__always)
    borrowing func withLock<Result: ~Copyable & Sendable, Failure: Error>(
      _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      if !take() { takeLater() }
      defer { if word.pointee.exchange(0, ordering: .releasing) == 2 { wakeOne() } }
      return try body(&state.pointee)
    }

    @inline(__always)
    private borrowing func take() -> Bool {
      word.pointee.compareExchange(
        expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed
      ).exchanged
    }

    @inline(never)
    private borrowing func takeLater() {
      for _ in 0..<Self.looks where word.pointee.load(ordering: .relaxed) == 0 {
        if take() { return }
      }
      // Whoever has slept cannot know whether he was the only one.
      while word.pointee.exchange(2, ordering: .acquiring) != 0 {
        _ = systemCall(Futex.call, UnsafeMutableRawPointer(word), Futex.wait, 2, 0)
      }
    }

    @inline(never)
    private borrowing func wakeOne() {
      _ = systemCall(Futex.call, UnsafeMutableRawPointer(word), Futex.wake, 1, 0)
    }
  }

  // Safe: the state is only reached by whoever holds the word.
  extension BargingLock: @unchecked Sendable where State: ~Copyable {}

  private enum Futex {
    #if arch(x86_64)
      static var call: Int { 202 }
    #else
      static var call: Int { 98 }
    #endif
    /// Among the threads of this process: sleeps as long as the word has the value.
    static var wait: Int { 0 | 128 }
    static var wake: Int { 1 | 128 }
  }

#else
  /// Elsewhere the system's own mutex gives way to whoever comes first.
  typealias BargingLock = Lock
#endif

extension Platform {
  /// Where the system keeps an app's own data.
  static var applicationSupport: URL? {
    FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
  }

  /// What an app and its extensions share.
  static func appGroupContainer(_ identifier: String) -> URL? {
    #if canImport(Darwin)
      FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier)
    #else
      nil
    #endif
  }

  /// Keeps a journal out of backups, since commands belong to this installation, and lets it be
  /// read once the device has been unlocked after its start. Both are the directory's, hold for
  /// what is in it, and are lost when it is made anew.
  static func protect(_ path: String?) {
    #if canImport(Darwin)
      guard let path else { return }
      var url = URL(fileURLWithPath: path, isDirectory: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      // A volume that knows no such flag is not backed up.
      try? url.setResourceValues(values)
      #if !os(macOS)
        // Without it the device's own default holds, which is the same or stricter.
        try? FileManager.default.setAttributes(
          [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
          ofItemAtPath: path)
      #endif
    #endif
  }

  /// Does something that the system should not suspend the process in.
  static func withExpiringActivity(_ reason: String, _ body: @escaping @Sendable () -> Void) {
    #if canImport(Darwin) && !os(macOS)
      ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpired in
        // Time is up, or was never granted: what is not written yet waits for the resume.
        if !isExpired { body() }
      }
    #else
      body()
    #endif
  }
}
