// SPDX-License-Identifier: MIT

/// Makes a property of a reactor the way to its state: read from wherever the property can be seen,
/// written from wherever its setter can.
///
/// ```swift
/// @ReactorState private(set) var state: State
/// ```
///
/// The state itself lies in ``Reactor/container``. In a class with the `@Observable` macro the
/// property has to be marked `@ObservationIgnored`: the container does the observing.
@propertyWrapper
public struct ReactorState<State: Sendable>: Sendable {
  /// Makes the way; the state is the container's.
  public init() {}

  /// Not used: a reactor's property goes to its container.
  @available(*, unavailable, message: "@ReactorState is for the state of a class that is a Reactor")
  public var wrappedValue: State {
    get { mistake("ReactorState: the property does not stand in a reactor.") }
    set { mistake("ReactorState: the property does not stand in a reactor, \(newValue) is lost.") }
  }

  /// The state in the reactor's container; a write counts unless the life has ended or the writer
  /// was overtaken.
  @MainActor
  public static subscript<R: Reactor>(
    _enclosingInstance reactor: R, wrapped wrapped: ReferenceWritableKeyPath<R, State>,
    storage storage: ReferenceWritableKeyPath<R, Self>
  ) -> State where R.State == State {
    get { reactor.container.state }
    _modify { yield &reactor.container.state }
  }
}
