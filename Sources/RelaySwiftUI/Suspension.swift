// SPDX-License-Identifier: MIT

internal import FeatureRelay

/// What a relay does when the process is about to be suspended, and when it is back.
struct Suspension: Sendable {
  var restore: @Sendable () async -> Void
  var willSuspend: @Sendable () async -> Void
  var didResume: @Sendable () async -> Void
}

extension Suspension {
  /// What the relay itself does; nothing without a journal.
  init(_ relay: Relay) {
    self.init(
      restore: { await relay.restore() }, willSuspend: { await relay.willSuspend() },
      didResume: { await relay.didResume() })
  }
}
