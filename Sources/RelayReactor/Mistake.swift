// SPDX-License-Identifier: MIT

/// Ends the process over a mistake in the source, with a sentence that says what to do; in release
/// builds as well, where a failed precondition would say nothing.
func mistake(_ sentence: String) -> Never {
  fatalError(sentence)
}
