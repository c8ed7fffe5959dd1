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
    let total = files.reduce(0) { $0 + $1.size }
    var done = 0
    for position in files.indices {
      let found = files[position]
      let scan = try FileScan(
        salt: found.salt, size: found.size,
        start: found.header == .damaged ? 0 : JournalFormat.headerSize,
        progress: { progress(done + $0, total) },
        read: { (offset, buffer) throws(JournalError) in
          try directory.fileSystem.read(found.file.file, offset, buffer)
        })
      done += found.size
      if scan.isNewer {
        newerVersion = Int(JournalFormat.version) + 1
        return
      }
      files[position].scan = scan
      if found.isZeros, scan.frames.isEmpty, scan.damages.isEmpty {
        // Zeros to the end: what a power cut leaves of a file that was just made.
        files[position].header = .unfinished
        leftovers.append(found.name)
      }
    }
    files.removeAll { $0.header == .unfinished }
    followRecords()
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

// MARK: - Following the records

extension Recovery {
  private mutating func followRecords() {
    var found: [RecoveredEntries.Item] = []
    let count = files.reduce(0) { $0 + ($1.scan?.frames.count ?? 0) }
    found.reserveCapacity(count)
    index.reserve(count)
    let cuts = cuts()
    for position in files.indices {
      follow(position, end: cuts[files[position].number] ?? .max, &found)
    }
    keepLive(&found)
    let sources = files.map { RecoveredEntries.Source($0.scan!, $0.names) }
    entries = RecoveredEntries(found, sources, deaths: index.deaths)
  }

  /// Leaves those that are still there, with what has happened to them, in order.
  private mutating func keepLive(_ found: inout [RecoveredEntries.Item]) {
    let numbers = files.map { UInt32(truncatingIfNeeded: $0.number) }
    var kept = 0
    var isSorted = true
    for position in found.indices {
      var candidate = found[position]
      let file = Int(candidate.file)
      guard let item = index.items[candidate.id], item.file == numbers[file],
        item.offset == files[file].scan!.frames[Int(candidate.frame)].offset
      else { continue }
      candidate.attempts = item.attempts
      candidate.unfinished = item.unfinished
      candidate.wasStarted = item.wasStarted
      if item.isMoved, let place = index.places[candidate.id] { candidate.place = place }
      if kept > 0, candidate.place < found[kept - 1].place { isSorted = false }
      found[kept] = candidate
      kept += 1
    }
    found.removeLast(found.count - kept)
    if !isSorted { found.sort { ($0.place, $0.id) < ($1.place, $1.id) } }
  }

  /// Where files end behind which a failed write could not be taken away, by their numbers.
  private func cuts() -> [UInt64: Int] {
    var cuts: [UInt64: Int] = [:]
    for scan in files.compactMap(\.scan) {
      for frame in scan.frames.prefix(1) where frame.type == .cut {
        guard
          case .cut(let cut) = scan.withBody(frame, { RecordReader.read(.cut, $0) { _, _ in } })
        else { continue }
        cuts[cut.number] = cut.offset
      }
    }
    return cuts
  }

  private mutating func follow(
    _ position: Int, end: Int, _ found: inout [RecoveredEntries.Item]
  ) {
    guard let scan = files[position].scan else { return }
    let number = files[position].number
    let frames = scan.frames
    var names: [String?] = []
    var nameless: [Int] = []
    var senseless = 0
    let define: (UInt32, String) -> Void = { number, text in
      while names.count <= number { names.append(nil) }
      if names[Int(number)] == nil { names[Int(number)] = text }
    }
    var frameIndex = 0
    while frameIndex < frames.count {
      // Pieces are taken in hand once for all the records in them.
      let piece = frames[frameIndex].piece
      scan.pieces[Int(piece)].withUnsafeBytes { bytes in
        while frameIndex < frames.count, frames[frameIndex].piece == piece {
          let frame = frames[frameIndex]
          defer { frameIndex += 1 }
          guard frame.offset < end else { continue }
          let body = UnsafeRawBufferPointer(rebasing: bytes[frame.body])
          guard frame.type == .entry else {
            if !apply(frame, number, body) { senseless += 1 }
            continue
          }
          guard let head = RecordReader.head(body, define: define),
            RecordReader.isSensible(head, body)
          else {
            senseless += 1
            continue
          }
          if !names.has(head) { nameless.append(frameIndex) }
          accept(head, frame, number, body)
          found.append(
            RecoveredEntries.Item(
              place: head.place, id: head.id, file: UInt32(position), frame: UInt32(frameIndex)))
        }
      }
    }
    for frameIndex in nameless {
      let frame = frames[frameIndex]
      // The name may have come later; if not, all records that had it are lost.
      guard let head = scan.withBody(frame, { RecordReader.head($0) { _, _ in } }),
        !names.has(head)
      else { continue }
      senseless += 1
      guard let item = index.items[head.id], item.offset == frame.offset,
        item.file == UInt32(truncatingIfNeeded: number)
      else { continue }
      index.apply(.acknowledged(head.id))
    }
    files[position].names = names
    files[position].senseless += senseless
  }

  @inline(__always)
  private mutating func accept(
    _ head: EntryHead, _ frame: FileScan.Frame, _ number: UInt64, _ body: UnsafeRawBufferPointer
  ) {
    var state = EntryState()
    if !head.flags.isDisjoint(with: .stateful) { state = RecordReader.state(head, body) }
    index.accept(
      head.id, run: head.place.run, replaces: head.replaces, state, file: number,
      offset: frame.offset, size: frame.size)
  }

  /// - Returns: whether it makes sense.
  private mutating func apply(
    _ frame: FileScan.Frame, _ number: UInt64, _ body: UnsafeRawBufferPointer
  ) -> Bool {
    guard frame.type.isKnown else {
      unknown.append(
        UnknownRecord(file: number, offset: frame.offset, size: frame.size, type: frame.type))
      return true
    }
    switch RecordReader.read(frame.type, body, define: { _, _ in }) {
    case .other(let record): index.apply(record)
    case .adopted(let mark): index.inboxes[mark.salt] = mark.offset
    case .entry, .cut: break
    case nil: return false
    }
    return true
  }
}

extension [String?] {
  /// Whether the names of an entry are known.
  @inline(__always)
  fileprivate func has(_ head: EntryHead) -> Bool {
    Int(head.name) < count && Int(head.group) < count && self[Int(head.name)] != nil
      && self[Int(head.group)] != nil
  }
}
