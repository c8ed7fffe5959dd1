// SPDX-License-Identifier: MIT

/// The settings of one slot: the relay's, with the feature's laid over them.
struct SlotSettings {
  private final class Retry: Sendable {
    let policy: RetryPolicy
    init(_ policy: RetryPolicy) { self.policy = policy }
  }

  let limit: Int
  let timeToLive: Int64
  let overflow: OverflowRule
  let ignoresRelayGate: Bool
  let seed: UInt64
  /// Nil where failures are dropped, as most are: it is asked often, and long.
  private let otherRetry: Retry?

  var retry: RetryPolicy { otherRetry?.policy ?? .drop }
  /// Whether ``retry`` is to drop.
  var dropsFailures: Bool { otherRetry == nil }

  init(_ relay: RelayConfiguration, _ feature: FeatureConfiguration?) {
    seed = relay.seed ?? .random(in: 0...UInt64.max)
    limit = feature?.limit ?? relay.limit
    timeToLive = (feature?.timeToLive ?? relay.timeToLive).nanoseconds
    overflow = feature?.overflow ?? relay.overflow
    let retry = feature?.retry ?? relay.retry
    otherRetry = retry == .drop ? nil : Retry(retry)
    ignoresRelayGate = feature?.ignoresRelayGate ?? false
  }
}
