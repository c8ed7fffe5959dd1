// SPDX-License-Identifier: MIT

/// What a relay's slots have in common, so that none of them has it once more: one object for all
/// of them, and another one for a slot with settings of its own.
///
/// It stands apart from the core, which is referenced weakly as well, so that each look at it costs
/// a slow retain.
///
/// Safe to share: nothing of it changes, and the directory, which the core owns, is made of atomics.
/// Whoever has it holds the core, as every slot does.
final class SlotShared: @unchecked Sendable {
  let clock: RelayClock
  let log: EventLog
  let recorder: any EventRecorder
  let directory: UnsafeMutablePointer<SlotDirectory>
  let transit: TransitCount
  let settings: SlotSettings

  /// - Parameter recorder: who takes events down; the log itself, but for tests.
  init(
    clock: RelayClock, log: EventLog, recorder: (any EventRecorder)? = nil,
    directory: UnsafeMutablePointer<SlotDirectory>, transit: TransitCount, settings: SlotSettings
  ) {
    self.clock = clock
    self.log = log
    self.recorder = recorder ?? log
    self.directory = directory
    self.transit = transit
    self.settings = settings
  }

  /// The same with other settings.
  func with(_ settings: SlotSettings) -> SlotShared {
    SlotShared(
      clock: clock, log: log, recorder: recorder, directory: directory, transit: transit,
      settings: settings)
  }
}
