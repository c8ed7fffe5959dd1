// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayJournal
import Testing

#if os(Linux) || os(macOS)

  /// Real processes, really killed, on the real disk.
  @Suite(.timeLimit(.minutes(20)))
  struct ProcessTests {
    /// A new directory; whoever asks for it removes it.
    private func directory() throws -> String {
      let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("journal-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      return url.path
    }

    private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// What is done to the journal before the process is killed.
    private static let steps: [JournalStep] = [
      .append([.accepted(JournalFixture.entry(1, "one"))]),
      .append([.acceptedAndStarted(JournalFixture.entry(2, "two")), .acknowledged(1)]),
      .sync,
      .append([.accepted(JournalFixture.entry(3, "three"))]),
      .compact,
      .append([.acknowledged(2), .accepted(JournalFixture.entry(4, "four"))]),
      .suspendAndResume,
      .append([.acknowledged(3)]),
      .reopen,
      .append([.started(4, attempt: 1)]),
      .compact,
      .append([.accepted(JournalFixture.entry(5, "five"))]),
    ]

    /// Does the steps, saying in a file how many are done, and is killed at an operation; a write
    /// is killed after some of its bytes.
    static func runUntilKilled(at number: Int, in path: String) async {
      let faulty = FaultyFiles(over: .disk)
      faulty.setRule { operation in
        guard operation.number >= number else { return nil }
        if operation.kind == .write, operation.number == number {
          return .short(bytes: number % 40)
        }
        kill(getpid(), SIGKILL)
        return nil
      }
      await run(faulty, in: path)
    }

    private static func run(_ faulty: FaultyFiles, in path: String) async {
      let progress = open(path + "/progress", O_WRONLY | O_CREAT, 0o600)
      var options = JournalOptions()
      options.compactsByItself = false
      options.placeCheckInterval = .seconds(3_600)
      var session = Journal.open(path + "/j", fileSystem: faulty.fileSystem, options: options)
        .journal
      for step in steps {
        switch step {
        case .append(let records): session?.append(records)
        case .compact: try? session?.compact()
        case .sync: try? await session?.sync()
        case .suspendAndResume:
          try? session?.suspend()
          _ = session?.resume()
        default:
          session?.close()
          session =
            Journal.open(path + "/j", fileSystem: faulty.fileSystem, options: options).journal
        }
        write(progress, "x", 1)
      }
      session?.close()
    }

    @Test func killedAtEveryOperationARestartFindsWhatWasWritten() async throws {
      // How many operations there are when nobody kills.
      let whole = try directory()
      defer { remove(whole) }
      let counting = FaultyFiles(over: .disk)
      await ProcessTests.run(counting, in: whole)
      let total = counting.count
      #expect(total > 70)
      // Under sanitizers processes take long: some of the operations.
      let stride = total / raceRounds(total, atLeast: 20)
      for number in Swift.stride(from: 1, through: total, by: max(1, stride)) {
        let path = try directory()
        defer { remove(path) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [number = number as Int, path = path as String] in
          await ProcessTests.runUntilKilled(at: number, in: path)
        }
        let done = (try? Data(contentsOf: URL(fileURLWithPath: path + "/progress")))?.count ?? 0
        let opening = Journal.open(path + "/j")
        let states = JournalScript.states(of: ProcessTests.steps, done: done)
        #expect(
          states.contains { $0.inOrder == opening.entries },
          "killed at \(number), \(done) steps done: \(opening.entries.map(\.text))")
        let journal = try #require(opening.journal, "nothing stale: \(opening.outcome)")
        let names = try FileSystem.disk.list(path + "/j")
        #expect(names.filter { $0.hasSuffix(".new") || $0 == "quarantine" }.isEmpty)
        journal.close()
      }
    }

    @Test func fiftyWrittenOnesAreThereInOrderAfterAKill() async throws {
      let path = try directory()
      defer { remove(path) }
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        guard let journal = Journal.open(path).journal else { exit(1) }
        for id in 1...50 as ClosedRange<UInt64> {
          guard journal.append(.accepted(JournalFixture.entry(id, "\(id)"))).isWritten else {
            exit(1)
          }
        }
        kill(getpid(), SIGKILL)
      }
      #expect(Journal.open(path).entries.map(\.text) == (1...50).map { "\($0)" })
    }

    @Test func ofThoseThatNobodyWaitedForAPrefixIsThere() async throws {
      for round in 0..<raceRounds(10, atLeast: 3) {
        let path = try directory()
        defer { remove(path) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = path as String, round = round as Int] in
          guard let journal = Journal.open(path).journal else { exit(1) }
          for id in 1...50 as ClosedRange<UInt64> {
            journal.post([.accepted(JournalFixture.entry(id, "\(id)"))])
            if id % 10 == 0 { spin(round * 2_000) }
          }
          kill(getpid(), SIGKILL)
        }
        let texts = Journal.open(path).entries.map(\.text)
        #expect(texts == (1...50).prefix(texts.count).map { "\($0)" })
      }
    }

    @Test func aSecondProcessIsToldWhoOwnsItAndLeavesAnInbox() async throws {
      let path = try directory()
      defer { remove(path) }
      let journal = try #require(Journal.open(path).journal)
      journal.append(.accepted(JournalFixture.entry(journal.makeIdentifier(), "mine")))
      let owner = getpid()
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, owner = owner as Int32] in
        guard case .unavailable(.locked(let process)) = Journal.open(path).outcome,
          process == owner
        else { exit(1) }
        let inbox = JournalInbox(path)
        for id in 1...5 as ClosedRange<UInt64> {
          do { try inbox.append(JournalFixture.entry(id, "theirs \(id)")) } catch { exit(2) }
        }
        kill(getpid(), SIGKILL)
      }
      journal.append(.accepted(JournalFixture.entry(journal.makeIdentifier(), "mine too")))
      let sequence = Tally()
      let adoption = try journal.adoptInboxes {
        JournalPlace(run: 2, sequence: UInt64(sequence.add()))
      }
      #expect(adoption.entries.map(\.text) == (1...5).map { "theirs \($0)" })
      journal.close()
      #expect(
        Journal.open(path).entries.map(\.text)
          == ["mine", "mine too"] + (1...5).map { "theirs \($0)" })
    }

    /// What a process that is being started has for a moment: all open files of its parent.
    @Test func aCopyOfTheFileThatAStartingProcessHasDoesNotKeepTheLock() throws {
      try withTemporaryDirectory { path in
        let journal = try #require(Journal.open(path).journal)
        var lock = stat()
        try #require(stat(path + "/owner.lock", &lock) == 0)
        let copies = (0..<1_024 as Range<Int32>).compactMap { descriptor -> Int32? in
          var status = stat()
          guard fstat(descriptor, &status) == 0, status.st_ino == lock.st_ino,
            status.st_dev == lock.st_dev
          else { return nil }
          return dup(descriptor)
        }
        defer { for copy in copies { close(copy) } }
        try #require(!copies.isEmpty)
        try journal.suspend()
        #expect(journal.resume().outcome == .empty)
        journal.close()
        let again = Journal.open(path)
        #expect(again.journal != nil, "\(again.outcome)")
        again.journal?.close()
      }
    }

    @Test func aSuspendedOwnerGivesItToAnotherProcess() async throws {
      let path = try directory()
      defer { remove(path) }
      let journal = try #require(Journal.open(path).journal)
      journal.append(.accepted(JournalFixture.entry(1, "mine")))
      try journal.suspend()
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let opening = Journal.open(path)
        guard let journal = opening.journal, opening.entries.map(\.text) == ["mine"] else {
          exit(1)
        }
        journal.append([.accepted(JournalFixture.entry(9, "theirs")), .acknowledged(1)])
        kill(getpid(), SIGKILL)
      }
      let resumption = journal.resume()
      #expect(resumption.added.map(\.text) == ["theirs"])
      #expect(resumption.removed == [1])
      #expect(journal.append(.acknowledged(9)).isWritten)
    }
  }

