// SPDX-License-Identifier: MIT

import FeatureRelay

/// What the suite's handlers can do: little, and visible, so that the call is what costs.
///
/// Two classes implement it, in a module of its own behind factories that are not inlined: nobody who calls it can
/// know which one is meant, and every call goes through the witness table.
package protocol TickFeature: RelayFeature {
  func tick(_ number: Int)
  func note(_ text: String)
  func work() async -> Int
}

/// Makes a handler of a class that the caller cannot see.
@MainActor @inline(never)
package func makeTicker() -> any TickFeature {
  CommandLine.arguments.isEmpty ? OtherTicker() : Ticker()
}

/// A text that needs memory of its own, so that capturing it retains.
@inline(never)
package func makeText() -> String {
  String(repeating: "text ", count: CommandLine.arguments.count + 9)
}

private final class Ticker: TickFeature {
  private var sum = 0

  func tick(_ number: Int) { sum &+= number }
  func note(_ text: String) { sum &+= text.utf8.count }
  func work() async -> Int { sum }
}

private final class OtherTicker: TickFeature {
  private var ticks = 0

  func tick(_ number: Int) { ticks &+= 1 }
  func note(_ text: String) { ticks &+= 1 }
  func work() async -> Int { ticks }
}

/// A handler that tells when it has been called a number of times.
package final class Tally: TickFeature {
  private var missing = 0
  private var onComplete: (() -> Void)?

  package init() {}

  /// Calls back, within the call that completes it, once so many calls have come.
  package func expect(_ count: Int, _ onComplete: @escaping () -> Void) {
    missing = count
    self.onComplete = onComplete
  }

  package func tick(_ number: Int) {
    missing -= 1
    if missing == 0 { onComplete?() }
  }

  package func note(_ text: String) { tick(1) }
  package func work() async -> Int { missing }
}
