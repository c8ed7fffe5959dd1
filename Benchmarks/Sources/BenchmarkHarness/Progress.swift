// SPDX-License-Identifier: MIT

import Foundation

/// One line on standard error that says what is being measured; nothing where that is no terminal.
package struct Progress: Sendable {
  private let isVisible: Bool

  /// The line, where standard error is a terminal.
  package static var standardError: Progress { Progress(isVisible: isatty(2) == 1) }
  /// No line.
  package static let silent = Progress(isVisible: false)

  private init(isVisible: Bool) {
    self.isVisible = isVisible
  }

  /// Replaces the line.
  package func show(_ text: String) {
    guard isVisible else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
  }

  /// Removes the line.
  package func clear() {
    show("")
  }
}
