// SPDX-License-Identifier: MIT

internal import Observation

/// The parts of a state that are observed one by one, so that a change of one of them concerns only
/// those who have looked at it.
///
/// A part is watched from a look at it until it changes. Then its observers are told, once, as
/// always, and look again if they still care.
struct WatchedMembers<State> {
  /// As many as there are places in the source that look at parts, at most.
  private var members: [PartialKeyPath<State>: WatchedMember<State>] = [:]

  /// Watches a part, if values of its type can be compared, and returns it.
  ///
  /// - Returns: the part's value; nil if values of its type cannot be compared.
  mutating func look<Value>(at path: KeyPath<State, Value>, in state: State) -> Value? {
    if let member = members[path] as? ValueMember<State, Value> { return member.look(at: state) }
    guard let type = Value.self as? any Equatable.Type,
      let member = Self.makeMember(type, path) as? ValueMember<State, Value>
    else { return nil }
    members[path] = member
    return member.look(at: state)
  }

  /// The parts that are watched and no longer what they were; they are watched no longer.
  func takeChanged(in state: State) -> [WatchedMember<State>] {
    members.isEmpty ? [] : members.values.filter { $0.takeChange(in: state) }
  }

  private static func makeMember<Value: Equatable>(
    _: Value.Type, _ path: AnyKeyPath
  ) -> WatchedMember<State>? {
    (path as? KeyPath<State, Value>).map { ValueMember($0, areDifferent: !=) }
  }
}

/// One part of a state.
class WatchedMember<State> {
  fileprivate let registrar = ObservationRegistrar()

  fileprivate func takeChange(in state: State) -> Bool { false }

  /// Tells those who have looked.
  func tell() {
    registrar.withMutation(of: Observed(), keyPath: \.value) {}
  }

}

/// Not generic, since a key path into a generic type is made anew each time that it is used.
private struct Observed: Observable {
  var value: Void { () }
}

private final class ValueMember<State, Value>: WatchedMember<State> {
  private let path: KeyPath<State, Value>
  private let areDifferent: (Value, Value) -> Bool
  /// What the first of those saw who are to be told.
  private var seen: Value?

  init(_ path: KeyPath<State, Value>, areDifferent: @escaping (Value, Value) -> Bool) {
    self.path = path
    self.areDifferent = areDifferent
  }

  func look(at state: State) -> Value {
    registrar.access(Observed(), keyPath: \.value)
    let value = state[keyPath: path]
    if seen == nil { seen = value }
    return value
  }

  override func takeChange(in state: State) -> Bool {
    guard let seen, areDifferent(seen, state[keyPath: path]) else { return false }
    self.seen = nil
    return true
  }
}
