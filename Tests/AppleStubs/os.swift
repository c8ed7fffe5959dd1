// SPDX-License-Identifier: MIT
// swift-format-ignore-file

// Names and shapes are Apple's. The few declarations of the logging module that the library uses on Apple platforms, so that
// those lines are type-checked elsewhere. Signatures after Apple's documentation; nothing is run.

public struct OSLogPrivacy {
  public static var `public`: OSLogPrivacy { OSLogPrivacy() }
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
  public struct StringInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(
      _ string: @autoclosure @escaping () -> String, privacy: OSLogPrivacy
    ) {}
  }

  public init(stringInterpolation: StringInterpolation) {}
  public init(stringLiteral: String) {}
}

public typealias SignpostMetadata = OSLogMessage

public struct Logger {
  public init(subsystem: String, category: String) {}
  public func error(_ message: OSLogMessage) {}
  public func debug(_ message: OSLogMessage) {}
}

public struct OSSignpostID {
  public let rawValue: UInt64
  public init(_ value: UInt64) { rawValue = value }
}

public class OSSignpostIntervalState {
  public static func beginState(id: OSSignpostID) -> OSSignpostIntervalState {
    OSSignpostIntervalState()
  }
}

public struct OSSignposter {
  public init(subsystem: String, category: String) {}
  public func makeSignpostID() -> OSSignpostID { OSSignpostID(0) }
  public func beginInterval(_ name: StaticString, id: OSSignpostID, _ message: SignpostMetadata)
    -> OSSignpostIntervalState
  { OSSignpostIntervalState() }
  public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {}
}
