// SPDX-License-Identifier: MIT

import Foundation
import RaceSupport
import RelayReactor
import Testing

#if os(Linux) || os(macOS) || os(Windows)

  /// What is said where nobody handles a failure: seen from outside, in a process of its own.
  struct FailureReportTests {
    @Test func aReactorThatHandlesNoFailuresSaysWhatWasThrownAndNothingPrivate() async throws {
      let result = try await #require(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        let reactor = CarelessReactor()
        let outcome = await reactor.send(.signIn(password: "hunter2")).finished()
        withExtendedLifetime(reactor) { exit(outcome == .failed ? 0 : 1) }
      }
      let said = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(said.contains("\"signIn\" has thrown Rejection"), "\(said)")
      #expect(!said.contains("hunter2") && !said.contains("open sesame"), "\(said)")
    }

    @Test func anErrorOfATaskThatOutlivesItsReactorIsSaid() async throws {
      let result = try await #require(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        let (latch, isOver) = (Latch(), Latch())
        await CarelessReactor.leaveATask(named: "upload", latch, isOver)
        latch.open()
        // The main actor is free again once the failure has been told.
        await isOver.wait()
        await MainActor.run {}
        exit(0)
      }
      let said = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(said.contains("\"upload\" has thrown Rejection"), "\(said)")
      #expect(!said.contains("open sesame"), "\(said)")
    }
  }

  private struct Rejection: Error { let reason = "open sesame" }

  private final class CarelessReactor: Reactor {
    struct State { var attempts = 0 }
    enum Action: Sendable { case signIn(password: String) }

    let container = StateContainer(State())
    @ReactorState private(set) var state: State

    func action(_ action: Action) async throws {
      state.attempts += 1
      throw Rejection()
    }

    /// Starts a task of a reactor that is gone when this returns; the task waits at the latch then.
    static func leaveATask(named name: ActionID, _ latch: Latch, _ isOver: Latch) async {
      let reactor = CarelessReactor()
      reactor.lifecycleTask(.lifecycle(name)) {
        defer { isOver.open() }
        await latch.wait()
        throw Rejection()
      }
      await latch.arrival()
      withExtendedLifetime(reactor) {}
    }
  }

#endif
