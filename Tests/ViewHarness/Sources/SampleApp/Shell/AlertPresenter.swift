// SPDX-License-Identifier: MIT

import Observation

/// Asks one question at a time: it returns when there is an answer, and the next command of the
/// feature starts only then.
@MainActor @Observable
final class AlertPresenter: AlertFeature {
  private(set) var question: String?
  @ObservationIgnored private var answer: CheckedContinuation<Bool, Never>?

  func confirm(_ question: String) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        answer = continuation
        self.question = question
      }
    } onCancel: {
      Task { @MainActor in self.respond(false) }
    }
  }

  /// The answer. There is none twice.
  func respond(_ isConfirmed: Bool) {
    question = nil
    answer?.resume(returning: isConfirmed)
    answer = nil
  }

  /// The system has taken the alert away; the button that did so answers, before or after this.
  func hide() { question = nil }
}
