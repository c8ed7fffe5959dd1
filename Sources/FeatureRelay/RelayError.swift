// SPDX-License-Identifier: MIT

/// Why a request was not answered, or a relay could not be set up.
public struct RelayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// The request waited for as long as it may without having been started.
    public static let waitingTimedOut = Code(description: "waitingTimedOut")
    /// The handler took longer than the execution limit.
    public static let executionTimedOut = Code(description: "executionTimedOut")
    /// The request was removed from the queue: cancelled by tag, cleared, or crowded out.
    public static let dropped = Code(description: "dropped")
    /// The relay did not accept the request.
    public static let refused = Code(description: "refused")
    /// The relay was reset while the request waited or ran.
    public static let reset = Code(description: "reset")
    /// The relay is closed.
    public static let closed = Code(description: "closed")
    /// The request was made from inside a command that it would have to wait for.
    public static let waitsForItself = Code(description: "waitsForItself")
    /// `Relay.shared` was in use before it was set up.
    public static let sharedInUse = Code(description: "sharedInUse")
    /// Another relay of this process keeps its commands in the same directory.
    public static let journalInUse = Code(description: "journalInUse")
  }

  /// What happened.
  public let code: Code
  /// The feature that was asked, where there was one.
  public let feature: String?
  /// What happened, in a sentence.
  public let message: String

  init(_ code: Code, feature: String? = nil, _ message: String) {
    self.code = code
    self.feature = feature
    self.message = message
  }

  /// What happened, to what, and what to do.
  public var description: String {
    feature.map { "\($0): \(message)" } ?? message
  }
}
