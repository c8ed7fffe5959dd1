// SPDX-License-Identifier: MIT

internal import Synchronization

extension RelayCore {
  /// Whether a handler here or above takes children's commands.
  enum Lending {
    /// There is none, or a gate is closed.
    case nothing
    /// There is one whose lane an asynchronous command has.
    case behindAsync
    case ready
  }

  /// Whether a handler here or above could take a child's command, now or when its lane is free.
  func canLend(_ key: UInt) -> Bool { lending(key) != .nothing }

  /// What a child can expect of a handler here or above.
  func lending(_ key: UInt) -> Lending {
    guard let slot = existingSlot(key) else {
      return isGateClosed ? .nothing : parent?.lending(key) ?? .nothing
    }
    var effects = SlotEffects()
    let answer = slot.locked(onMain: false, postsHop: true, &effects) {
      state, effects -> Lending? in
      guard state.areGatesOpen else { return .nothing }
      guard state.hasLiveHandler(&effects) else { return nil }
      return state.isLaneAsync ? .behindAsync : .ready
    }
    slot.perform(effects, onMain: false)
    return answer ?? parent?.lending(key) ?? .nothing
  }

  /// The nearest live handler here or above, begun, with the slot whose lane it needs. On the main
  /// actor.
  func lend(_ key: UInt) -> (SlotStorage, RegistrationEntry)? {
    guard let slot = existingSlot(key) else { return isGateClosed ? nil : parent?.lend(key) }
    enum Answer {
      case blocked
      case lent(RegistrationEntry)
      case askAbove
    }
    let answer = slot.update(onMain: true, postsHop: false) { state, effects -> Answer in
      guard state.areGatesOpen else { return .blocked }
      while let entry = state.registrations.last {
        if entry.pointer.begin() { return .lent(entry) }
        state.retireDead(&effects)
      }
      return .askAbove
    }
    switch answer {
    case .blocked: return nil
    case .lent(let entry): return (slot, entry)
    case .askAbove: return parent?.lend(key)
    }
  }

  /// Something may have become deliverable for descendants: of one feature, or of all of them.
  func wakeDescendants(_ key: UInt? = nil, onMain: Bool) {
    for child in children {
      let slots = key.map { child.slotIfAlive($0).map { [$0] } ?? [] } ?? child.slots
      for slot in slots
      where slot.withState({ !$0.queue.hasNothingReady && $0.registrations.isEmpty }) {
        if onMain, child.configuration.replay == .immediate {
          slot.drainInline()
        } else {
          slot.requestHop()
        }
      }
      child.wakeDescendants(key, onMain: onMain)
    }
  }
}
