// SPDX-License-Identifier: MIT

internal import Synchronization

extension UnsafeMutablePointer<SlotDirectory> {
  /// Runs a command on the nearest ancestor's handler without a way through the queue: the direct
  /// path of a child. On the main actor.
  ///
  /// - Returns: nil when something is in the way.
  func deliverInherited(_ key: UInt, _ work: inout UnmanagedWork, _ runner: WorkRunner)
    -> Acceptance?
  {
    guard let slot = find(key),
      !slot.isLaneBusy, slot.pointee.inherits.load(ordering: .acquiring),
      let lender = directLender(key), let (entry, lenderLane) = lender.beginDirect()
    else { return nil }
    // The command counts here; the lender's lane is only busy for it.
    let lane = slot.pointee.lane.load(ordering: .relaxed)
    slot.pointee.lane.store(lane &+ 3, ordering: .relaxed)
    lender.pointee.lane.store(lenderLane | 1, ordering: .relaxed)
    var failure: (any Error)?
    do {
      try work.run(on: entry.cell, runner)
    } catch {
      failure = error
      work.destroy()
    }
    entry.end()
    lender.pointee.lane.store(lenderLane, ordering: .relaxed)
    return slot.pointee.storage._withUnsafeGuaranteedRef { storage in
      guard failure == nil else {
        let acceptance = storage.directFailed(failure!)
        if lender.pointee.direct.load(ordering: .acquiring) != entry {
          lender.afterDirect(entry, lenderLane)
        }
        return acceptance
      }
      slot.pointee.lane.store(lane &+ 4, ordering: .relaxed)
      // What came for the lender meanwhile, then what came here: also while the lender delivered.
      if lender.pointee.direct.load(ordering: .acquiring) != entry {
        lender.afterDirect(entry, lenderLane)
      }
      if !slot.pointee.inherits.load(ordering: .acquiring) { storage.drainInline() }
      return Acceptance(outcome: .delivered)
    }
  }

  /// The slot of the nearest ancestor that has a handler published, if the way there is clear.
  private func directLender(_ key: UInt) -> UnsafeMutablePointer<Slot>? {
    var directory = pointee.parent
    while let current = directory {
      if let slot = current.find(key) {
        if slot.pointee.direct.load(ordering: .acquiring) != nil { return slot }
        guard slot.pointee.inherits.load(ordering: .acquiring) else { return nil }
      } else if current.pointee.gateIsClosed.load(ordering: .acquiring) {
        return nil
      }
      directory = current.pointee.parent
    }
    return nil
  }
}
