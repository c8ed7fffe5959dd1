// SPDX-License-Identifier: MIT

import FeatureRelay
import Foundation

// The app's journal: what came before, and what kills the process.

extension Session {
  /// The relay of the app, with a journal if there is a directory for one.
  func makeRoot(_ configuration: RelayConfiguration) throws -> Relay {
    guard let journal else { return Relay(scope: Self.rootScope, configuration: configuration) }
    return try Relay(
      scope: Self.rootScope, configuration: configuration, journal: .directory(journal),
      restoring: KeepToast.self, KeepScreen.self, KeepEvent.self, KeepMail.self)
  }

  /// Brings back what an earlier run has left in the journal.
  func restore() async -> Outcome {
    guard journal != nil, let relay = modules[Self.rootScope]?.relay else { return Outcome() }
    let result = await relay.restore()
    await settle()
    var outcome = Outcome(entries: recorder.take().entries)
    if result == .empty { outcome.entries.append(.note("nothing waits in the journal")) }
    if case .unavailable(let reason) = result {
      outcome.entries.append(.note("the journal cannot be read: \(reason)"))
    }
    return outcome
  }

  /// Ends the process as the system would: without a last word.
  func crash() -> Never {
    #if os(Windows)
      fatalError("crash")
    #else
      kill(getpid(), SIGKILL)
      fatalError("The system did not kill this process.")
    #endif
  }

  /// Says what a durable command is worth here.
  func explainDurability() {
    if journal == nil {
      note("there is no --journal DIR: what is durable lives in memory")
    } else if scope != Self.rootScope {
      note("only \(quoted(Self.rootScope)) has a journal: what is durable lives in memory here")
    }
  }
}
