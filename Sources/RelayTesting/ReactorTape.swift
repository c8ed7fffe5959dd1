// SPDX-License-Identifier: MIT

/// The states of a reactor, and how many of them expectations have spoken of.
final class ReactorTape<State: Equatable & Sendable>: Sendable {
  private struct Reel {
    var states: [State]
    var expected = 1
  }

  private let reel: SeenMutex<Reel>

  init(_ state: State) {
    reel = SeenMutex(Reel(states: [state]))
  }

  var all: [State] { reel.withLock { $0.states } }

  /// The last one that was expected, or the one at the beginning.
  var last: State { reel.withLock { $0.states[$0.expected - 1] } }

  func record(_ state: State) {
    let (states, _) = reel.withLock { ($0.states, $0.expected) }
    // Comparing is foreign code: not under the lock. Only the main actor records.
    guard states.last != state else { return }
    reel.withLock { $0.states.append(state) }
  }

  /// All that have not been expected; they have been now.
  func takeAll() -> ArraySlice<State> {
    reel.withLock { reel in
      defer { reel.expected = reel.states.count }
      return reel.states[reel.expected...]
    }
  }

  /// What to say if the next state is another one; it counts as expected in any case.
  func mismatch(with wanted: State, _ place: Int, of count: Int) -> String? {
    let (before, next) = reel.withLock { reel -> (State, State?) in
      let before = reel.states[reel.expected - 1]
      guard reel.expected < reel.states.count else { return (before, nil) }
      defer { reel.expected += 1 }
      return (before, reel.states[reel.expected])
    }
    if next == wanted { return nil }
    let which = count == 1 ? "The next state" : "State \(place) of \(count)"
    guard let next else {
      let hint = before == wanted ? " It is the same as the one before." : ""
      return "\(which) did not come.\(hint)\n  wanted: \(wanted)\n  before: \(before)"
    }
    return Self.comparison("\(which) is another one.", wanted, next)
  }

  /// What to say if states came that were not expected; they count as expected from now on.
  func unexpected(_ headline: String) -> String? {
    let states = takeAll()
    guard !states.isEmpty else { return nil }
    var lines = [headline]
    lines += states.prefix(FailureText.listed).map { "  \($0)" }
    if states.count > FailureText.listed {
      lines.append("  … and \(states.count - FailureText.listed) more")
    }
    return lines.joined(separator: "\n")
  }

  private static func comparison(_ headline: String, _ wanted: State, _ found: State) -> String {
    let (wanted, found) = ("\(wanted)", "\(found)")
    let common = zip(wanted, found).prefix { $0 == $1 }.count
    let mark = String(repeating: " ", count: 10 + common) + "^"
    return "\(headline)\n  wanted: \(wanted)\n  found:  \(found)\n\(mark)"
  }
}
