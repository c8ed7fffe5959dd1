// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT
import PackageDescription

// Set on the libraries only: tests, demo and snippets show the users' spelling (`ToastFeature.self`).
let librarySettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // an existential costs: it should be seen
  .enableUpcomingFeature("InternalImportsByDefault"),  // what the library imports is its own affair
  .enableUpcomingFeature("MemberImportVisibility"),  // a file names what it uses
]

// What Apple wants to be told about a library that reads the metadata of files. Elsewhere it would only
// cost a bundle and Foundation.
#if canImport(Darwin)
  let privacy: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
  let left: [String] = []
#else
  let privacy: [Resource] = []
  let left = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
  name: "FeatureRelay",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "FeatureRelay", targets: ["FeatureRelay"]),
    .library(name: "RelayTesting", targets: ["RelayTesting"]),
    .library(name: "RelayReactor", targets: ["RelayReactor"]),
    .library(name: "RelaySwiftUI", targets: ["RelaySwiftUI"]),
    .executable(name: "relayctl", targets: ["relayctl"]),
    .executable(name: "relay-demo", targets: ["relay-demo"]),
  ],
  dependencies: [],
  targets: [
    .target(
      name: "RelayJournal", exclude: left, resources: privacy, swiftSettings: librarySettings),
    .target(
      name: "FeatureRelay", dependencies: ["RelayJournal"], swiftSettings: librarySettings),
    .target(name: "RelayReactor", swiftSettings: librarySettings),
    // For test targets: it imports XCTest and Testing.
    .target(
      name: "RelayTesting", dependencies: ["FeatureRelay", "RelayJournal", "RelayReactor"],
      swiftSettings: librarySettings),
    // Its files about SwiftUI, UIKit and AppKit are empty where these are not: see Tests/ViewHarness.
    .target(
      name: "RelaySwiftUI", dependencies: ["FeatureRelay", "RelayReactor"],
      swiftSettings: librarySettings),
    .executableTarget(name: "relayctl", dependencies: ["RelayJournal"]),
    .executableTarget(name: "relay-demo", dependencies: ["FeatureRelay"]),
    // Races and threads: what the kit for users must not have, since it blocks.
    .target(
      name: "RaceSupport", dependencies: ["FeatureRelay", "RelayTesting"],
      path: "Tests/RaceSupport"),
    .target(
      name: "RepositorySearch", dependencies: ["FeatureRelay", "RelayReactor", "RelaySwiftUI"],
      path: "Tests/Samples/RepositorySearch"),
    .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
    .testTarget(
      name: "FeatureRelayTests",
      dependencies: ["FeatureRelay", "RelayJournal", "RaceSupport", "AllocationCounter"]),
    .testTarget(name: "RelayJournalTests", dependencies: ["RelayJournal", "RaceSupport"]),
    .testTarget(
      name: "RelayReactorTests",
      dependencies: ["RelayReactor", "FeatureRelay", "RaceSupport"]),
    .testTarget(
      name: "RelayTestingTests", dependencies: ["FeatureRelay", "RelayReactor", "RelayTesting"]),
    .testTarget(
      name: "RelaySwiftUITests",
      dependencies: ["RelaySwiftUI", "FeatureRelay", "RelayReactor", "RaceSupport"]),
    .testTarget(
      name: "RepositorySearchTests", dependencies: ["RepositorySearch", "RaceSupport"]),
    // What new Xcode projects start with: everything on the main actor unless it says otherwise.
    .testTarget(
      name: "MainActorDefaultTests",
      dependencies: ["FeatureRelay", "RelayReactor", "RelayTesting"],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .testTarget(name: "RelayCtlTests", dependencies: ["relayctl", "RelayJournal"]),
    .testTarget(name: "RelayDemoTests", dependencies: ["relay-demo"]),
  ],
  swiftLanguageModes: [.v6]
)