#endif

#if os(Linux)

  /// A real file system without space, where one may be made.
  struct FullDiskTests {
    @Test func aFullFileSystemRollsBackAndRecoversWhenThereIsSpaceAgain() throws {
      try withTemporaryDirectory { path in
        guard mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else {
          print("no file system may be made here (errno \(errno)): only the fake disk was full")
          return
        }
        defer { umount(path) }
        let journal = try #require(Journal.open(path + "/j").journal)
        let ballast = path + "/ballast"
        var written: [String] = []
        var refused = 0
        let payload = String(repeating: "p", count: 1_000)
        for id in 1...200 as ClosedRange<UInt64> {
          let write = journal.append(.accepted(JournalFixture.entry(id, "\(id) " + payload)))
          if write.isWritten {
            written.append("\(id) " + payload)
          } else {
            #expect(write.error?.code == .noSpace)
            refused += 1
          }
          if id == 10 {
            try Data(count: 32 << 10).write(to: URL(fileURLWithPath: ballast))
          }
          if id == 100 { try FileManager.default.removeItem(atPath: ballast) }
        }
        #expect(refused > 50)
        #expect(written.contains { $0.hasPrefix("101 ") }, "with space it goes on by itself")
        #expect(journal.append(.acknowledged(1)).isWritten || refused > 0)
        journal.close()
        let opening = Journal.open(path + "/j")
        #expect(
          opening.entries.map(\.text) == written
            || opening.entries.map(\.text) == Array(written.dropFirst()))
        opening.journal?.close()
      }
    }
  }

#endif
