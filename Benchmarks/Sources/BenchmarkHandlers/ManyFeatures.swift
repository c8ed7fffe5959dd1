// SPDX-License-Identifier: MIT

import FeatureRelay

// A relay with a thousand features needs a thousand types. A generic class is a feature as well, and three digits
// make a thousand of it.

private enum Zero {}
private enum One {}
private enum Two {}
private enum Three {}
private enum Four {}
private enum Five {}
private enum Six {}
private enum Seven {}
private enum Eight {}
private enum Nine {}

private let digits: [Any.Type] = [
  Zero.self, One.self, Two.self, Three.self, Four.self, Five.self, Six.self, Seven.self,
  Eight.self, Nine.self,
]

@MainActor
private final class Numbered<Hundreds, Tens, Units>: Sendable {}

/// Registers up to a thousand handlers, each for a feature of its own.
///
/// - Returns: the handlers, which the caller keeps alive.
@MainActor
package func registerManyFeatures(_ count: Int, in relay: Relay) -> [AnyObject] {
  func register<Hundreds, Tens, Units>(
    _ hundreds: Hundreds.Type, _ tens: Tens.Type, _ units: Units.Type
  ) -> AnyObject {
    let handler = Numbered<Hundreds, Tens, Units>()
    relay.register(handler, for: Numbered<Hundreds, Tens, Units>.self)
    return handler
  }
  var handlers: [AnyObject] = []
  for number in 0..<count {
    let (hundreds, tens, units) = (number / 100 % 10, number / 10 % 10, number % 10)
    handlers.append(register(digits[hundreds], digits[tens], digits[units]))
  }
  return handlers
}
