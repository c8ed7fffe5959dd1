// SPDX-License-Identifier: MIT

/// One handler's registration in one relay, for one feature or several.
///
/// It ends with ``cancel()``, with the handler's life, or with the relay. Unlike a Combine
/// cancellable, dropping it changes nothing; put it into a ``RegistrationBag`` for that.
public struct Registration: Sendable, Identifiable, Hashable {
  /// Unique within the process.
  public let id: UInt64
  private weak let relay: RelayCore?
  /// Most are for one feature.
  private let key: UInt
  private let otherKeys: [UInt]

  init(id: UInt64, relay: RelayCore, key: UInt, otherKeys: [UInt] = []) {
    self.id = id
    self.relay = relay
    self.key = key
    self.otherKeys = otherKeys
  }

  /// Ends the registration; another one for the same feature is not touched.
  ///
  /// Callable from any thread, from the handler's deinit as well, and more than once.
  public func cancel() {
    guard let relay else { return }
    relay.slotIfAlive(key)?.remove(id)
    for key in otherKeys { relay.slotIfAlive(key)?.remove(id) }
  }

  /// The handler below this one: what the feature would be served by if this registration were not
  /// there.
  ///
  /// A handler passes on what it does not handle itself:
  ///
  /// ```swift
  /// func show(_ message: String) {
  ///   if isBusy { registration.next(ToastFeature.self)?.show(message) }
  /// }
  /// ```
  ///
  /// - Parameter feature: a feature that this registration is for.
  /// - Returns: the next live handler below, here or in an ancestor; nil if there is none, or if
  ///   the registration has ended.
  @MainActor
  public func next<F>(_ feature: F.Type) -> F? {
    let key = FeatureKey.of(feature)
    guard let relay, key == self.key || otherKeys.contains(key),
      let slot = relay.slotIfAlive(key)
    else { return nil }
    let entries = slot.withState { $0.registrations }
    guard let place = entries.lastIndex(where: { $0.id == id }) else { return nil }
    for entry in entries[..<place].reversed() {
      if let handler = entry.handler(as: feature) { return handler }
    }
    var core = relay.parent
    while let current = core {
      let entries = current.slotIfAlive(key)?.withState { $0.registrations } ?? []
      for entry in entries.reversed() {
        if let handler = entry.handler(as: feature) { return handler }
      }
      core = current.parent
    }
    return nil
  }

  /// Puts the registration into a bag, which ends it when the bag goes.
  public func store(in bag: RegistrationBag) {
    bag.insert(self)
  }

  /// Whether both are the same registration.
  public static func == (left: Registration, right: Registration) -> Bool { left.id == right.id }

  /// Hashes the id.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Registrations that end together: with the bag's life, or earlier.
public final class RegistrationBag: Sendable {
  private let registrations = Lock<[Registration]>([])

  /// Makes an empty bag.
  public init() {}

  deinit { cancelAll() }

  /// Adds a registration.
  public func insert(_ registration: Registration) {
    registrations.withLock { $0.append(registration) }
  }

  /// Ends all registrations in the bag.
  public func cancelAll() {
    let all = registrations.withLock { registrations in
      defer { registrations = [] }
      return registrations
    }
    for registration in all { registration.cancel() }
  }
}
