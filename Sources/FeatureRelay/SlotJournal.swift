// SPDX-License-Identifier: MIT

internal import RelayJournal

// What a slot's transitions say to the journal. Records are taken down under the lock and written
// after it (SlotStorage.perform), those of one transition by one system call.

extension SlotState {
  /// Holds a command until its record is written: it and what stands behind it wait.
  func hold(_ index: UInt32) {
    queue.node(index).pointee.details?.notBefore = .max
  }

  /// Lets a command go whose record is written, or cannot be written now.
  ///
  /// - Returns: false when it has ended meanwhile, so that its end has to be written again.
  func release(_ id: CommandID) -> Bool {
    guard queue.isLive(id.index, sequence: id.sequence) else { return false }
    let details = queue.node(id.index).pointee.details
    if details?.notBefore == .max { details?.notBefore = 0 }
    return true
  }

  /// Gives a durable command its number, under which it is written.
  func number(
    _ durable: DurableState, _ details: CommandDetails, of index: UInt32
  ) {
    let number = RecordNumber.next()
    durable.entry.id = number.value
    durable.entry.place = number.place
    details.order = Int64(bitPattern: lastSequence)
    queue.node(index).pointee.sequence = durable.sequence
  }

  /// A command that stands where another one stood stands there after a relaunch as well.
  func takePlace(of replaced: UInt32, for index: UInt32) {
    guard let place = durable(replaced)?.entry.place else { return }
    durable(index)?.entry.place = place
  }

  func durable(_ index: UInt32) -> DurableState? { queue.node(index).pointee.details?.durable }

  /// An attempt starts: with the command itself in one record if that is not written yet.
  func writeStart(_ durable: DurableState, attempt: UInt16, _ effects: inout SlotEffects) {
    guard durable.store != nil else { return }
    if durable.isUnwritten {
      durable.isUnwritten = false
      effects.write(.acceptedAndStarted(durable.entry), durable)
    } else {
      effects.write(.started(durable.entry.id, attempt: UInt32(attempt)), durable)
    }
  }

  /// An attempt has failed and another one comes.
  func writeFailure(
    _ durable: DurableState, givesWay: Bool, _ effects: inout SlotEffects
  ) {
    // Whatever happened before is known now.
    durable.isRedelivery = false
    guard durable.store != nil else { return }
    if givesWay { durable.entry.place = RecordNumber.next().place }
    effects.write(
      .failed(durable.entry.id, place: givesWay ? durable.entry.place : nil), durable)
  }

  /// A durable command has ended: on disk as well, unless it is to come back after a relaunch.
  ///
  /// - Parameter reason: nil when it was delivered.
  func writeEnd(_ index: UInt32, _ reason: DropReason?, _ effects: inout SlotEffects) {
    let node = queue.node(index)
    guard let durable = node.pointee.details?.durable else { return }
    durable.attempts = node.pointee.attempt
    guard durable.store != nil else { return }
    if durable.isUnwritten {
      durable.isUnwritten = false
      // The barrier of a reset, or nobody, writes it.
      if reason == .closed { effects.write(.accepted(durable.entry), durable) }
      return
    }
    let id = durable.entry.id
    switch reason {
    case nil: effects.write(.acknowledged(id), durable)
    case .closed: if node.pointee.state == .running { effects.write(.interrupted(id), durable) }
    case .dead:
      let death = JournalDeath(
        reason: (durable.death ?? .failed).rawValue, detail: durable.death?.description ?? "",
        at: 0)
      effects.write(.dead(id, death), durable)
    case .some(let reason): effects.write(.ended(id, reason: reason.rawValue), durable)
    }
  }

  /// Why a command ends that has no further attempt: a durable one becomes a dead letter, if its
  /// policy had any attempts to give.
  func finalReason(
    _ index: UInt32, _ reason: DropReason, as death: DeadLetter.Reason
  ) -> DropReason {
    guard let details = queue.node(index).pointee.details, let durable = details.durable,
      durable.store?.hasJournal == true,
      death == .unreadable || (details.retry ?? settings.retry).backoff != nil
    else { return reason }
    durable.death = death
    record(.died(death), index)
    return .dead
  }

  /// The commands that run and are written down as started.
  var startedDurables: [DurableState] {
    queue.runningCommands.compactMap { durable($0) }.filter { !$0.isUnwritten }
  }
}
