// SPDX-License-Identifier: MIT

/// The files of an open journal and what is in them.
///
/// Only the thread that has the right to write touches it; ``JournalStorage`` gives that right to
/// one at a time. So nothing is gained by checking at run time that accesses do not overlap, which
/// costs ten checks for each append; the thread sanitizer over the concurrency tests would notice.
final class JournalWriter {
  /// The file that appends go to.
  final class Active {
    let file: RecordsFile
    @exclusivity(unchecked) var writer: RecordWriter
    /// Where the next record goes.
    @exclusivity(unchecked) var end: Int
    /// Whether it is among the files to be synced.
    @exclusivity(unchecked) var isDirty = false

    init(file: RecordsFile, writer: consuming RecordWriter, end: Int) {
      self.file = file
      self.writer = writer
      self.end = end
    }
  }

  enum Phase {
    case open, suspended, closed
  }

  let directory: JournalDirectory
  let options: JournalOptions
  @exclusivity(unchecked) var phase = Phase.open
  var lock: OwnerLock?
  @exclusivity(unchecked) var index: JournalIndex
  /// The files before the active one, in the order of their numbers.
  var older: [OlderFile]
  @exclusivity(unchecked) var active: Active?
  /// Bytes of the files before the active one.
  @exclusivity(unchecked) private(set) var olderBytes: Int
  /// Where records of later versions lie.
  var unknown: [UnknownRecord]
  var nextNumber: UInt64
  /// Files that have not been synced since they were written.
  var dirty: [RecordsFile] = []
  var isDirectoryDirty = true
  /// After a failed sync the system may have forgotten which bytes are not on the medium: what is
  /// there has to be written anew.
  var mustRewrite = false
  /// Where the file before ends, if a failed write behind its end could not be taken away.
  private var cut: FileCut?
  /// The files as they were when the lock was given up.
  var fingerprint: Fingerprint?
  /// To be told when the right to write is given back.
  @exclusivity(unchecked) var events: [JournalEvent] = []
  /// Bytes below which nothing is worth compacting.
  @exclusivity(unchecked) private var compactionFloor: Int
  private let placeCheckInterval: Int64
  @exclusivity(unchecked) private var lastPlaceCheck = Platform.coarseNanoseconds()

  init(
    directory: JournalDirectory, options: JournalOptions, lock: OwnerLock, index: JournalIndex,
    older: [OlderFile], active: Active?, unknown: [UnknownRecord], nextNumber: UInt64
  ) {
    self.directory = directory
    self.options = options
    compactionFloor = options.compactionFloor
    placeCheckInterval = options.placeCheckInterval.nanoseconds
    self.lock = lock
    self.index = index
    self.older = older
    olderBytes = older.reduce(0) { $0 + $1.size }
    self.active = active
    self.unknown = unknown
    self.nextNumber = nextNumber
  }

  /// Bytes of all files.
  var bytes: Int { olderBytes + (active?.end ?? 0) }

  var statistics: JournalStatistics {
    JournalStatistics(
      live: index.liveCount, dead: index.deaths.count, bytes: bytes, liveBytes: index.liveBytes,
      files: older.count + (active == nil ? 0 : 1))
  }

  /// Whether enough is dead for the files to be written anew.
  var isWorthCompacting: Bool {
    guard options.compactsByItself, phase == .open, bytes > compactionFloor else {
      return false
    }
    return Double(bytes - index.liveBytes) > options.deadShare * Double(bytes)
  }
}

/// What has been written since the last sync.
struct DirtyFiles: Sendable {
  var files: [RecordsFile]
  var directory: Bool
}

/// A file that is not appended to any more.
struct OlderFile: Sendable {
  var file: RecordsFile
  /// Bytes.
  var size: Int
  /// What its numbers for names stand for.
  var names: [String?]
}

/// A record that only a later version knows.
struct UnknownRecord: Sendable {
  var file: UInt64
  var offset: Int
  var size: Int
  var type: RecordType
}

extension JournalWriter {
  /// A compaction failed: the next one is due when there is twice as much.
  func postponeCompaction() { compactionFloor = max(bytes, 1) * 2 }

  /// A compaction succeeded.
  func resetCompactionFloor() { compactionFloor = options.compactionFloor }
}

