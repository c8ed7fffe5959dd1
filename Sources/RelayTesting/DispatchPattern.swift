// SPDX-License-Identifier: MIT

/// Which commands an expectation is about.
///
/// ```swift
/// recorder.expectDispatched(inOrder: .any(SaveOrder.self), .command(ShowToast(message: "Saved")))
/// ```
public struct DispatchPattern: Sendable, CustomStringConvertible {
  /// What it looks for, in words.
  public let description: String
  /// The text of the command that is looked for, where there is one.
  let value: String?
  private let body: @Sendable (RecordedCommand) -> Bool
  /// Whether a command is at least of the kind: one that misses nearly.
  private let near: @Sendable (RecordedCommand) -> Bool

  init(
    _ description: String, value: String? = nil,
    near: @escaping @Sendable (RecordedCommand) -> Bool = { _ in false },
    matches body: @escaping @Sendable (RecordedCommand) -> Bool
  ) {
    self.description = description
    self.value = value
    self.body = body
    self.near = near
  }

  /// A command, or a question, that equals this one.
  public static func command<Command: Sendable & Equatable>(_ command: Command) -> Self {
    DispatchPattern(
      "\(command)", value: "\(command)", near: { $0.value is Command },
      matches: { $0.value as? Command == command })
  }

  /// Any command of a type, or any one for a feature.
  public static func any<Target>(_ target: Target.Type) -> Self {
    DispatchPattern("\(target)") { isOf(target, $0) }
  }

  /// A command of a type with something to it.
  ///
  /// - Parameters:
  ///   - type: the type of the command or of the question.
  ///   - isWanted: whether it is one.
  public static func any<Command: Sendable>(
    _ type: Command.Type, where isWanted: @escaping @Sendable (Command) -> Bool
  ) -> Self {
    DispatchPattern("\(type) as described by the closure", near: { $0.value is Command }) {
      ($0.value as? Command).map(isWanted) ?? false
    }
  }

  /// A closure for a feature.
  public static func closure<F>(for feature: F.Type) -> Self {
    DispatchPattern("closure for \(feature)", near: { $0.isFor(feature) }) {
      $0.isFor(feature) && $0.value == nil
    }
  }

  /// Whether a command is one of those that are looked for.
  public func matches(_ command: RecordedCommand) -> Bool { body(command) }

  func nearlyMatches(_ command: RecordedCommand) -> Bool { near(command) }

  private static func isOf<Target>(_ target: Target.Type, _ command: RecordedCommand) -> Bool {
    command.isFor(target) || command.value is Target
  }
}
