// SPDX-License-Identifier: MIT

import FeatureRelay

/// What a line asks for.
enum Instruction: Equatable {
  case dispatch(FeatureName, text: String, DispatchOptions)
  case ask(text: String, waitingAtMost: Duration?)
  case flood(Int, FeatureName)
  case show(FeatureName)
  case hide(FeatureName)
  case forget(FeatureName)
  case sheet(isOpen: Bool)
  case person(allows: Bool)
  case network(isUp: Bool)
  case background
  case active
  case login(user: String?)
  case logout(user: String?)
  case cancel(tag: String)
  case clear(FeatureName?)
  case reset
  case close
  case scope(String)
  case status
  case wait(Duration)
  case crash
  case help
}

/// What stands behind a command's text.
struct DispatchOptions: Equatable {
  var isFromBackground = false
  var priority: CommandPriority?
  var tags: [String] = []
  var unique: Uniqueness?
  var timeToLive: Duration?
  var isDurable = false

  /// The options in words, for the line that tells of the acceptance.
  var words: [String] {
    var words: [String] = []
    if isFromBackground { words.append("from a background thread") }
    if isDurable { words.append("durable") }
    if let priority { words.append("\(priority) priority") }
    if !tags.isEmpty { words.append("tagged \(tags.map { harmless($0) }.joined(separator: ", "))") }
    if let unique { words.append("unique \(quoted(unique.key))") }
    if let timeToLive { words.append("for at most \(seconds(timeToLive))") }
    return words
  }
}

/// The features of the demo's app, as scripts name them.
enum FeatureName: String, CaseIterable {
  case toast
  case navigation
  case mail
  case analytics
  case permission

  /// Those that commands are dispatched to; the others are asked.
  static let dispatchable = allCases.filter { $0 != .permission }
}
