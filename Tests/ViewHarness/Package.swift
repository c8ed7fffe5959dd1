// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT
import PackageDescription

// SwiftUI exists on Apple systems only. This package has a small module of that name, which
// declares what Sources/RelaySwiftUI and the sample use, and a host that plays the system. Nothing
// of it is seen by those who depend on FeatureRelay.

// As in the library's own manifest.
let librarySettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let relay = Target.Dependency.product(name: "FeatureRelay", package: "FeatureRelay")
let reactor = Target.Dependency.product(name: "RelayReactor", package: "FeatureRelay")
let testing = Target.Dependency.product(name: "RelayTesting", package: "FeatureRelay")

let package = Package(
  name: "ViewHarness",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FeatureRelay", path: "../..")],
  targets: [
    .target(name: "SwiftUI"),
    .target(name: "ViewHost", dependencies: ["SwiftUI"]),
    // Sources/RelaySwiftUI, by a symbolic link.
    .target(
      name: "RelayViews", dependencies: ["SwiftUI", relay, reactor],
      swiftSettings: librarySettings),
    .target(name: "HarnessSupport", dependencies: [testing]),
    .target(name: "SampleApp", dependencies: ["RelayViews", "SwiftUI", relay]),
    // Tests/Samples/RepositorySearch, by a symbolic link.
    .target(
      name: "RepositorySearchViews", dependencies: ["RelayViews", "SwiftUI", relay, reactor]),
    .testTarget(
      name: "SampleAppTests",
      dependencies: [
        "SampleApp", "RelayViews", "HarnessSupport", "SwiftUI", "ViewHost", relay,
      ]),
    .testTarget(
      name: "RelayViewsTests",
      dependencies: [
        "RelayViews", "RepositorySearchViews", "HarnessSupport", "SwiftUI", "ViewHost", relay,
        reactor,
      ]),
    // What new Xcode projects start with.
    .testTarget(
      name: "MainActorViewsTests", dependencies: ["RelayViews", "SwiftUI", "ViewHost", relay],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .testTarget(name: "SwiftUITests", dependencies: ["SwiftUI", "ViewHost"]),
  ],
  swiftLanguageModes: [.v6]
)
