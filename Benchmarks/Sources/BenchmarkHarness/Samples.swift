// SPDX-License-Identifier: MIT

/// What the rounds of one subject gave, per operation.
package struct Samples: Sendable {
  package let sorted: [Double]

  /// - Precondition: at least one value.
  package init(_ values: [Double]) {
    precondition(!values.isEmpty, "Samples: a subject without a round.")
    sorted = values.sorted()
  }

  /// What it costs when nothing interferes. Ratios are made of minima: other processes only ever add.
  package var minimum: Double { sorted[0] }

  package var median: Double { quantile(0.5) }

  /// The distance between the quartiles, relative to the median.
  package var spread: Double {
    median == 0 ? 0 : (quantile(0.75) - quantile(0.25)) / median
  }

  /// The value below which the given part lies, interpolated between neighbours.
  package func quantile(_ part: Double) -> Double {
    let place = part * Double(sorted.count - 1)
    let below = Int(place)
    guard below + 1 < sorted.count else { return sorted[below] }
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (place - Double(below))
  }
}