// MARK: - Appending

extension JournalWriter {
  /// Why records cannot be taken, before anything is tried.
  func refusal(_ records: some Sequence<JournalRecord>) -> JournalError? {
    switch phase {
    case .closed: return JournalError(.closed, operation: "append")
    case .suspended: return JournalError(.suspended, operation: "append")
    case .open: break
    }
    var size = 0
    for record in records {
      guard case .accepted(let entry) = record else {
        if case .acceptedAndStarted(let entry) = record {
          guard entry.payload.count <= options.payloadLimit else {
            return JournalError(.tooLarge, operation: "append")
          }
          size += entry.payload.count
        }
        continue
      }
      guard entry.payload.count <= options.payloadLimit else {
        return JournalError(.tooLarge, operation: "append")
      }
      size += entry.payload.count + 64
    }
    if size > 0, bytes + size > options.sizeLimit {
      return JournalError(.full, operation: "append")
    }
    return nil
  }

  /// Writes records, all or none, by one call.
  func append(_ records: some Collection<JournalRecord>) throws(JournalError) {
    try beforeWriting()
    let (end, sequence) = (active!.end, active!.writer.sequence)
    for record in records { active!.writer.write(record, at: end) }
    try flush(end, sequence)
    var position = 0
    for record in records {
      let size = apply(record, position)
      position += size
    }
    finish(position)
  }

  /// Writes one record.
  func append(_ record: JournalRecord) throws(JournalError) {
    try beforeWriting()
    let (end, sequence) = (active!.end, active!.writer.sequence)
    active!.writer.write(record, at: end)
    try flush(end, sequence)
    finish(apply(record, 0))
  }

  /// Writes what was put into the active file's buffer, or leaves everything as it was.
  func flush(_ end: Int, _ sequence: UInt32) throws(JournalError) {
    do throws(JournalError) {
      try directory.write(active!.writer.buffer.bytes, to: active!.file.file, at: end)
    } catch {
      active!.writer.rollBack(to: sequence)
      cutBack(to: end)
      let error = JournalError(
        error.code, operation: error.operation, file: active?.file.name ?? error.file,
        errno: error.errno)
      events.append(.failed(error))
      throw error
    }
  }

  /// Counts what was written, once the index knows it.
  func finish(_ count: Int) {
    active!.end += count
    active!.writer.removeAll()
    if !active!.isDirty {
      active!.isDirty = true
      dirty.append(active!.file)
    }
  }

  private func apply(_ record: JournalRecord, _ position: Int) -> Int {
    let size =
      Int(
        UInt32(
          littleEndian: active!.writer.buffer.bytes.loadUnaligned(
            fromByteOffset: position, as: UInt32.self))) + JournalFormat.recordHeaderSize
    switch record {
    case .accepted(let entry):
      guard entry.replaces == nil else {
        accept(entry, EntryState(), position, size)
        break
      }
      index.accept(
        entry.id, run: entry.place.run, file: active!.file.number,
        offset: active!.end + position, size: size)
    case .acceptedAndStarted(let entry): accept(entry, .startedOnce, position, size)
    default: index.apply(record)
    }
    return size
  }

  func accept(_ entry: JournalEntry, _ state: EntryState, _ position: Int, _ size: Int) {
    index.accept(
      entry.id, run: entry.place.run, replaces: entry.replaces, state, file: active!.file.number,
      offset: active!.end + position, size: size)
  }

  /// Takes away what a failed write may have left. If that fails too, the next append begins a new
  /// file: nothing is ever written behind garbage.
  private func cutBack(to end: Int) {
    do throws(JournalError) {
      try directory.fileSystem.truncate(active!.file.file, end)
    } catch {
      cut = FileCut(number: active!.file.number, offset: end)
      retire()
      events.append(.rolled)
    }
  }

  func beforeWriting() throws(JournalError) {
    let now = Platform.coarseNanoseconds()
    if now &- lastPlaceCheck >= placeCheckInterval {
      lastPlaceCheck = now
      try checkPlace()
    }
    if active == nil || active!.writer.sequence > UInt32.max / 2 { try roll() }
  }
}

// MARK: - Files

extension JournalWriter {
  /// The active file becomes one of the older ones.
  func retire() {
    guard let active else { return }
    self.active = nil
    replaceOlder(
      older + [OlderFile(file: active.file, size: active.end, names: active.writer.names.texts)])
  }

