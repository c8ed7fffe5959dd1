// SPDX-License-Identifier: MIT

/// Which command holds which unique key of one slot.
///
/// A key is held while its command waits or runs; a key of ``Uniqueness/keepFirst(_:within:)`` is
/// remembered for its window after the delivery, the last 1,024 of them.
struct UniqueKeys {
  enum Holder {
    case command(CommandID)
    case delivered(CommandID, until: Int64)
  }

  static let remembered = 1_024

  private var holders: [String: Holder] = [:]
  /// Delivered keys in the order of their delivery; a ring once it is full.
  private var delivered: [(key: String, id: CommandID)] = []
  private var oldest = 0

  var isEmpty: Bool { holders.isEmpty }

  /// The command that waits or runs with the key, or was delivered within its window.
  func holder(of key: String, at now: Int64) -> Holder? {
    guard let holder = holders[key] else { return nil }
    if case .delivered(_, let until) = holder, until <= now { return nil }
    return holder
  }

  mutating func take(_ key: String, for id: CommandID) {
    holders[key] = .command(id)
  }

  /// Lets go of a key unless another command holds it by now.
  mutating func release(_ key: String, by id: CommandID) {
    guard case .command(id) = holders[key] else { return }
    holders[key] = nil
  }

  mutating func remember(_ key: String, deliveredAs id: CommandID, until: Int64) {
    guard case .command(id) = holders[key] else { return }
    holders[key] = .delivered(id, until: until)
    if delivered.count < Self.remembered {
      delivered.append((key, id))
      return
    }
    let forgotten = delivered[oldest]
    if case .delivered(forgotten.id, _) = holders[forgotten.key] { holders[forgotten.key] = nil }
    delivered[oldest] = (key, id)
    oldest = (oldest + 1) % Self.remembered
  }
}
