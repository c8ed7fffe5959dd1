// SPDX-License-Identifier: MIT

/// What is in a journal's directory, looked at without changing anything and without its lock: also
/// while another process uses it.
package struct JournalInspection: Sendable {
  /// A file of the directory.
  package struct File: Sendable {
    package enum Kind: String, Sendable {
      case records, base, inbox, quarantined
      /// Its header was never finished: there is nothing in it.
      case unfinished
      /// A leftover of a process that died while it wrote files anew.
      case leftover
      /// A base has taken over what is in it.
      case superseded
    }

    package var name: String
    package var kind: Kind
    package var bytes: Int
    /// How many whole records it has.
    package var records = 0
    package var damages: [Damage] = []
    /// Bytes at the end that an interrupted append left, or one that is going on at this moment.
    package var tornBytes = 0
  }

  /// A place that could not be read.
  package struct Damage: Hashable, Sendable {
    /// Offsets in the file.
    package var range: Range<Int>
    /// How many records are missing there, at least; 0 is a damaged header.
    package var lost: Int
    /// What it is, if it is not a gap between records.
    package var detail: String
  }

  /// An entry in another process' inbox.
  package struct InboxEntry: Sendable {
    package var inbox: String
    package var entry: JournalEntry
  }

  package private(set) var files: [File] = []
  /// In the order of acceptance, dead letters included.
  package private(set) var recovered = RecoveredEntries()
  package private(set) var inboxEntries: [InboxEntry] = []
  /// The process that owned it last, if it is known, and whether there still is such a process.
  package private(set) var owner: (process: Int32, isRunning: Bool)?
  /// Bytes of the records of all entries.
  package private(set) var liveBytes = 0

  package var isDamaged: Bool { files.contains { !$0.damages.isEmpty && $0.kind != .quarantined } }
  package var bytes: Int { files.reduce(0) { $0 + $1.bytes } }

  /// Looks at a directory. If its owner writes files anew at the same moment, it looks again.
  ///
  /// - Parameter progress: called with the bytes read so far and those of all files.
  /// - Throws: `.notFound`, `.wrongKind`, `.notAJournal`, `.newer`, or what the disk says.
  package init(
    _ directory: String, fileSystem: FileSystem = .disk,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(JournalError) {
    let directory = JournalDirectory(directory, fileSystem)
    var attempts = 0
    while true {
      do throws(JournalError) {
        try self.init(looking: directory, progress)
        return
      } catch {
        attempts += 1
        guard error.code == .notFound, attempts < 20,
          try fileSystem.statusOfPath(directory.path) != nil
        else { throw error }
      }
    }
  }

  private init(looking directory: JournalDirectory, _ progress: (Int, Int) -> Void)
    throws(JournalError)
  {
    guard let status = try directory.fileSystem.statusOfPath(directory.path) else {
      throw JournalError(.notFound, operation: "inspect", file: directory.path)
    }
    guard status.isDirectory else {
      throw JournalError(.wrongKind, operation: "inspect", file: directory.path)
    }
    let recovery = try Recovery(directory, mode: .reading, progress: progress)
    if let version = recovery.newerVersion {
      throw JournalError(.newer, operation: "read version \(version) of", file: directory.path)
    }
    let names = try directory.list()
    guard names.contains(where: { FileName($0) != .other && FileName($0) != .quarantine }) else {
      throw JournalError(.notAJournal, operation: "inspect", file: directory.path)
    }
    recovered = recovery.entries
    liveBytes = recovery.index.liveBytes
    for found in recovery.files { files.append(File(found)) }
    for name in recovery.superseded { try add(directory, name, .superseded) }
    for name in recovery.leftovers {
      try add(directory, name, FileName(name) == .new ? .leftover : .unfinished)
    }
    for name in recovery.inboxes { try addInbox(directory, name, recovery.index) }
    try addQuarantine(directory)
    if let process = OwnerLock.process(directory) {
      owner = (process, Platform.isRunning(process))
    }
  }

  private mutating func add(_ directory: JournalDirectory, _ name: String, _ kind: File.Kind)
    throws(JournalError)
  {
    guard let status = try directory.fileSystem.statusOfPath(directory[name]) else { return }
    files.append(File(name: name, kind: kind, bytes: status.size))
  }

  private mutating func addInbox(
    _ directory: JournalDirectory, _ name: String, _ index: JournalIndex
  ) throws(JournalError) {
    guard case .inbox(let salt) = FileName(name) else { return }
    let file = RecordsFile(
      number: 0, salt: salt, file: try directory.open(name, .reading),
      fileSystem: directory.fileSystem)
    let size = try directory.fileSystem.status(file.file).size
    let contents = try InboxContents(file, name, directory.fileSystem)
    var inbox = File(name: name, kind: .inbox, bytes: size, records: contents.entries.count)
    inbox.tornBytes = size - max(contents.end, min(size, JournalFormat.headerSize))
    if contents.isDamaged {
      inbox.tornBytes = 0
      inbox.damages = [
        Damage(range: 0..<size, lost: contents.lost, detail: "part of it cannot be read")
      ]
    }
    files.append(inbox)
    let mark = index.inboxes[salt] ?? 0
    for (offset, entry) in contents.entries where offset >= mark {
      inboxEntries.append(InboxEntry(inbox: name, entry: entry))
    }
  }

  private mutating func addQuarantine(_ directory: JournalDirectory) throws(JournalError) {
    let path = directory[JournalFormat.quarantineName]
    guard try directory.fileSystem.statusOfPath(path)?.isDirectory == true else { return }
    for name in try directory.fileSystem.list(path).sorted() {
      try add(directory, JournalFormat.quarantineName + "/" + name, .quarantined)
    }
  }
}

extension JournalInspection.File {
  fileprivate init(_ found: Recovery.Found) {
    var kind = Kind.records
    if case .header(let header) = found.header, header.kind == .base { kind = .base }
    self.init(name: found.name, kind: kind, bytes: found.size)
    guard let scan = found.scan else { return }
    records = scan.count
    if found.header == .damaged {
      damages.append(.init(range: 0..<min(found.size, 64), lost: 0, detail: "the file's header"))
    }
    for damage in scan.damages where damage.range.lowerBound > 0 || damage.lost > 0 {
      damages.append(.init(range: damage.range, lost: damage.lost, detail: ""))
    }
    if found.senseless > 0 {
      damages.append(
        .init(range: 0..<found.size, lost: found.senseless, detail: "records that make no sense"))
    }
    if damages.isEmpty { tornBytes = found.size - scan.end }
  }
}
