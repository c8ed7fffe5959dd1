// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import RelayJournal
import Testing

#if os(Linux) || os(macOS)

  /// Real processes with a relay, really killed, on the real disk.
  @MainActor
  @Suite(.timeLimit(.minutes(20)))
  struct DurableProcessTests {
    private func directory() -> String {
      FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        .path
    }

    private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    nonisolated private static func relay(
      _ path: String, fileSystem: FileSystem = .disk, scope: String = "child"
    ) throws -> Relay {
      var location = JournalLocation.directory(URL(fileURLWithPath: path))
      location.fileSystem = fileSystem
      return try Relay(
        scope: scope, configuration: .standard, journal: location,
        declaring: [WriteNumber.self, ShowNumber.self])
    }

    /// What the next process is delivered.
    private func left(_ path: String) async throws -> [Int] {
      let relay = try Self.relay(path)
      await relay.restore()
      let ledger = Ledger()
      relay.register(ledger, for: LedgerFeature.self)
      await relay.waitUntilIdle()
      relay.close()
      return ledger.numbers
    }

    @Test func fiftyAwaitedCommandsSurviveAKill() async throws {
      let path = directory()
      defer { remove(path) }
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let relay = try DurableProcessTests.relay(path)
        for number in 0..<50 { await relay.waitUntilPersisted(relay.note(number)) }
        kill(getpid(), SIGKILL)
      }
      #expect(try await left(path) == Array(0..<50))
    }

    @Test func theAppsRelayKeepsItsCommandsInTheJournalThatItWasSetUpWith() async throws {
      let path = directory()
      defer { remove(path) }
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        try Relay.bootstrap(
          journal: .directory(URL(fileURLWithPath: path)), restoring: WriteNumber.self)
        await Relay.shared.waitUntilPersisted(Relay.shared.note(7))
        kill(getpid(), SIGKILL)
      }
      #expect(try await left(path) == [7])
    }

    @Test func killedInTheMiddleAPrefixIsThereWithoutAGap() async throws {
      for round in 0..<5 {
        let path = directory()
        defer { remove(path) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = path as String, round = round as Int] in
          let relay = try DurableProcessTests.relay(path)
          let sent = Tally()
          startThread {
            for number in 0..<5_000 {
              // Where the disk does not answer in time, it is written behind: that one is not counted.
              if relay.note(number).durability >= .survivesProcessDeath { sent.add() }
            }
          }
          while sent.current < 40 + round * 97 { sched_yield() }
          kill(getpid(), SIGKILL)
        }
        let numbers = try await left(path)
        #expect(numbers.count >= 40)
        #expect(numbers == Array(0..<numbers.count))
      }
    }

    @Test func aCommandThatKillsEachLaunchIsGivenUpOnAfterThree() async throws {
      let path = directory()
      defer { remove(path) }
      let first = try Self.relay(path)
      first.note(1)
      first.note(2)
      first.close()
      for _ in 1...3 {
        await #expect(processExitsWith: .signal(SIGABRT)) { [path = path as String] in
          let relay = try DurableProcessTests.relay(path)
          await relay.restore()
          await DurableProcessTests.deliverAbortingOn(1, relay)
        }
      }
      let survivor = try Self.relay(path)
      await survivor.restore()
      let ledger = Ledger()
      survivor.register(ledger, for: LedgerFeature.self)
      await survivor.waitUntilIdle()
      #expect(ledger.numbers == [2])
      #expect(survivor.deadLetters.map(\.reason) == [.neverEnded])
      #expect(survivor.deadLetters.map(\.attempts) == [3])
      survivor.close()
    }

    static func deliverAbortingOn(_ number: Int, _ relay: Relay) async {
      let ledger = Ledger { if $0 == number { abort() } }
      relay.register(ledger, for: LedgerFeature.self)
      await relay.waitUntilIdle()
    }

    @Test func killedInItsHandlerACommandComesAgain() async throws {
      let path = directory()
      defer { remove(path) }
      await #expect(processExitsWith: .signal(SIGABRT)) { [path = path as String] in
        let relay = try DurableProcessTests.relay(path)
        await DurableProcessTests.dispatchAborting(relay)
      }
      let relay = try Self.relay(path)
      #expect(await relay.restore() == .restored(1))
      let ledger = ContextLedger()
      relay.register(ledger, for: LedgerFeature.self)
      await relay.waitUntilIdle()
      #expect(ledger.contexts.map(\.attempt) == [2])
      #expect(ledger.contexts.map(\.isRedelivery) == [true])
      relay.close()
    }

    static func dispatchAborting(_ relay: Relay) {
      let ledger = Ledger { _ in abort() }
      relay.register(ledger, for: LedgerFeature.self)
      relay.note(1)
    }

    /// A life in steps, each taken down when it is over.
    nonisolated static func live(_ path: String, killedAt number: Int) async throws {
      let faulty = FaultyFiles(over: .disk)
      faulty.setRule { operation in
        guard operation.number >= number else { return nil }
        if operation.kind == .write, operation.number == number {
          return .short(bytes: number % 40)
        }
        kill(getpid(), SIGKILL)
        return nil
      }
      let progress = open(path + ".progress", O_WRONLY | O_CREAT, 0o600)
      func done() { write(progress, "x", 1) }
      let relay = try relay(path, fileSystem: faulty.fileSystem)
      await relay.restore()
      relay.note(1)
      done()
      relay.note(2, tags: ["t"])
      done()
      relay.note(3)
      done()
      relay.cancel(tagged: "t", erasing: true)
      done()
      relay.note(4, unique: .keepLatest("k"))
      done()
      relay.note(5, unique: .keepLatest("k"))
      done()
      await relay.willSuspend()
      await relay.didResume()
      relay.clearQueue(MirrorFeature.self)
      relay.note(6)
      done()
      relay.close()
    }

    @Test func killedAtEveryOperationTheNextProcessHasWhatWasDone() async throws {
      // What is there after each step; the one under way may be done or not.
      let states: [[Int]] = [
        [], [1], [1, 2], [1, 2, 3], [1, 3], [1, 3, 4], [1, 3, 5], [1, 3, 5, 6], [1, 3, 5, 6],
      ]
      var number = 1
      while true {
        let path = directory()
        defer {
          remove(path)
          remove(path + ".progress")
        }
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = path as String, number = number as Int] in
          try await DurableProcessTests.live(path, killedAt: number)
          // Nobody has killed it: that many operations there are not.
          _ = FileManager.default.createFile(atPath: path + ".progress.over", contents: nil)
          kill(getpid(), SIGKILL)
        }
        let steps = (try? Data(contentsOf: URL(fileURLWithPath: path + ".progress")).count) ?? 0
        let numbers = try await left(path)
        #expect(
          numbers == states[steps] || numbers == states[min(steps + 1, states.count - 1)],
          "killed at operation \(number), after \(steps) steps: \(numbers)")
        let isOver = FileManager.default.fileExists(atPath: path + ".progress.over")
        remove(path + ".progress.over")
        if isOver { break }
        number += 1
      }
      #expect(number > 40)
    }

    @Test func anExtensionOnlyWritesItsInbox() async throws {
      let path = directory()
      defer { remove(path) }
      let owner = try Self.relay(path, scope: "owner")
      await owner.restore()
      owner.note(1)
      let contents = {
        try FileManager.default.contentsOfDirectory(atPath: path)
          .filter { $0.hasSuffix(".journal") }.sorted()
          .map { try Data(contentsOf: URL(fileURLWithPath: path + "/" + $0)) }
      }
      let before = try contents()
      await #expect(processExitsWith: .success) { [path = path as String] in
        let relay = try DurableProcessTests.relay(path, scope: "extension")
        await relay.restore()
        #expect(relay.note(2).durability == .survivesProcessDeath)
        #expect(relay.note(3).durability == .survivesProcessDeath)
      }
      #expect(try contents() == before)
      #expect(await owner.restore() == .restored(2))
      let ledger = Ledger()
      owner.register(ledger, for: LedgerFeature.self)
      await owner.waitUntilIdle()
      #expect(ledger.numbers.sorted() == [1, 2, 3])
      owner.close()
    }

    @Test func oneNameForTwoTypesTraps() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").declare(WriteNumber.self, SameName.self)
      }
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("WriteNumber and SameName have the same commandName"))
    }
  }

  private struct SameName: RelayCommand, DurableCommand {
    static let commandName = WriteNumber.commandName
    func execute(on ledger: LedgerFeature) {}
  }

#endif
