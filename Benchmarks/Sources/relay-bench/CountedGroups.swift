// SPDX-License-Identifier: MIT

import BenchmarkHarness

// Per operation means the difference of two runs, so that what is paid once cancels out. A queue that was longer than
// a thousand gives its memory back when it is empty: what one allocates that has been as long before shows below that.
private let few = 100
private let many = 900

/// Heap allocations per operation.
let allocationsGroup = Group("allocations", "heap allocations per operation", isCounted: true) {
  Thresholds.allocations.map { workload, title, limit in
    Subject(
      workload, title, unit: .allocations, bounds: [.count(limit)],
      .counted {
        guard let less = try Child.figure("allocations", of: [workload, "\(few)"]),
          let more = try Child.figure("allocations", of: [workload, "\(many)"])
        else { return nil }
        // To a hundredth: an array that grew once is not a cost of each operation.
        return ((more - less) / Double(many - few) * 100).rounded() / 100 + 0
      })
  }
}

/// How often the main queue is asked to come for commands from elsewhere.
let hopsGroup = Group("hops", "posts to the main queue per burst", isCounted: true) {
  [(1, 1), (256, 1), (1_000, 1), (1_000, 2), (8_000, 8)].flatMap { count, producers in
    let hops = Double((count + 255) / 256 + 1)
    let plural = "\(count) from \(producers) thread\(producers == 1 ? "" : "s")"
    return [
      Subject(
        "burst-\(count)-\(producers)", plural, unit: .hops,
        // None at all would mean that the probe sees nothing, since the relay posts in another way.
        bounds: [.count(hops, atLeast: 1)],
        .counted { try Child.figure("posts", of: ["burst", "\(count)", "\(producers)"]) })
    ]
  }
}

/// Instructions per operation under callgrind.
let instructionsGroup = Group("instructions", "instructions per operation", isCounted: true) {
  let floor = Subject(
    "floor", "weak delegate", role: .peer, unit: .instructions,
    .counted { try perOperation("floor") })
  return [floor]
    + Thresholds.instructions.map { workload, title, limit in
      let bound = Thresholds.areInstructionsKnown ? [Bound.count(limit, margin: 0.05)] : []
      return Subject(
        workload, title, unit: .instructions, bounds: bound,
        .counted { try perOperation(workload) })
    }
}

/// Heap and code bytes.
let memoryGroup = Group("memory", "heap per thing, code per call site", isCounted: true) {
  Thresholds.bytes.map { workload, title, limit in
    Subject(
      workload, title, unit: .bytes, bounds: [.count(limit)],
      .counted { try bytesEach(workload) })
  } + [
    Subject(
      "registration", "registration, weak", unit: .bytes,
      .counted { try bytesEach("registration") }),
    Subject(
      "call-site", "code of a call site", unit: .bytes, bounds: [.count(Thresholds.codeBytes)],
      .counted {
        guard let one = try Child.codeBytes("oneCallSite"),
          let ten = try Child.codeBytes("tenCallSites")
        else { return nil }
        return (ten - one) / 9
      }),
  ]
}

/// What ten thousand more of something take, for each and to a tenth: what is paid once is no cost of
/// each thing.
private func bytesEach(_ workload: String) throws -> Double? {
  guard let less = try Child.figure("bytes", of: [workload, "10000"]),
    let more = try Child.figure("bytes", of: [workload, "20000"])
  else { return nil }
  return ((more - less) / 1_000).rounded() / 10
}

private func perOperation(_ workload: String) throws -> Double? {
  guard let less = try Child.instructions(workload, few),
    let more = try Child.instructions(workload, many)
  else { return nil }
  return (more - less) / Double(many - few)
}
