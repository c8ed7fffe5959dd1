// SPDX-License-Identifier: MIT

/// How an action that was sent has ended.
public enum ActionOutcome: Hashable, Sendable {
  /// It ran to its end.
  case finished
  /// It threw an error, which went to ``Reactor/handle(_:)``.
  case failed
  /// It was cancelled, before it started or while it ran.
  case cancelled
  /// A newer one of its id took its place, before it started or while it ran.
  case overtaken
  /// It never started: one of its id was there first, or came too soon before it.
  case ignored
  /// It never started: too many were waiting, behind a serial one or for a busy main actor (65,536).
  case refused
  /// The reactor's life had ended, or ended before the action did.
  case ended
}
