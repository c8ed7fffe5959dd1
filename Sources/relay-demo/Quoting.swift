// SPDX-License-Identifier: MIT

/// The text in quotation marks, cut to a length that fits a line, with nothing in it that a
/// terminal obeys.
func quoted(_ text: String, limit: Int = 60) -> String {
  "\"\(harmless(text, limit: limit))\""
}

/// The text with control characters and changes of direction spelled out, cut to a length.
func harmless(_ text: String, limit: Int = .max) -> String {
  var result = ""
  var count = 0
  for character in text {
    if count == limit { return result + "…" }
    count += 1
    if character.unicodeScalars.contains(where: isDangerous) {
      for scalar in character.unicodeScalars { result += scalar.escaped(asASCII: true) }
    } else {
      result.append(character)
    }
  }
  return result
}

private func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: true
  case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  default: false
  }
}

/// A duration in seconds, as short as it can be said.
func seconds(_ duration: Duration) -> String {
  let (whole, attoseconds) = duration.components
  let milliseconds = attoseconds / 1_000_000_000_000_000
  guard milliseconds != 0 else { return "\(whole) s" }
  var fraction = "\(1_000 + milliseconds)".dropFirst()
  while fraction.last == "0" { fraction.removeLast() }
  return "\(whole).\(fraction) s"
}
