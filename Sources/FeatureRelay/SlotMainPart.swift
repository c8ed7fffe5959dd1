// SPDX-License-Identifier: MIT

/// What only a slot has that works with others' lanes, has asynchronous commands or is looked at:
/// made when it is needed, and the main actor's.
struct SlotMainPart: ~Copyable {
  var laneWaiters: [SlotStorage] = []
  var isWakingLaneWaiters = false
  var postedTask: Task<Void, Never>?
  var postedRelay: Relay?
  var observation: UnsafeMutablePointer<Observation>?
  weak var awaitedLender: SlotStorage?

  deinit {
    observation?.deinitialize(count: 1)
    observation?.deallocate()
  }
}

extension SlotStorage {
  private var ownMainPart: UnsafeMutablePointer<SlotMainPart> {
    if let mainPart { return mainPart }
    let new = UnsafeMutablePointer<SlotMainPart>.allocate(capacity: 1)
    new.initialize(to: SlotMainPart())
    mainPart = new
    return new
  }

  /// Children's slots whose commands wait for this slot's lane.
  var laneWaiters: [SlotStorage] {
    get { mainPart?.pointee.laneWaiters ?? [] }
    _modify { yield &ownMainPart.pointee.laneWaiters }
  }

  var isWakingLaneWaiters: Bool {
    get { mainPart?.pointee.isWakingLaneWaiters ?? false }
    set { ownMainPart.pointee.isWakingLaneWaiters = newValue }
  }

  /// The task whose first turn is to come, and the relay, which it keeps until then.
  var postedTask: Task<Void, Never>? {
    get { mainPart?.pointee.postedTask }
    set { ownMainPart.pointee.postedTask = newValue }
  }

  var postedRelay: Relay? {
    get { mainPart?.pointee.postedRelay }
    set { ownMainPart.pointee.postedRelay = newValue }
  }

  /// The direct delivery that was begun last while somebody looked.
  var observation: UnsafeMutablePointer<Observation>? {
    get { mainPart?.pointee.observation }
    set { ownMainPart.pointee.observation = newValue }
  }

  /// In whose ``laneWaiters`` this slot stands: an ancestor's.
  var awaitedLender: SlotStorage? {
    get { mainPart?.pointee.awaitedLender }
    set { ownMainPart.pointee.awaitedLender = newValue }
  }

  var isWaitingForLane: Bool { awaitedLender != nil }
}
