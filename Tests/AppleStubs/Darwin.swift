// SPDX-License-Identifier: MIT
// swift-format-ignore-file

// Names and shapes are Apple's. The few declarations of the system's modules that the libraries use on Apple platforms and that
// are not there elsewhere, so that those lines are type-checked. Signatures after Apple's documentation; nothing is run.

@_exported import Foundation
@_exported import Glibc

public let CLOCK_MONOTONIC_RAW_APPROX: clockid_t = 5
public let F_FULLFSYNC: Int32 = 51
public let F_BARRIERFSYNC: Int32 = 85

public func clock_gettime_nsec_np(_ clock: clockid_t) -> UInt64 { 0 }

extension ProcessInfo {
  public func performExpiringActivity(
    withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
  ) {}
}

extension FileManager {
  public func containerURL(forSecurityApplicationGroupIdentifier identifier: String) -> URL? { nil }
}
