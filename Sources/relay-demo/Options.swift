// SPDX-License-Identifier: MIT

/// What the command line asks for.
struct Options: Equatable {
  /// Where the lines come from.
  enum Source: Equatable {
    case story
    case file(String)
    case standardInput
  }

  enum Action: Equatable {
    case play(Source)
    case help
  }

  var action = Action.play(.story)
  var isJSON = false
  /// The directory of the app's journal.
  var journal: String?

  /// Why a command line was not understood.
  struct Problem: Error, Equatable {
    let message: String
  }

  /// Reads the arguments, without the program's name.
  init(arguments: some Sequence<String>) throws(Problem) {
    var words: [String] = []
    var optionsAreOver = false
    var wantsHelp = false
    var wantsJournal = false
    for argument in arguments {
      switch argument {
      case _ where wantsJournal:
        journal = argument
        wantsJournal = false
      case _ where optionsAreOver: words.append(argument)
      case "--": optionsAreOver = true
      case "--json": isJSON = true
      case "--journal": wantsJournal = true
      case "--help", "-h": wantsHelp = true
      case "-": words.append(argument)
      case _ where argument.hasPrefix("-"):
        throw Problem(message: "unknown option \(quoted(argument))")
      default: words.append(argument)
      }
    }
    if wantsJournal || journal == "" {
      throw Problem(message: "--journal needs a DIR, which is made if it is not there")
    }
    if wantsHelp {
      action = .help
      return
    }
    guard let word = words.first else { return }
    switch word {
    case "help": action = .help
    case "run":
      guard words.count > 1 else {
        throw Problem(message: "run needs a FILE, or - for standard input")
      }
      guard words.count == 2 else {
        throw Problem(message: "run takes one FILE, found \(quoted(words[2])) after it")
      }
      // After "--" a single dash would be a file of that name; nobody means that.
      action = .play(words[1] == "-" ? .standardInput : .file(words[1]))
    default: throw Problem(message: "unknown word \(quoted(word)): expected run FILE, or nothing")
    }
  }
}

/// The exit statuses, those of sysexits.h where it has one.
enum ExitStatus: Int32 {
  case success = 0
  /// At least one line was not understood.
  case badLine = 1
  case usage = 64
  case noInput = 66
  case inputOutput = 74
}
