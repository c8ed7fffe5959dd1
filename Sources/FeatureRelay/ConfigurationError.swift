// SPDX-License-Identifier: MIT

/// A setting that makes no sense, with its field and value.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the setting.
  public let field: String
  /// Its value, as text.
  public let value: String
  /// What it has to be instead.
  public let requirement: String

  init(field: String, value: some Any, requirement: String) {
    self.field = field
    self.value = "\(value)"
    self.requirement = requirement
  }

  /// What is wrong, with which value, and what to do.
  public var description: String {
    "\(field) is \(value.isEmpty ? "empty" : value): \(requirement)."
  }
}

extension ConfigurationError {
  /// What all settings of queues have to keep to.
  static func require(limit: Int?, timeToLive: TimeToLive?) throws(ConfigurationError) {
    if let problem = check(limit: limit) ?? check(timeToLive: timeToLive) { throw problem }
  }

  static func check(limit: Int?, field: String = "limit") -> ConfigurationError? {
    guard let limit, limit < 1 || limit > Int(UInt32.max) / 2 else { return nil }
    return ConfigurationError(
      field: field, value: limit, requirement: "it has to be from 1 to 2,147,483,647")
  }

  static func check(timeToLive: TimeToLive?) -> ConfigurationError? {
    guard case .limited(let duration) = timeToLive, duration <= .zero else { return nil }
    return ConfigurationError(
      field: "timeToLive", value: duration,
      requirement: "it has to be above zero; for no limit say .unlimited")
  }

  static func check(executionLimit: Duration?) -> ConfigurationError? {
    guard let executionLimit, executionLimit <= .zero else { return nil }
    return ConfigurationError(
      field: "executionLimit", value: executionLimit,
      requirement: "it has to be above zero; for no limit leave it out")
  }

  static func check(scope: String) -> ConfigurationError? {
    guard scope.allSatisfy(\.isWhitespace) else { return nil }
    return ConfigurationError(
      field: "scope", value: scope, requirement: "it needs a name that people can tell it by")
  }
}
