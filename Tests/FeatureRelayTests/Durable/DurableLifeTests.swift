// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation
import RaceSupport
import RelayJournal
import Testing

/// Keeps what it was told about the journal.
private final class StatusObserver: RelayObserver {
  let statuses = Latched<[JournalStatus]>([])

  func observe(_ event: RelayEvent) {
    if case .journal(let status) = event.kind { statuses.update { $0.append(status) } }
  }
}

/// Suspension, two processes, power loss.
@MainActor
struct DurableLifeTests {
  let box = Box()

  @Test func beforeSuspensionTheLockIsGivenUpAndTheDataSynced() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    let syncs = box.disk.count(.sync)
    await relay.willSuspend()
    #expect(box.disk.count(.sync) > syncs)
    #expect(box.disk.faulty.log.contains { $0.kind == .unlock || $0.kind == .close })
    // Meanwhile commands live in memory.
    let second = relay.note(2)
    #expect(second.durability == .inMemory)
    #expect(await relay.didResume() == .empty)
    #expect(await relay.waitUntilPersisted(second) == .survivesProcessDeath)
    #expect(try await box.left() == [1, 2])
  }

  @Test func killedWhileSuspendedWhatRanWasInterrupted() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = Latch()
    let worker = Worker()
    worker.onWork = { _ in await latch.wait() }
    relay.register(worker, for: PatientFeature.self)
    relay.dispatch(WorkOn(number: 1))
    await latch.arrival()
    await relay.willSuspend()
    try await box.relaunch()
    latch.open()
    let next = Worker()
    box.relay.register(next, for: PatientFeature.self)
    await box.relay.waitUntilIdle()
    #expect(next.contexts.map(\.attempt) == [1])
    #expect(next.contexts.map(\.isRedelivery) == [false])
  }

  @Test func killedAfterTheResumeItCountsAgain() async throws {
    let relay = try box.launch()
    await relay.restore()
    let latch = Latch()
    let worker = Worker()
    worker.onWork = { _ in await latch.wait() }
    relay.register(worker, for: PatientFeature.self)
    relay.dispatch(WorkOn(number: 1))
    await latch.arrival()
    await relay.willSuspend()
    await relay.didResume()
    try await box.relaunch()
    latch.open()
    let next = Worker()
    box.relay.register(next, for: PatientFeature.self)
    await box.relay.waitUntilIdle()
    #expect(next.contexts.map(\.attempt) == [2])
    #expect(next.contexts.map(\.isRedelivery) == [true])
  }

  @Test func anIdIsGoodForTheNextProcessAsWell() async throws {
    let relay = try box.launch()
    let id = try #require(relay.note(1).id)
    relay.note(2)
    let encoded = try JSONEncoder().encode(id)
    try await box.relaunch()
    let decoded = try JSONDecoder().decode(CommandID.self, from: encoded)
    #expect(decoded == id)
    #expect(box.relay.status(of: decoded) == .waiting)
    #expect(box.relay.cancel(decoded))
    #expect(box.relay.status(of: decoded) == nil)
    #expect(try await box.left() == [2])
  }

  @Test func whatIsTooLargeForTheJournalLivesInMemoryAndHoldsNobodyUp() async throws {
    box.types.append(Secret.self)
    let relay = try box.launch()
    await relay.restore()
    let large = relay.dispatch(Secret(text: String(repeating: "x", count: 17 << 20)))
    #expect(large.outcome == .waiting)
    #expect(large.durability == .inMemory)
    #expect(relay.note(2).durability == .survivesProcessDeath)
    let mirror = Mirror()
    relay.register(mirror, for: MirrorFeature.self)
    await relay.waitUntilIdle()
    #expect(mirror.numbers == [17 << 20])
    #expect(try await box.left() == [2])
  }

  // PE-26
  @Test func whatAnotherInstallationLeftIsDroppedNotDelivered() async throws {
    func relay(_ installation: String) throws -> Relay {
      try Relay(
        scope: "installed", configuration: RelayConfiguration(),
        journal: box.disk.location(box.path).ofInstallation(installation), declaring: box.types)
    }
    let old = try relay("old device")
    await old.restore()
    old.note(1)
    old.note(2)
    old.close()
    let same = try relay("old device")
    #expect(await same.restore() == .restored(2))
    same.close()
    // The journal is opened in the background: not before somebody looks.
    let latch = ThreadLatch()
    box.disk.hang(.list) { latch.wait() }
    let new = try relay("new device")
    let observer = StatusObserver()
    new.observe(observer)
    box.disk.heal()
    for _ in 0..<8 { latch.open() }
    let ledger = Ledger()
    new.register(ledger, for: LedgerFeature.self)
    #expect(await new.restore() == .empty)
    new.note(3)
    await new.waitUntilIdle()
    #expect(ledger.numbers == [3])
    #expect(new.counts.restored == 0)
    #expect(observer.statuses.value.contains(.otherInstallation(dropped: 2)))
    new.close()
    let again = try relay("new device")
    #expect(await again.restore() == .empty)
    again.close()
  }

  @Test func aBlankInstallationTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = JournalLocation.applicationSupport("main").ofInstallation(" ")
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("an installation's identifier must not be blank"))
  }

  @Test func aSourceOfChangesIsFollowed() async throws {
    try box.launch().note(1)
    box.kill()
    let relay = try box.launch()
    let (changes, source) = AsyncStream.makeStream(of: LifecycleChange.self)
    let following = Task { await relay.follow(changes) }
    source.yield(.didResume)
    source.yield(.willSuspend)
    source.yield(.didResume)
    source.finish()
    await following.value
    #expect(relay.counts.restored == 1)
    #expect(relay.pendingCount == 1)
  }

  @Test func withPowerLossInViewItIsDeliveredAfterItsGroupCommit() async throws {
    box.durability = .survivesPowerLoss
    let relay = try box.launch()
    await relay.restore()
    let ledger = Ledger()
    relay.register(ledger, for: LedgerFeature.self)
    let latch = ThreadLatch()
    box.disk.hang(.sync) { latch.wait() }
    let acceptance = relay.note(1)
    #expect(acceptance.outcome == .waiting)
    #expect(acceptance.durability == .survivesProcessDeath)
    relay.note(2)
    await mainTurn()
    #expect(ledger.numbers == [])
    box.disk.heal()
    for _ in 0..<8 { latch.open() }
    await relay.waitUntilIdle()
    #expect(ledger.numbers == [1, 2])
  }

  @Test func manyShareOneGroupCommitAndAllOfThemSurviveThePowerLoss() async throws {
    box.durability = .survivesPowerLoss
    let relay = try box.launch()
    await relay.restore()
    let before = box.disk.count(.sync)
    let latch = ThreadLatch()
    box.disk.hang(.sync) { latch.wait() }
    let acceptances = (0..<50).map { relay.note($0) }
    box.disk.heal()
    for _ in 0..<8 { latch.open() }
    for acceptance in acceptances {
      #expect(await relay.waitUntilPersisted(acceptance) == .survivesPowerLoss)
    }
    #expect(box.disk.count(.sync) - before <= 4)
    box.disk.files!.losePower()
    relay.close()
    try box.launch()
    #expect(await box.relay.restore() == .restored(50))
  }

  @Test func aTypeMayAskForMoreThanItsJournal() async throws {
    box.types.append(Payment.self)
    let relay = try box.launch()
    await relay.restore()
    let acceptance = relay.dispatch(Payment(number: 1))
    #expect(await relay.waitUntilPersisted(acceptance) == .survivesPowerLoss)
    #expect(await relay.waitUntilPersisted(relay.note(2)) == .survivesProcessDeath)
    #expect(await relay.waitUntilPersisted(relay.write(3)) == .inMemory)
  }

  @Test func erasingLeavesNoByteOnDisk() async throws {
    box.types.append(Secret.self)
    let relay = try box.launch()
    await relay.restore()
    relay.dispatch(Secret(text: "the-secret-words"), tags: [.user(42)])
    relay.note(2)
    func isOnDisk() -> Bool {
      box.disk.files!.paths.contains { path in
        String(decoding: box.disk.files![path] ?? [], as: UTF8.self).contains("the-secret-words")
      }
    }
    #expect(isOnDisk())
    #expect(relay.cancel(tagged: .user(42), erasing: true) == 1)
    #expect(!isOnDisk())
    #expect(try await box.left() == [2])
  }

  @Test func aSecondProcessWritesItsInboxWhichTheOwnerTakesOver() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    let records = try #require(box.disk.files!.paths.first { $0.hasSuffix(".journal") })
    let before = box.disk.files![records]
    // Another process has its own table of directories: only the lock stands in its way.
    var location = box.disk.location(box.path)
    location.process = "extension"
    let other = try Relay(
      scope: "extension", configuration: .standard, journal: location, declaring: box.types)
    #expect(await other.restore().count == 0)
    let handedOver = other.note(2)
    #expect(handedOver.durability == .survivesProcessDeath)
    #expect(handedOver.outcome == .waiting)
    let ledger = Ledger()
    other.register(ledger, for: LedgerFeature.self)
    await other.waitUntilIdle()
    #expect(ledger.numbers == [])
    #expect(box.disk.files![records] == before)
    other.close()
    #expect(await relay.restore() == .restored(1))
    #expect(await relay.restore() == .empty)
    #expect(try await box.left().sorted() == [1, 2])
  }

  @Test func logoutReachesTheNextUsersProcess() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1, tags: [.user("A")])
    relay.write(2, tags: [.user("A")])
    relay.write(3, tags: [.user("A")])
    relay.note(4)
    #expect(relay.cancel(tagged: .user("A")) == 3)
    #expect(try await box.left() == [4])
  }

  @Test func aDeadHandlerKeepsNothingAliveAndTheCommandGoesToDisk() async throws {
    let relay = try box.launch()
    await relay.restore()
    var ledger: Ledger? = Ledger()
    weak let observed = ledger
    relay.register(ledger!, for: LedgerFeature.self)
    ledger = nil
    #expect(observed == nil)
    #expect(relay.note(1).outcome == .waiting)
    #expect(try await box.left() == [1])
  }

  @Test func destroyedWithItsDataOrWithout() async throws {
    let relay = try box.launch()
    await relay.restore()
    relay.note(1)
    relay.note(2)
    #expect(try await box.reopen() == .restored(2))
    box.relay.reset()
    #expect(try await box.reopen() == .empty)
  }
}

/// Worth a wait for the medium.
struct Payment: RelayCommand, DurableCommand {
  static let commandName = "payment"
  static let durability = Durability.survivesPowerLoss
  var number: Int
  func execute(on mirror: MirrorFeature) throws { try mirror.show(number) }
}

struct Secret: RelayCommand, DurableCommand {
  static let commandName = "secret"
  var text: String
  func execute(on mirror: MirrorFeature) throws { try mirror.show(text.count) }
}
