// SPDX-License-Identifier: MIT

// The module that takes SwiftUI's place in the harness must not reach this package: a user's build
// on Linux would find views that nobody shows.
#if os(Linux) && canImport(SwiftUI)
  #error("There is a module named SwiftUI: it belongs to Tests/ViewHarness alone.")
#endif
