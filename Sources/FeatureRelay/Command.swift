// SPDX-License-Identifier: MIT

/// A command as a value: comparable in tests, with a policy that belongs to its type.
///
/// ```swift
/// struct ShowToast: RelayCommand, Equatable {
///   var message: String
///   func execute(on toast: any ToastFeature) { toast.show(message) }
/// }
/// relay.dispatch(ShowToast(message: "Saved"))
/// ```
public protocol RelayCommand<Feature>: Sendable {
  /// The feature that the command is for.
  associatedtype Feature

  /// How commands of this type are queued, retried and limited; ``CommandPolicy/standard`` by
  /// default.
  static var policy: CommandPolicy { get }

  /// What a waiting command of this type survives; ``Durability/inMemory`` by default.
  static var durability: Durability { get }

  /// Does what the command says. Runs on the main actor, once the relay has found a handler.
  @MainActor func execute(on feature: Feature) throws
}

/// A command whose work takes time: it holds its lane from its start until it ends.
///
/// An asynchronous command always starts in a later turn of the main actor than the one it was
/// dispatched in.
public protocol AsyncRelayCommand<Feature>: Sendable {
  /// The feature that the command is for.
  associatedtype Feature

  /// How commands of this type are queued, retried and limited; ``CommandPolicy/standard`` by
  /// default.
  static var policy: CommandPolicy { get }

  /// What a waiting command of this type survives; ``Durability/inMemory`` by default.
  static var durability: Durability { get }

  /// Does what the command says. Runs on the main actor, once the relay has found a handler.
  @MainActor func execute(on feature: Feature) async throws
}

/// A question as a value: what ``Relay/request(_:waitingAtMost:executionLimit:priority:tags:)``
/// sends and waits for.
public protocol RelayRequest<Feature, Response>: Sendable {
  /// The feature that is asked.
  associatedtype Feature
  /// What it answers.
  associatedtype Response: Sendable

  /// How requests of this type are queued and limited; ``CommandPolicy/standard`` by default.
  static var policy: CommandPolicy { get }

  /// Asks the handler. Runs on the main actor, once the relay has found a handler.
  @MainActor func execute(on feature: Feature) async throws -> Response
}

extension RelayCommand {
  /// The relay's own settings.
  public static var policy: CommandPolicy { .standard }
  /// In memory.
  @inlinable public static var durability: Durability { .inMemory }
}

extension AsyncRelayCommand {
  /// The relay's own settings.
  public static var policy: CommandPolicy { .standard }
  /// In memory.
  @inlinable public static var durability: Durability { .inMemory }
}

extension RelayRequest {
  /// The relay's own settings.
  public static var policy: CommandPolicy { .standard }
}
