// SPDX-License-Identifier: MIT

/// A crash-safe log of entries in a directory, with one owner at a time.
///
///     let opening = Journal.open("/var/lib/app/outbox")
///     guard let journal = opening.journal else { return report(opening.outcome) }
///     for entry in opening.recovered { … }
///     let id = journal.makeIdentifier()
///     journal.append(.accepted(JournalEntry(id: id, …)))
///     journal.append(.acknowledged(id))
///
/// All calls may come from any thread. Appends are written in one order, which is that of the
/// calls. No lock is held while the disk works: one thread at a time has the right to write and
/// takes what others want written with it; they wait for a limited time, then their appends go
/// behind.
package final class Journal: Sendable {
  private let storage: JournalStorage

  private init(_ storage: JournalStorage) {
    self.storage = storage
  }

  /// Opens the journal in a directory, which is made if it is not there, and reads what it holds.
  ///
  /// Blocks for as long as the disk takes: one pass over the files. What is torn at the end is cut
  /// off, leftovers are swept, damaged files are put aside.
  ///
  /// - Returns: what was found, and a journal where there is one.
  package static func open(
    _ directory: String, fileSystem: FileSystem = .disk, options: JournalOptions = JournalOptions()
  ) -> JournalOpening {
    let opening = JournalWriter.open(JournalDirectory(directory, fileSystem), options)
    guard case .opened(let writer, let recovery) = opening else {
      return JournalOpening(outcome: opening.outcome, journal: nil, recovered: RecoveredEntries())
    }
    let events = writer.events
    writer.events = []
    let journal = Journal(JournalStorage(writer, options))
    for event in events { options.onEvent(event) }
    return JournalOpening(outcome: opening.outcome, journal: journal, recovered: recovery.entries)
  }
}

// MARK: - Writing

extension Journal {
  /// Writes a record by one system call.
  ///
  /// - Parameter limit: how long to wait for other threads' writes; nil is the option's limit.
  ///   While a write is stalled nobody waits.
  /// - Returns: whether it is in the kernel, handed over, or failed.
  @discardableResult
  package func append(_ record: JournalRecord, waitingAtMost limit: Duration? = nil)
    -> JournalWrite
  {
    storage.append(record, limit)
  }

  /// Writes records in order, by one system call.
  ///
  /// A death in the middle leaves the first of them, whole.
  @discardableResult
  package func append(_ records: [JournalRecord], waitingAtMost limit: Duration? = nil)
    -> JournalWrite
  {
    storage.append(records, limit)
  }

  /// Hands records over and returns without touching the disk; they are written in their place.
  ///
  /// - Returns: a ticket that tells when; failed at once as `.behind` if too much waits already.
  @discardableResult
  package func post(_ records: [JournalRecord]) -> JournalTicket { storage.post(records) }

  /// Calls back when everything appended or posted before is on the medium: it survives power loss.
  ///
  /// Many waiters share one call to the disk. The callback comes on any thread, never before this
  /// returns, never under a lock.
  package func sync(_ body: @escaping @Sendable (JournalError?) -> Void) { storage.sync(body) }

  /// Waits until everything appended or posted before is on the medium.
  package func sync() async throws(JournalError) {
    let error = await withCheckedContinuation { continuation in
      sync { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  /// A number that no entry of this journal has had. Costs one atomic addition.
  package func makeIdentifier() -> UInt64 { storage.makeIdentifier() }

  /// The number of this run: above that of all runs that wrote something.
  package var run: UInt64 { storage.run }

  /// Whether a write is stalled at the moment and appends go behind.
  package var isStalled: Bool { storage.isStalled }

  /// Sizes and counts, as of the last write that ended.
  package var statistics: JournalStatistics { storage.statistics }
}

// MARK: - Upkeep

extension Journal {
  /// Writes the files anew without what is dead. Blocks; appends go on meanwhile.
  package func compact() throws(JournalError) { try storage.compact() }

  /// Ends the entries and writes all files anew, so that nothing of them is left in this
  /// directory: quarantined files, which may hold them, are removed as well.
  package func compact(erasing ids: [UInt64]) throws(JournalError) {
    try storage.compact(erasing: ids)
  }

  /// Writes out and syncs what waits, then gives up the lock, all before it returns. Appends fail
  /// as `.suspended` until ``resume()``.
  ///
  /// - Throws: what could not be synced; the lock is given up all the same.
  package func suspend() throws(JournalError) { try storage.suspend() }

  /// Takes the lock again and reads what others have done meanwhile.
  ///
  /// If nothing has changed, nothing is written. If the outcome is `newer` or `unavailable`, the
  /// journal stays suspended and this may be called again. A journal that is not suspended has
  /// nothing to add.
  package func resume() -> JournalResumption { storage.resume() }

  /// Takes over what other processes have left in their inboxes, each entry once, under new ids
  /// and new places at the end of this run's order.
  ///
  /// An inbox whose process is writing at this moment is left for the next time.
  ///
  /// - Parameter makePlace: gives each entry its place in the order of acceptance.
  /// - Returns: the entries, in each inbox's order, and what had to be left.
  /// - Throws: if the directory cannot be read.
  package func adoptInboxes(makePlace: @escaping @Sendable () -> JournalPlace)
    throws(JournalError) -> JournalAdoption
  {
    try storage.adoptInboxes(makePlace)
  }

  /// Makes the journal that of one installation of the app: what another installation has left, in
  /// a copy of the directory that came from a backup or another device, is ended.
  ///
  /// To be called when the journal has just been opened. Costs a look at one small file; the first
  /// time, and after another installation, it is written.
  ///
  /// - Parameter installation: whose it is; compared byte by byte.
  /// - Returns: how many entries were another installation's; nil where there was none.
  package func claim(for installation: String) throws(JournalError) -> Int? {
    try storage.claim(for: installation)
  }

  /// Looks whether the files are still where they were, and writes them again if not.
  package func checkPlace() throws(JournalError) { try storage.checkPlace() }

  /// Writes out what waits and gives up the directory. Later calls fail as `.closed`.
  package func close() { storage.close() }

  /// Closes the journal and removes its files, inboxes and quarantine included.
  package func erase() throws(JournalError) { try storage.erase() }
}

/// Sizes and counts of a journal.
package struct JournalStatistics: Hashable, Sendable {
  /// Entries that wait or run.
  package var live = 0
  /// Dead letters.
  package var dead = 0
  /// Bytes of all files.
  package var bytes = 0
  /// Bytes that a compaction would keep.
  package var liveBytes = 0
  /// How many files hold records.
  package var files = 0
}
