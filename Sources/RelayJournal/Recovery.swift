// SPDX-License-Identifier: MIT

/// Reads a journal's directory. Looking changes nothing; putting it in order comes after.
struct Recovery {
  /// A file as it was found.
  struct Found {
    var number: UInt64
    var salt: UInt32
    var name: String
    var size: Int
    var header: FileHeader.Reading
    var file: RecordsFile
    var scan: FileScan?
    var names: [String?] = []
    /// Whether there are zeros in the header's place.
    var isZeros = false
    /// Records whose checksum was right and whose content makes no sense.
    var senseless = 0

    /// Whether something in it cannot be read.
    var isDamaged: Bool {
      header == .damaged || senseless > 0 || scan.map { !$0.damages.isEmpty } ?? false
    }

    var lost: Int { (scan?.lost ?? 0) + senseless }
  }

  private(set) var files: [Found] = []
  /// Files whose records a base has taken over.
  private(set) var superseded: [String] = []
  /// Files that a dead process did not finish, and files without a record.
  private(set) var leftovers: [String] = []
  private(set) var inboxes: [String] = []
  private(set) var index = JournalIndex()
  private(set) var unknown: [UnknownRecord] = []
  private(set) var entries = RecoveredEntries()
  private(set) var newerVersion: Int?
  private(set) var nextNumber: UInt64 = 1

  var lost: Int { files.reduce(0) { $0 + $1.lost } }
  var isDamaged: Bool { files.contains(where: \.isDamaged) }

  /// Reads everything.
  ///
  /// - Parameters:
  ///   - mode: how files are opened: for reading where nothing may be changed.
  ///   - progress: called with bytes read and bytes of all files.
  init(
    _ directory: JournalDirectory, mode: OpenMode, progress: (Int, Int) -> Void = { _, _ in }
  ) throws(JournalError) {
    try lookAround(directory, mode)
    guard newerVersion == nil else { return }
    let around = self
    var way = Way()
    // What files say about earlier ones, and that they are not in order, is known when all of them
    // have been read: then they are read again. Both are rare.
    for _ in 0..<3 {
      guard let better = try readRecords(directory, way, progress) else { break }
      self = around
      way = better
    }
  }

  /// How records are read.
  private struct Way {
    /// Where files end behind which a failed write could not be taken away, by their numbers.
    var cuts: [UInt64: Int] = [:]
    /// Whether records are put in order before they are followed.
    var collects = false
  }

  /// Reads all files and follows their records.
  ///
  /// - Returns: how it would have to be done instead; nil if all is well.
  private mutating func readRecords(
    _ directory: JournalDirectory, _ way: Way, _ progress: (Int, Int) -> Void
  ) throws(JournalError) -> Way? {
    let total = files.reduce(0) { $0 + $1.size }
    var done = 0
    var replay = RecordReplay(index, total: total)
    index = JournalIndex()
    for position in files.indices {
      let found = files[position]
      replay.begin(found.number, end: way.cuts[found.number] ?? .max)
      let scan = try Recovery.scan(
        found, directory.fileSystem, way, &replay, progress: { progress(done + $0, total) })
      done += found.size
      if scan.isNewer {
        newerVersion = Int(JournalFormat.version) + 1
        return nil
      }
      if !scan.isOrdered, !way.collects { return Way(collects: true) }
      let (names, senseless) = replay.finish(scan)
      files[position].scan = scan
      files[position].scan?.letGo()
      files[position].names = names
      files[position].senseless = senseless
      if found.isZeros, scan.count == 0, scan.damages.isEmpty {
        // Zeros to the end: what a power cut leaves of a file that was just made.
        files[position].header = .unfinished
        leftovers.append(found.name)
      }
    }
    files.removeAll { $0.header == .unfinished }
    let cuts = replay.cuts
    entries = replay.takeEntries()
    index = replay.index
    unknown = replay.unknown
    return cuts == way.cuts ? nil : Way(cuts: cuts, collects: way.collects)
  }

  private static func scan(
    _ found: Found, _ fileSystem: FileSystem, _ way: Way, _ replay: inout RecordReplay,
    progress: (Int) -> Void
  ) throws(JournalError) -> FileScan {
    let start = found.header == .damaged ? 0 : JournalFormat.headerSize
    let read = { (offset: Int, buffer: UnsafeMutableRawBufferPointer) throws(JournalError) in
      try fileSystem.read(found.file.file, offset, buffer)
    }
    guard way.collects else {
      return try FileScan(
        salt: found.salt, size: found.size, start: start, visitor: &replay, progress: progress,
        read: read)
    }
    let scan = try FileScan(
      salt: found.salt, size: found.size, start: start, progress: progress, read: read)
    for frame in scan.frames { scan.withBody(frame) { replay.visit(frame, $0) } }
    return scan
  }

  /// Opens the files, reads their headers, and tells what is to be read.
  private mutating func lookAround(_ directory: JournalDirectory, _ mode: OpenMode)
    throws(JournalError)
  {
    let names = try directory.list()
    for name in names {
      switch FileName(name) {
      case .records(let number, let salt):
        files.append(try Recovery.found(directory, name, number, salt, mode, isDamaged: false))
      case .damaged(let number, let salt):
        files.append(try Recovery.found(directory, name, number, salt, mode, isDamaged: true))
      case .new: leftovers.append(name)
      case .inbox: inboxes.append(name)
      case .lock, .quarantine, .other: break
      }
    }
    inboxes.sort()
    files.sort { ($0.number, $0.name) < ($1.number, $1.name) }
    nextNumber = (files.last?.number ?? 0) &+ 1
    var base: UInt64 = 0
    for found in files {
      switch found.header {
      case .newer(let version): newerVersion = max(newerVersion ?? 0, version)
      case .header(let header):
        index.note(header: header)
        if header.kind == .base { base = max(base, found.number) }
      case .unfinished: leftovers.append(found.name)
      case .damaged: break
      }
    }
    superseded = files.filter { $0.number < base }.map(\.name)
    files.removeAll { $0.number < base || $0.header == .unfinished }
  }

  private static func found(
    _ directory: JournalDirectory, _ name: String, _ number: UInt64, _ salt: UInt32,
    _ mode: OpenMode, isDamaged: Bool
  ) throws(JournalError) -> Found {
    let fileSystem = directory.fileSystem
    let file = RecordsFile(
      number: number, salt: salt, file: try directory.open(name, mode), isDamaged: isDamaged,
      fileSystem: fileSystem)
    let size = try fileSystem.status(file.file).size
    let first = try file.read(at: 0, min(size, JournalFormat.headerSize))
    let header = first.withUnsafeBytes { FileHeader.read($0) }
    var found = Found(
      number: number, salt: salt, name: name, size: size, header: header, file: file)
    if case .header(let header) = header { found.salt = header.salt }
    if header == .unfinished, size > JournalFormat.headerSize {
      // Zeros where the header should be: the scan tells whether there is anything behind them.
      found.header = .damaged
      found.isZeros = true
    }
    return found
  }
}
