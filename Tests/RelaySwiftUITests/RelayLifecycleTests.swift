// SPDX-License-Identifier: MIT

import FeatureRelay
import RaceSupport
import Testing

@testable import RelaySwiftUI

@MainActor
struct RelayLifecycleTests {
  private final class Scene {}

  @MainActor private final class Log { var lines: [String] = [] }

  private let relay = Relay(scope: "app")
  private let log = Log()

  private func make(
    _ closing: RelayLifecycle.GateClosing = .inBackground, restoring latch: Latch? = nil
  ) -> RelayLifecycle {
    let (relay, log) = (relay, log)
    let note: @Sendable (String) async -> Void = { step in
      await MainActor.run { log.lines.append("\(step), \(relay.gate.isOpen ? "open" : "closed")") }
    }
    return RelayLifecycle(
      relay, closingGate: closing,
      suspension: Suspension(
        restore: {
          await note("restore")
          await latch?.wait()
        }, willSuspend: { await note("suspend") }, didResume: { await note("resume") }))
  }

  @Test func theFirstSceneRestoresOnce() async {
    let (lifecycle, scene) = (make(), Scene())
    lifecycle.update(.active, of: scene)
    lifecycle.update(.active, of: scene)
    await lifecycle.waitUntilSettled()
    #expect(log.lines == ["restore, open"])
  }

  @Test func aLaunchInTheBackgroundRestoresBehindAClosedGate() async {
    let (lifecycle, scene) = (make(), Scene())
    lifecycle.launch()
    lifecycle.launch()
    #expect(!relay.gate.isOpen)
    lifecycle.update(.background, of: scene)
    await lifecycle.waitUntilSettled()
    #expect(log.lines == ["restore, closed"])
    lifecycle.update(.inactive, of: scene)
    #expect(relay.gate.isOpen)
    lifecycle.update(.active, of: scene)
    await lifecycle.waitUntilSettled()
    #expect(log.lines == ["restore, closed", "restore, open"])
  }

  @Test func eachReturnResumesAndRestoresInThisOrder() async {
    let (lifecycle, scene) = (make(), Scene())
    for phase in [.active, .inactive, .background, .inactive, .active] as [RelayLifecycle.Phase] {
      lifecycle.update(phase, of: scene)
      await lifecycle.waitUntilSettled()
    }
    #expect(
      log.lines == ["restore, open", "suspend, closed", "resume, open", "restore, open"])
  }

  @Test func stepsDoNotOvertakeEachOther() async {
    let latch = Latch()
    let (lifecycle, scene) = (make(restoring: latch), Scene())
    lifecycle.update(.active, of: scene)
    await latch.arrival()
    for phase in [.background, .active, .background, .active] as [RelayLifecycle.Phase] {
      lifecycle.update(phase, of: scene)
    }
    #expect(log.lines.count == 1)
    latch.open()
    await lifecycle.waitUntilSettled()
    #expect(
      log.lines.map { $0.split(separator: ",")[0] } == [
        "restore", "suspend", "resume", "restore", "suspend", "resume", "restore",
      ])
  }

  @Test func thePhaseIsThatOfTheSceneInFront() {
    let (lifecycle, first, second) = (make(), Scene(), Scene())
    lifecycle.update(.active, of: first)
    lifecycle.update(.background, of: second)
    #expect(lifecycle.phase == .active && relay.gate.isOpen)
    lifecycle.update(.background, of: first)
    #expect(lifecycle.phase == .background && !relay.gate.isOpen)
    lifecycle.update(.inactive, of: second)
    lifecycle.end(first)
    #expect(lifecycle.phase == .inactive && relay.gate.isOpen)
    lifecycle.end(second)
    #expect(lifecycle.phase == .inactive)
  }

  @Test func aSceneThatIsGoneDoesNotCount() {
    let (lifecycle, first) = (make(), Scene())
    var second: Scene? = Scene()
    lifecycle.update(.active, of: second!)
    second = nil
    lifecycle.update(.background, of: first)
    #expect(lifecycle.phase == .background && !relay.gate.isOpen)
    #expect(second == nil)
  }

  @Test func whenTheGateIsClosedIsAChoice() {
    let scene = Scene()
    let strict = make(.unlessActive)
    strict.update(.inactive, of: scene)
    #expect(!relay.gate.isOpen)
    strict.update(.active, of: scene)
    #expect(relay.gate.isOpen)
    make(.never).update(.background, of: scene)
    #expect(relay.gate.isOpen)
  }

  @Test func otherReasonsStayWithTheirOwners() {
    let (lifecycle, scene) = (make(), Scene())
    relay.gate.close(for: "login")
    lifecycle.update(.background, of: scene)
    lifecycle.update(.active, of: scene)
    #expect(relay.gate.reasons == ["login"])
  }

  @Test func workInTheBackgroundSuspendsAndResumesByItself() async {
    let (lifecycle, scene) = (make(), Scene())
    lifecycle.launch()
    await lifecycle.suspend()
    await lifecycle.suspend()
    await lifecycle.resume()
    await lifecycle.suspend()
    lifecycle.update(.active, of: scene)
    await lifecycle.waitUntilSettled()
    #expect(
      log.lines == [
        "restore, closed", "suspend, closed", "resume, closed", "suspend, closed", "resume, open",
        "restore, open",
      ])
  }

  @Test func aRelayInMemoryHasNothingToDo() async {
    let lifecycle = RelayLifecycle(relay)
    let scene = Scene()
    lifecycle.update(.active, of: scene)
    lifecycle.update(.background, of: scene)
    await lifecycle.waitUntilSettled()
    #expect(relay.gate.reasons == ["scene phase"])
  }
}
