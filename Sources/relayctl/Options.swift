// SPDX-License-Identifier: MIT

/// What the command line asks for.
struct Options: Equatable {
  enum Word: String, CaseIterable {
    case inspect, verify, compact, export
  }

  enum Action: Equatable {
    case help
    case run(Word, directory: String)
  }

  var action = Action.help
  var isJSON = false
  var showsProgress = false
  /// Names of commands that the app knows; others are shown as parked. Nil if nobody said.
  var knownNames: Set<String>?

  /// Why a command line was not understood.
  struct Problem: Error, Equatable {
    let message: String
  }

  /// Reads the arguments, without the program's name.
  init(arguments: [String]) throws(Problem) {
    var words: [String] = []
    var rest = arguments[...]
    var optionsAreOver = false
    var wantsHelp = arguments.isEmpty
    while let argument = rest.popFirst() {
      switch argument {
      case _ where optionsAreOver: words.append(argument)
      case "--": optionsAreOver = true
      case "--help", "-h": wantsHelp = true
      case "--json": isJSON = true
      case "--progress": showsProgress = true
      case "--known":
        guard let names = rest.popFirst() else {
          throw Problem(message: "--known needs NAMES, separated by commas")
        }
        knownNames = (knownNames ?? []).union(names.split(separator: ",").map(String.init))
      case _ where argument.hasPrefix("-") && argument != "-":
        throw Problem(message: "unknown option \"\(argument)\"")
      default: words.append(argument)
      }
    }
    if wantsHelp || words == ["help"] { return }
    guard let first = words.first, let word = Word(rawValue: first) else {
      let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(
        message: words.isEmpty
          ? "expected one of \(all)" : "unknown word \"\(words[0])\": expected one of \(all)")
    }
    guard words.count == 2 else {
      throw Problem(
        message: words.count < 2
          ? "\(first) needs the DIRECTORY of a journal"
          : "\(first) takes one DIRECTORY, found \"\(words[2])\" after it")
    }
    if word == .export, !isJSON {
      throw Problem(message: "export needs --json, the only form there is")
    }
    action = .run(word, directory: words[1])
  }
}

/// The exit statuses, those of sysexits.h where it has one.
enum ExitStatus: Int32 {
  case success = 0
  /// Something in the journal is damaged.
  case damaged = 1
  case usage = 64
  /// Written by a newer version.
  case newer = 65
  /// No such directory, or no journal in it.
  case noInput = 66
  case inputOutput = 74
  /// Another process owns it: try again later.
  case locked = 75
  case notPermitted = 77
}
