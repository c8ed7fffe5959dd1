// SPDX-License-Identifier: MIT

/// Ends the process over a mistake in the source, with a sentence that says what to do.
///
/// In release builds as well, where a failed precondition would say nothing.
func mistake(_ sentence: String) -> Never {
  // Deliberate: a feature that cannot be one must not go unnoticed, and nothing can be delivered to
  // it.
  fatalError(sentence)
}
