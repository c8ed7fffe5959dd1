// SPDX-License-Identifier: MIT

/// "Deliver now?" of a relay, or of one feature in it: closed as long as there is a reason.
///
/// ```swift
/// relay.gate.close(for: "login")
/// relay.gate(for: NavigationFeature.self).open(for: "splash")
/// ```
///
/// A command needs every gate open on its way: its feature's and its relay's, and those of the
/// relay whose handler takes it. What a closed gate holds back keeps its order and its time to
/// live. Opening delivers in a later turn of the main actor. Callable from any thread.
public struct Gate: Sendable {
  private enum Target: Sendable {
    case relay(RelayCore)
    case slot(SlotStorage)
  }

  private let target: Target

  init(_ core: RelayCore) {
    target = .relay(core)
  }

  init(_ slot: SlotStorage) {
    target = .slot(slot)
  }

  /// Adds a reason to keep the gate closed. Adding the same one again changes nothing.
  ///
  /// A command that runs already is not interrupted.
  public func close(for reason: String) {
    switch target {
    case .relay(let core): core.closeGate(for: reason)
    case .slot(let slot): slot.closeGate(for: reason)
    }
  }

  /// Takes a reason away; the gate is open once none is left.
  public func open(for reason: String) {
    switch target {
    case .relay(let core): core.openGate(for: reason)
    case .slot(let slot): slot.openGate(for: reason)
    }
  }

  /// Whether this gate is open; another one on a command's way may be closed.
  public var isOpen: Bool { reasons.isEmpty }

  /// Why the gate is closed, in the order in which the reasons came.
  public var reasons: [String] {
    switch target {
    case .relay(let core): core.gateReasons
    case .slot(let slot): slot.withState { $0.gateReasons }
    }
  }
}

extension Relay {
  /// The relay's own gate, for all features but those that ignore it
  /// (``FeatureConfiguration/ignoresRelayGate``).
  public var gate: Gate { Gate(core) }

  /// The gate of one feature.
  public func gate<F>(for feature: F.Type) -> Gate {
    Gate(core.slot(FeatureKey.of(feature)))
  }
}

extension SlotStorage {
  func closeGate(for reason: String) {
    update(onMain: MainQueue.isCurrent) { state, _ in
      guard !state.gateReasons.contains(reason) else { return }
      state.gateReasons.append(reason)
      if state.isObserved { state.record(.gateClosed(reason: reason)) }
    }
  }

  func openGate(for reason: String) {
    let onMain = MainQueue.isCurrent
    let isChanged = update(onMain: onMain) { state, _ in
      guard let index = state.gateReasons.firstIndex(of: reason) else { return false }
      state.gateReasons.remove(at: index)
      if state.isObserved { state.record(.gateOpened(reason: reason)) }
      return true
    }
    guard isChanged else { return }
    becameDeliverable(onMain: onMain)
    core.wakeDescendants(key, onMain: onMain)
  }
}
