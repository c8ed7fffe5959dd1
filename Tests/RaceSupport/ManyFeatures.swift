// SPDX-License-Identifier: MIT

import FeatureRelay

/// A class that is a feature of its own for each pair of types: as many features as a test needs.
public final class NumberedFeature<Row, Column>: RelayFeature {
  /// How many commands it has had.
  public private(set) var count = 0

  /// Makes a handler of this feature.
  public nonisolated init() {}

  /// Counts a command.
  public func add() { count += 1 }
}

/// One of many features, with what can be done with it although its type is not known here.
public struct SomeFeature: Sendable {
  /// Registers a handler of its own, owned by the relay.
  public let register: @Sendable (Relay) -> Registration
  /// Dispatches a command that counts.
  public let dispatch: @Sendable (Relay) -> Acceptance
  /// Whether a handler is registered.
  public let isRegistered: @Sendable (Relay) -> Bool
  /// How many commands wait.
  public let pendingCount: @Sendable (Relay) -> Int
  /// How many the handlers registered by ``register`` have had, in all relays.
  public let deliveredCount: @MainActor @Sendable () -> Int

  private init<Row, Column>(_ row: Row.Type, _ column: Column.Type) {
    let handler = NumberedFeature<Row, Column>()
    register = { $0.register(handler, for: NumberedFeature<Row, Column>.self, ownership: .owned) }
    dispatch = { relay in relay.dispatch(NumberedFeature<Row, Column>.self) { $0.add() } }
    isRegistered = { $0.isRegistered(NumberedFeature<Row, Column>.self) }
    pendingCount = { $0.pendingCount(NumberedFeature<Row, Column>.self) }
    deliveredCount = { handler.count }
  }

  /// So many different features, up to 225.
  public static func make(_ count: Int) -> [SomeFeature] {
    let types: [Any.Type] = [
      Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
      UInt32.self, UInt64.self, Float.self, Double.self, Bool.self, String.self, Character.self,
    ]
    precondition(count <= types.count * types.count, "There are not as many features.")
    return (0..<count).map { number in
      func open<Row>(_ row: Row.Type) -> SomeFeature {
        func open<Column>(_ column: Column.Type) -> SomeFeature { SomeFeature(row, column) }
        return _openExistential(types[number % types.count], do: open)
      }
      return _openExistential(types[number / types.count], do: open)
    }
  }
}
