// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "relay-bench", targets: ["relay-bench"]),
    .executable(name: "relay-workload", targets: ["relay-workload"]),
  ],
  dependencies: [.package(name: "FeatureRelay", path: "..")],
  targets: [
    // A module of its own, so that nobody who calls a handler can see which class it is.
    .target(
      name: "BenchmarkHandlers",
      dependencies: [
        .product(name: "FeatureRelay", package: "FeatureRelay"),
        .product(name: "RelayReactor", package: "FeatureRelay"),
      ]),
    .target(name: "BenchmarkHarness"),
    // The journal's own sources: its interface is for the package above alone.
    .target(
      name: "JournalUnderTest",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
    // A module of its own, as a relay of somebody's own would be.
    .target(name: "BenchmarkPeers"),
    // Both count by taking the place of a function of the system's: in the child process only.
    .target(name: "AllocationCounter"),
    .target(name: "BenchmarkProbes"),
    .executableTarget(
      name: "relay-workload",
      dependencies: [
        .product(name: "FeatureRelay", package: "FeatureRelay"),
        .product(name: "RelayReactor", package: "FeatureRelay"), "BenchmarkHandlers",
        "AllocationCounter", "BenchmarkProbes", "JournalUnderTest",
      ],
      // Without debug information, which callgrind does not understand; the symbols stay.
      linkerSettings: [.unsafeFlags(["-Xlinker", "-S"])]),
    .executableTarget(
      name: "relay-bench",
      dependencies: [
        .product(name: "FeatureRelay", package: "FeatureRelay"),
        .product(name: "RelayReactor", package: "FeatureRelay"), "BenchmarkHandlers",
        "BenchmarkHarness", "BenchmarkPeers", "JournalUnderTest",
        "relay-workload",  // its child: never an older one than the suite itself
      ]),
    .testTarget(name: "BenchmarkHarnessTests", dependencies: ["BenchmarkHarness"]),
  ],
  swiftLanguageModes: [.v6]
)
