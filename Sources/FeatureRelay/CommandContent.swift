// SPDX-License-Identifier: MIT

/// What a command is, copied out of a queue for whoever tests: its value where it is a typed one,
/// and a way to run it on a handler of the tester's own.
@usableFromInline
package struct CommandContent: Sendable {
  package enum Form: Sendable {
    case closure
    case command
    case request
  }

  /// Runs the command; false when the object does not implement the feature, or the command's owner
  /// is gone.
  package enum Run: Sendable {
    case now(@MainActor @Sendable (AnyObject) throws -> Bool)
    case later(@MainActor @Sendable (AnyObject) async throws -> Bool)
  }

  package let form: Form
  private let key: UInt
  /// The command or the question, where it has a type of its own. A restored one is read each time,
  /// which runs its type's code.
  package let value: @Sendable () -> (any Sendable)?
  package let run: Run

  init<F>(
    _ form: Form, for feature: F.Type, value: @escaping @Sendable () -> (any Sendable)? = { nil },
    run: Run
  ) {
    self.form = form
    key = FeatureKey.of(feature)
    self.value = value
    self.run = run
  }
}

extension CommandContent {
  /// Whether the command is for this feature.
  package func isFor<F>(_ feature: F.Type) -> Bool { key == FeatureKey.of(feature) }
}

// Each is made under a slot's lock: copying a closure or a value runs nobody's code.

extension ClosureWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let body = pointer(words).pointee.body
    return CommandContent(
      .closure, for: F.self,
      run: .now { object in
        guard let handler = object as? F else { return false }
        _ = try body(handler)
        return true
      })
  }
}

extension OwnedClosureWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let work = pointer(words)
    return CommandContent(
      .closure, for: F.self,
      run: .now { [body = work.pointee.body, weak owner = work.pointee.owner] object in
        guard let handler = object as? F, let owner else { return false }
        _ = try body(handler, owner)
        return true
      })
  }
}

extension CommandWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let command = pointer(words).pointee.command
    return CommandContent(
      .command, for: Command.Feature.self, value: { command },
      run: .now { object in
        guard let handler = object as? Command.Feature else { return false }
        try command.execute(on: handler)
        return true
      })
  }
}

extension AsyncClosureWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let body = pointer(words).pointee.body
    return CommandContent(
      .closure, for: F.self,
      run: .later { object in
        guard let handler = object as? F else { return false }
        _ = try await body(handler)
        return true
      })
  }
}

extension AsyncOwnedClosureWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let work = pointer(words)
    return CommandContent(
      .closure, for: F.self,
      run: .later { [body = work.pointee.body, weak owner = work.pointee.owner] object in
        guard let handler = object as? F, let owner else { return false }
        _ = try await body(handler, owner)
        return true
      })
  }
}

extension AsyncCommandWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let command = pointer(words).pointee.command
    return CommandContent(
      .command, for: Command.Feature.self, value: { command },
      run: .later { object in
        guard let handler = object as? Command.Feature else { return false }
        try await command.execute(on: handler)
        return true
      })
  }
}

extension RequestWork {
  @usableFromInline
  static func content(_ words: UnsafeMutableRawPointer) -> CommandContent? {
    let work = pointer(words)
    return CommandContent(
      .request, for: F.self, value: { [question = work.pointee.question] in question },
      run: .later { [body = work.pointee.body] object in
        guard let handler = object as? F else { return false }
        _ = try await body(handler)
        return true
      })
  }
}

extension UnmanagedWork {
  /// What the command is; the work stays where it is.
  var content: CommandContent? {
    var words = words
    return type.content(&words)
  }
}
