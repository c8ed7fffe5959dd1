// SPDX-License-Identifier: MIT

/// Owns a reactor: when the owner goes, the reactor's life ends, whatever still runs in it.
///
/// A running action keeps its reactor alive, as any asynchronous method keeps its object. One that
/// listens to an endless sequence would do so for ever; the owner's end is what ends it.
///
/// ```swift
/// final class SearchScreen {
///   @ReactorOwner var search = SearchReactor()
/// }
/// ```
///
/// The reactor is made when it is asked for the first time.
@MainActor
@propertyWrapper
public final class ReactorOwner<R: Reactor> {
  private let endsLife: Bool
  private var make: (@MainActor () -> R)?
  /// Kept apart, so that the end can come on any thread.
  private let kept = Kept()

  /// Makes an owner.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes the reactor, once, when it is needed.
  ///   - definesLifecycle: whether the reactor's life ends with the owner's. If not, the owner only
  ///     keeps it alive.
  public nonisolated init(
    wrappedValue: @autoclosure @escaping @MainActor () -> R, definesLifecycle: Bool = true
  ) {
    make = wrappedValue
    endsLife = definesLifecycle
  }

  /// The reactor.
  public var wrappedValue: R {
    if let reactor = kept.reactor { return reactor }
    guard let make else { mistake("ReactorOwner: a reactor asks for itself while it is made.") }
    self.make = nil
    let reactor = make()
    kept.reactor = reactor
    return reactor
  }

  /// The owner itself.
  public var projectedValue: ReactorOwner<R> { self }

  deinit {
    if endsLife { kept.reactor?.container.end() }
  }

  /// Safe: written on the main actor while the owner lives, read by its deinit, after everything. Use
  /// by anybody else would break it; ReactorLifeTests lets owners go under the thread sanitizer.
  private final class Kept: @unchecked Sendable {
    var reactor: R?
  }
}
