// SPDX-License-Identifier: MIT

/// The numbers that stand for names in one file, and when a name is to be written in full.
struct NameNumbers: Sendable {
  private struct Name {
    /// Nil if it is lost; its number is not used again.
    var text: String?
    var block = -1
    var uses = 0
  }

  private var names: [Name] = []
  private var numbers: [String: Int] = [:]

  /// Goes on with the numbers that a file has; nil is one whose name is lost.
  init(_ texts: [String?] = []) {
    names = texts.map { Name(text: $0) }
    for (number, text) in texts.enumerated() {
      if let text { numbers[text] = number }
    }
  }

  /// What the numbers stand for.
  var texts: [String?] { names.map(\.text) }

  /// The number of a name, and whether to write the name itself as well.
  @inline(__always)
  mutating func number(of text: String, block: Int) -> (number: Int, isInFull: Bool) {
    // A few names are found faster one by one than by hashing.
    var index = 0
    let few = min(names.count, 6)
    while index < few {
      if let known = names[index].text, known == text { break }
      index += 1
    }
    if index == few { index = lookUp(text) }
    if names[index].block != block {
      names[index].block = block
      names[index].uses = 0
    }
    names[index].uses += 1
    let uses = names[index].uses
    return (index, uses <= JournalFormat.namesPerBlock || uses.isMultiple(of: 32))
  }

  /// From now on names are written in full again, as at a block's beginning.
  mutating func startBlock() {
    for index in names.indices { names[index].block = -1 }
  }

  private mutating func lookUp(_ text: String) -> Int {
    if let number = numbers[text] { return number }
    names.append(Name(text: text))
    numbers[text] = names.count - 1
    return names.count - 1
  }
}
