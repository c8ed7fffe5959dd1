// SPDX-License-Identifier: MIT

internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif os(Windows)
  internal import ucrt
#else
  #error("RelayJournal does not know this platform: add its clock and its files here.")
#endif

/// Everything that differs from one platform to the other.
enum Platform {
  /// Runs work on some thread of the process.
  static let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void = { work in
    DispatchQueue.global().async { work() }
  }

  /// A clock that only goes on, in nanoseconds.
  static let nanoseconds: @Sendable () -> Int64 = {
    Int64(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds)
  }

  /// The wall clock, in milliseconds since 1970.
  static func wallMilliseconds() -> Int64 {
    #if os(Windows)
      return Int64(time(nil)) * 1_000
    #else
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    #endif
  }

  #if os(Windows)
    static let disk = FileSystem.unsupported
    static let processIdentifier: Int32 = Int32(_getpid())
    static func isRunning(_ process: Int32) -> Bool { true }
    static func coarseNanoseconds() -> Int64 {
      Int64(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds)
    }
  #else
    /// This process.
    static var processIdentifier: Int32 { getpid() }

    /// Whether there is such a process, as far as can be seen.
    static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno == EPERM }

    /// A cheap clock for deciding whether it is time to look again.
    static func coarseNanoseconds() -> Int64 {
      #if canImport(Darwin)
        Int64(bitPattern: clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX))
      #else
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
      #endif
    }
  #endif
}

