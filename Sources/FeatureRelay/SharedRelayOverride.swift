// SPDX-License-Identifier: MIT

internal import Synchronization

/// Which relay `Relay.shared` is: the app's, or one that a test has put in its place.
///
/// One load answers a read of `Relay.shared`: the app's relay is published once it has been made,
/// unless this is a process in which a test may stand another one in. There every read asks here.
package enum SharedRelay {
  /// The current task's stand-in. It reaches inline code and child tasks, not detached tasks and
  /// dispatch queues.
  @TaskLocal package static var taskOverride: SharedRelayStandIn?

  private struct State {
    /// Stand-ins of the whole process, the newest last: for runners that run one test at a time.
    var processOverrides: [SharedRelayStandIn] = []
    /// Nothing is published any more.
    var isOverridable = false
    var isReported = false
  }

  // An object, for the reason that SharedRelay.swift gives.
  private final class Box: Sendable {
    let state: Lock<State>

    @inline(never)
    init(_ state: sending State) {
      self.state = Lock(state)
    }
  }

  private static let box = Box(State())

  /// The app's relay, once it has been made and as long as no test may stand another one in. Safe:
  /// the app's relay never goes.
  static let published = Atomic<Unmanaged<Relay>?>(nil)

  /// Lets every read of `Relay.shared` from now on ask for stand-ins.
  package static func becomeOverridable() {
    box.state.withLock { state in
      state.isOverridable = true
      published.store(nil, ordering: .releasing)
    }
  }

  /// Puts a relay in the place of `Relay.shared`, for all threads and tasks that have no stand-in
  /// of their own.
  package static func addProcessOverride(_ standIn: SharedRelayStandIn) {
    becomeOverridable()
    box.state.withLock { $0.processOverrides.append(standIn) }
  }

  /// Takes it away again.
  package static func removeProcessOverride(_ standIn: SharedRelayStandIn) {
    box.state.withLock { $0.processOverrides.removeAll { $0 === standIn } }
  }

  /// The relay that `Relay.shared` is where none is published.
  @inline(never)
  static func find(app: () -> Relay) -> Relay {
    let override = box.state.withLock { $0.processOverrides.last }
    if let relay = (taskOverride ?? override)?.relay { return relay }
    let relay = app()
    let reporter = TestProcess.reporter
    let isFirst = box.state.withLock { state in
      if reporter == nil, !state.isOverridable {
        published.store(.passUnretained(relay), ordering: .releasing)
      }
      defer { state.isReported = true }
      return !state.isReported
    }
    if let reporter {
      reporter.sharedRelayWasUsed()
    } else if isFirst, TestProcess.isCurrent {
      Platform.writeToStandardError(
        "FeatureRelay: a test used Relay.shared, which all tests of the process share: give the code under test a relay of its own, or see RelayTesting."
      )
    }
    return relay
  }
}

/// A relay in the place of `Relay.shared`, until another one takes it.
package final class SharedRelayStandIn: Sendable {
  private let state = Lock<Relay?>(nil)

  /// Makes one without a relay: nothing stands in yet.
  package init() {}

  /// The relay.
  package var relay: Relay? {
    get { state.withLock { $0 } }
    set {
      // What was there may go with it: not under the lock.
      let old = state.withLock { relay in
        defer { relay = newValue }
        return relay
      }
      withExtendedLifetime(old) {}
    }
  }
}

/// Told by the kit for tests, where it is linked, that a test used the app's own `Relay.shared`.
package protocol SharedRelayReporter: SendableMetatype {
  /// Called at every such read, on the thread that reads, with no lock held.
  static func sharedRelayWasUsed()
}

/// Whether tests run in this process.
enum TestProcess {
  static let isCurrent =
    Platform.environmentHas("XCTestConfigurationFilePath")
    || Platform.environmentHas("XCTestBundlePath")
    || CommandLine.arguments.first.map(isTestRunner) ?? false

  /// The kit's, looked up by name, since nothing here may depend on it.
  static let reporter: (any SharedRelayReporter.Type)? =
    isCurrent
    ? _typeByName("12RelayTesting17SharedRelayReportO") as? any SharedRelayReporter.Type : nil

  /// Whether a program with this path runs tests: a bundle of tests, or what loads one.
  static func isTestRunner(_ path: String) -> Bool {
    let name = path.split { $0 == "/" || $0 == "\\" }.last ?? ""
    return name.hasSuffix(".xctest") || path.contains(".xctest/") || name == "xctest"
      || name == "swiftpm-testing-helper"
  }
}
