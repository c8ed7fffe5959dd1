// SPDX-License-Identifier: MIT

/// The settings of one slot: the relay's, with the feature's laid over them.
struct SlotSettings {
  var limit: Int
  var timeToLive: Int64
  var overflow: OverflowRule
  var retry: RetryPolicy
  /// Whether ``retry`` is to drop: asked often, and comparing costs.
  var dropsFailures: Bool
  var ignoresRelayGate: Bool
  var seed: UInt64

  init(_ relay: RelayConfiguration, _ feature: FeatureConfiguration?) {
    seed = relay.seed ?? .random(in: 0...UInt64.max)
    limit = feature?.limit ?? relay.limit
    timeToLive = (feature?.timeToLive ?? relay.timeToLive).nanoseconds
    overflow = feature?.overflow ?? relay.overflow
    retry = feature?.retry ?? relay.retry
    dropsFailures = retry == .drop
    ignoresRelayGate = feature?.ignoresRelayGate ?? false
  }
}