#if !os(Windows)
  extension Platform {
    /// The POSIX calls, each tried again after a signal.
    static let disk = FileSystem(
      makeDirectory: { path throws(JournalError) in try makeDirectory(path) },
      open: { path, mode throws(JournalError) in
        let flags =
          switch mode {
          case .reading: O_RDONLY
          case .writing: O_RDWR
          case .creating: O_RDWR | O_CREAT
          case .replacing: O_RDWR | O_CREAT | O_TRUNC
          }
        return OpenFile(
          number: Int(
            try attempt("open", path) { open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600) }))
      },
      close: { file in _ = close(file.descriptor) },
      read: { file, offset, buffer throws(JournalError) in
        try attempt("read") {
          pread(file.descriptor, buffer.baseAddress!, buffer.count, off_t(offset))
        }
      },
      write: { file, offset, bytes throws(JournalError) in
        try attempt("write") {
          pwrite(file.descriptor, bytes.baseAddress!, bytes.count, off_t(offset))
        }
      },
      sync: { file throws(JournalError) in
        #if canImport(Darwin)
          // Some file systems do not know the first, which empties the drive's cache; the second
          // only keeps the order of what is in it. The plain call does neither.
          if fcntl(file.descriptor, F_FULLFSYNC) == 0 { return }
          if fcntl(file.descriptor, F_BARRIERFSYNC) == 0 { return }
          _ = try attempt("sync") { fsync(file.descriptor) }
        #else
          _ = try attempt("sync") { fdatasync(file.descriptor) }
        #endif
      },
      truncate: { file, size throws(JournalError) in
        _ = try attempt("truncate") { ftruncate(file.descriptor, off_t(size)) }
      },
      status: { file throws(JournalError) in
        var status = stat()
        _ = try attempt("look at") { fstat(file.descriptor, &status) }
        return FileStatus(status)
      },
      statusOfPath: { path throws(JournalError) in
        var status = stat()
        do throws(JournalError) {
          _ = try attempt("look at", path) { lstat(path, &status) }
        } catch {
          if error.code == .notFound { return nil }
          throw error
        }
        return FileStatus(status)
      },
      rename: { from, to throws(JournalError) in
        _ = try attempt("rename", from) { rename(from, to) }
      },
      remove: { path throws(JournalError) in
        do throws(JournalError) {
          _ = try attempt("remove", path) { remove(path) }
        } catch {
          if error.code != .notFound { throw error }
        }
      },
      list: { path throws(JournalError) in try list(path) },
      lock: { file throws(JournalError) in
        do throws(JournalError) {
          _ = try attempt("lock") { flock(file.descriptor, LOCK_EX | LOCK_NB) }
          return true
        } catch {
          if error.errno == EWOULDBLOCK { return false }
          throw error
        }
      },
      unlock: { file throws(JournalError) in
        _ = try attempt("unlock") { flock(file.descriptor, LOCK_UN) }
      },
      syncDirectory: { path throws(JournalError) in
        let descriptor = try attempt("open", path) { open(path, O_RDONLY | O_CLOEXEC) }
        defer { _ = close(descriptor) }
        _ = try attempt("sync", path) { fsync(descriptor) }
      })

    private static func makeDirectory(_ path: String) throws(JournalError) {
      do throws(JournalError) {
        _ = try attempt("make", path) { mkdir(path, 0o700) }
      } catch {
        if error.errno == EEXIST {
          var status = stat()
          guard stat(path, &status) == 0, FileStatus(status).isDirectory else {
            throw JournalError(.wrongKind, operation: "make", file: path, errno: ENOTDIR)
          }
          return
        }
        guard error.code == .notFound, let slash = path.lastIndex(of: "/"), slash > path.startIndex
        else { throw error }
        try makeDirectory(String(path[..<slash]))
        try makeDirectory(path)
      }
    }

    private static func list(_ path: String) throws(JournalError) -> [String] {
      guard let directory = opendir(path) else { throw failure("list", path) }
      defer { closedir(directory) }
      var names: [String] = []
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
      }
      return names
    }

    @inline(__always)
    private static func attempt<Number: SignedInteger>(
      _ operation: String, _ path: String = "", _ body: () -> Number
    ) throws(JournalError) -> Number {
      while true {
        let result = body()
        if result >= 0 { return result }
        if errno != EINTR { throw failure(operation, path) }
      }
    }

    private static func failure(_ operation: String, _ path: String) -> JournalError {
      JournalError(code(errno), operation: operation, file: path, errno: errno)
    }

    /// What an error number of the system means for a journal.
    static func code(_ number: Int32) -> JournalError.Code {
      switch number {
      case ENOSPC, EDQUOT: .noSpace
      case EACCES, EPERM, EROFS: .notPermitted
      case ENOENT: .notFound
      case ENOTDIR, EISDIR, ELOOP: .wrongKind
      case EWOULDBLOCK: .locked
      default: .inputOutput
      }
    }
  }

  extension OpenFile {
    fileprivate var descriptor: Int32 { Int32(truncatingIfNeeded: number) }
  }

  extension FileStatus {
    fileprivate init(_ status: stat) {
      self.init(
        size: Int(status.st_size),
        identity: FileIdentity(
          device: UInt64(truncatingIfNeeded: status.st_dev),
          number: UInt64(truncatingIfNeeded: status.st_ino)),
        isDirectory: status.st_mode & S_IFMT == S_IFDIR,
        isUnlinked: status.st_nlink == 0)
    }
  }
#endif

#if os(Windows)
  extension FileSystem {
    /// A disk that can do nothing yet: a journal on it is unavailable.
    static let unsupported = FileSystem(
      makeDirectory: { path throws(JournalError) in throw missing("make", path) },
      open: { path, _ throws(JournalError) in throw missing("open", path) },
      close: { _ in },
      read: { _, _, _ throws(JournalError) in throw missing("read") },
      write: { _, _, _ throws(JournalError) in throw missing("write") },
      sync: { _ throws(JournalError) in throw missing("sync") },
      truncate: { _, _ throws(JournalError) in throw missing("truncate") },
      status: { _ throws(JournalError) in throw missing("look at") },
      statusOfPath: { path throws(JournalError) in throw missing("look at", path) },
      rename: { path, _ throws(JournalError) in throw missing("rename", path) },
      remove: { path throws(JournalError) in throw missing("remove", path) },
      list: { path throws(JournalError) in throw missing("list", path) },
      lock: { _ throws(JournalError) in throw missing("lock") },
      unlock: { _ throws(JournalError) in throw missing("unlock") },
      syncDirectory: { path throws(JournalError) in throw missing("sync", path) })

    private static func missing(_ operation: String, _ path: String = "") -> JournalError {
      JournalError(.unsupported, operation: operation, file: path)
    }
  }
#endif

extension Duration {
  /// In nanoseconds, at most three centuries.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    return product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }
}