  func replaceOlder(_ files: [OlderFile]) {
    older = files
    olderBytes = files.reduce(0) { $0 + $1.size }
  }

  /// Begins a new file for appends.
  func roll() throws(JournalError) {
    isDirectoryDirty = true
    let next = try JournalWriter.makeFile(
      .records, number: nextNumber, directory, index, cut: cut)
    cut = nil
    retire()
    active = next
    nextNumber += 1
  }

  /// Makes a file with its header; nothing of it is left if that fails.
  static func makeFile(
    _ kind: FileHeader.Kind, number: UInt64, _ directory: JournalDirectory,
    _ index: JournalIndex, cut: FileCut? = nil
  ) throws(JournalError) -> Active {
    let salt = UInt32.random(in: 0...UInt32.max)
    let name = kind == .base ? FileName.new(number, salt) : FileName.records(number, salt)
    let file = RecordsFile(
      number: number, salt: salt, file: try directory.open(name, .replacing),
      fileSystem: directory.fileSystem)
    var writer = RecordWriter(salt: salt)
    writer.write(
      FileHeader(
        salt: salt, number: number, kind: kind, nextIdentifier: index.nextIdentifier,
        run: index.highestRun, madeAt: Platform.wallMilliseconds()))
    if let cut { writer.write(cut: cut) }
    let end = writer.buffer.count
    do throws(JournalError) {
      try directory.write(writer.buffer.bytes, to: file.file, at: 0)
    } catch {
      directory.sweep(name)
      throw error
    }
    writer.removeAll()
    return Active(file: file, writer: writer, end: end)
  }

  /// The files to sync for everything that has been written so far.
  func takeDirty() -> DirtyFiles {
    defer {
      dirty = []
      isDirectoryDirty = false
      active?.isDirty = false
    }
    return DirtyFiles(files: dirty, directory: isDirectoryDirty)
  }

  /// Looks whether the files are where they were, and writes them again if they are not.
  func checkPlace() throws(JournalError) {
    guard phase == .open, let lock, let name = active?.file.name, let file = active?.file.file
    else { return }
    let there = try directory.fileSystem.statusOfPath(directory[name])
    if try there?.identity == directory.fileSystem.status(file).identity { return }
    try recreate(lock)
  }

  private func recreate(_ lock: OwnerLock) throws(JournalError) {
    try directory.fileSystem.makeDirectory(directory.path)
    if try !lock.isInPlace(directory) {
      guard case .taken(let new) = try OwnerLock.take(directory) else {
        throw JournalError(.locked, operation: "lock", file: JournalFormat.lockName)
      }
      self.lock = new
    }
    // The open files still have everything, whatever became of their names.
    var compaction = try Compaction(of: self)
    try compaction.writeBase()
    for name in compaction.finish(self) { directory.sweep(name) }
    events.append(.recreated)
  }

  /// Lets go of the files and the directory.
  func close() {
    if phase != .closed { lock?.unsign() }
    phase = .closed
    letGo()
  }

  func letGo() {
    active = nil
    replaceOlder([])
    dirty = []
    lock = nil
  }
}

// MARK: - Inboxes

extension JournalWriter {
  /// Writes entries of an inbox and how far it was taken over, all or nothing, by one call.
  func adopt(_ entries: [(entry: JournalEntry, origin: EntryOrigin)], _ mark: InboxMark)
    throws(JournalError)
  {
    try beforeWriting()
    let (end, sequence) = (active!.end, active!.writer.sequence)
    var offsets: [Int] = []
    for (entry, origin) in entries {
      offsets.append(active!.writer.buffer.count)
      active!.writer.write(entry, EntryState(origin: origin), at: end)
    }
    let markOffset = active!.writer.buffer.count
    active!.writer.write(adopted: mark)
    try flush(end, sequence)
    for (position, (entry, origin)) in entries.enumerated() {
      let next = position + 1 < offsets.count ? offsets[position + 1] : markOffset
      accept(entry, EntryState(origin: origin), offsets[position], next - offsets[position])
    }
    index.inboxes[mark.salt] = mark.offset
    finish(active!.writer.buffer.count)
  }
}
