// SPDX-License-Identifier: MIT

// Runs one workload a number of times, and reports what it allocated. The suite starts it as a child: what counts by
// taking the place of a system function must not be in the process that measures time, and callgrind cannot run a
// program with an asynchronous main.

import AllocationCounter
import BenchmarkProbes
import Foundation

let workloads =
  directWorkloads + queueWorkloads + threadWorkloads + otherWorkloads + memoryWorkloads
  + callSiteWorkloads + reactorWorkloads + durableWorkloads
let usage = "usage: relay-workload NAME COUNT | burst COUNT PRODUCERS | --list"

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("relay-workload: \(message)\n\(usage)\n".utf8))
  exit(64)
}

let arguments = CommandLine.arguments.dropFirst()
if arguments == ["--list"] {
  print((workloads.map(\.name) + ["burst"]).joined(separator: "\n"))
  exit(0)
}
guard arguments.count >= 2, let count = Int(arguments[2]), count > 0 else {
  fail("a name and a count above zero are needed")
}
if arguments[1] == "burst" {
  guard arguments.count == 3, let producers = Int(arguments[3]), producers > 0 else {
    fail("burst needs a count and a number of producers")
  }
  runBurst(count, producers: producers)
}
guard arguments.count == 2, let workload = workloads.first(where: { $0.name == arguments[1] })
else {
  fail("there is no workload \"\(arguments[1])\"")
}
let run = workload.prepare(count)
let allocationsBefore = allocation_counter_get()
let bytesBefore = heap_bytes()
measured_section {
  MainActor.assumeIsolated { run() }
}
let bytes = heap_bytes() - bytesBefore
let allocations =
  allocation_counter_get() - allocationsBefore + workerAllocations.load(ordering: .acquiring)
report([
  "allocations": allocationsBefore < 0 ? -1 : Int(allocations),
  "bytes": bytesBefore < 0 ? -1 : Int(bytes),
])
// Not by returning: what the workload holds is not taken apart, which would be counted.
exit(0)
