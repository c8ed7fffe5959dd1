// SPDX-License-Identifier: MIT

public import FeatureRelay

/// A command as a recorder saw it, and what had become of it when it was asked for.
public struct RecordedCommand: Sendable {
  /// What became of a command.
  public enum Outcome: Sendable, Hashable {
    /// It waits for a handler, a gate or its turn.
    case waiting
    /// It has failed and comes again.
    case waitingForRetry(after: Duration)
    /// Its handler runs.
    case running
    /// Its handler has ended without error.
    case delivered
    /// It ended undelivered.
    case dropped(DropReason)
    /// It was not accepted.
    case refused(RefusalReason)
  }

  private let entry: CommandTape.Entry

  /// Its place among what was recorded, from 1.
  public let number: Int
  /// Its place on the relay's tape, which stays when recorders forget.
  let place: Int

  init(_ entry: CommandTape.Entry, number: Int, place: Int) {
    self.entry = entry
    self.number = number
    self.place = place
  }

  /// The name of the feature that it was for.
  public var feature: String { entry.feature }

  /// The command, or the question, where it has a type of its own; nil for closures.
  public var value: (any Sendable)? { entry.content?.value() }

  var id: CommandID? { entry.id }

  /// Whether somebody waits for an answer.
  public var isRequest: Bool { entry.content?.form == .request }

  /// Whether it is asynchronous: it starts in a later turn of the main actor.
  public var isAsynchronous: Bool {
    if case .later = entry.content?.run { true } else { false }
  }

  /// The priority that it was dispatched with, its type's by default.
  public var priority: CommandPriority { entry.priority }

  /// The tags that it was dispatched with.
  public var tags: [CommandTag] { entry.tags }

  /// When it was dispatched, on the relay's clock.
  public var time: Duration { entry.time }

  /// What had become of it.
  public var outcome: Outcome {
    switch entry.status {
    case .waiting: .waiting
    case .waitingForRetry(let delay): .waitingForRetry(after: delay)
    case .running: .running
    case .delivered: .delivered
    case .dropped(let reason): .dropped(reason)
    case .refused(let reason): .refused(reason)
    }
  }

  /// How often it was tried.
  public var attempts: Int { entry.attempts }

  /// What its handler threw, one error for each attempt that failed.
  public var errors: [any Error] { entry.errors }

  /// Whether it was for this feature.
  public func isFor<F>(_ feature: F.Type) -> Bool { entry.content?.isFor(feature) ?? false }
}

// MARK: Running it

extension RecordedCommand {
  /// Runs the command on a mock, whatever became of it in its relay.
  ///
  /// - Parameter handler: an object that implements the command's feature.
  /// - Returns: whether it ran. It does not when the object implements another feature, when the
  ///   command's owner is gone, and when it is asynchronous: see
  ///   ``runAsynchronously(onto:)``.
  /// - Throws: what the command throws.
  @MainActor @discardableResult
  public func run(onto handler: AnyObject) throws -> Bool {
    guard case .now(let run) = entry.content?.run else { return false }
    return try run(handler)
  }

  /// Runs the command on a mock and waits for its end.
  ///
  /// - Parameter handler: an object that implements the command's feature.
  /// - Returns: whether it ran.
  /// - Throws: what the command throws.
  @MainActor @discardableResult
  public func runAsynchronously(onto handler: AnyObject) async throws -> Bool {
    switch entry.content?.run {
    case .now(let run): try run(handler)
    case .later(let run): try await run(handler)
    case nil: false
    }
  }
}

// MARK: Words

extension RecordedCommand: CustomStringConvertible {
  /// The command, its feature and what became of it.
  public var description: String { "\(feature) \(words): \(outcome)" }

  /// What it is: its value, or which kind of closure.
  var words: String {
    if let value { return "\(value)" }
    if isRequest { return "request" }
    return isAsynchronous ? "asynchronous closure" : "closure"
  }
}

extension RecordedCommand.Outcome: CustomStringConvertible {
  /// The outcome in a few words.
  public var description: String {
    switch self {
    case .waiting: "waiting"
    case .waitingForRetry(let delay): "waiting for its retry after \(delay)"
    case .running: "running"
    case .delivered: "delivered"
    case .dropped(let reason): "dropped (\(reason))"
    case .refused(let reason): "refused (\(reason))"
    }
  }
}

extension Array where Element == RecordedCommand {
  /// The commands of one type, or the questions of one type, in order.
  public func commands<Command>(of type: Command.Type) -> [Command] {
    compactMap { $0.value as? Command }
  }
}
