// SPDX-License-Identifier: MIT

import Foundation

/// Where a state's value is. A state may be set from any thread.
///
/// Safe: the lock guards all stored properties. Values are let go of outside it.
final class StateLocation<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value
  private var readers: [ObjectIdentifier: UpdateFlag] = [:]

  init(_ value: Value) {
    stored = value
  }

  var value: Value {
    get {
      let reader = UpdateFlag.current
      return lock.withLock {
        if let reader { readers[ObjectIdentifier(reader)] = reader }
        return stored
      }
    }
    set {
      var old: Value?
      let told = lock.withLock {
        old = stored
        stored = newValue
        defer { readers = [:] }
        return readers.values
      }
      for reader in told { reader.raise() }
      withExtendedLifetime(old) {}
    }
  }
}
