// SPDX-License-Identifier: MIT

/// What the command line asks for.
struct Options {
  var filter: String?
  var jsonFile: String?
  var svgFile: String?
  var isMarkdown = false
  var checks = false
  var countedOnly = false
  var lists = false
  var showsHelp = false
  var rounds = 41

  static let usage = """
    usage: relay-bench [options]

      --filter TEXT    only rows whose group/name contains the text, with what they are compared with
      --rounds N       rounds of each group, at least 9 (41)
      --markdown       the table as Markdown
      --json FILE      everything that was found, as JSON
      --svg FILE       a bar chart
      --check          measure a broken ratio up to three times; exit with 1 if a bound stays broken
      --counted        only what is counted (allocations, hops, instructions, bytes); exit with 1 if a bound is broken
      --list           the rows
      --help           this text
    """

  /// Reads the arguments.
  ///
  /// - Throws: ``Mistake`` that says what is wrong.
  init(_ arguments: [String]) throws(Mistake) {
    var rest = arguments[...]
    func value(_ option: String) throws(Mistake) -> String {
      guard let value = rest.popFirst(), !value.hasPrefix("--") else {
        throw Mistake(description: "\(option) needs a value")
      }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--filter": filter = try value(option)
      case "--json": jsonFile = try value(option)
      case "--svg": svgFile = try value(option)
      case "--rounds":
        let text = try value(option)
        guard let number = Int(text), number >= 9 else {
          throw Mistake(description: "--rounds needs a number from 9 on, not \"\(text)\"")
        }
        rounds = number
      case "--markdown": isMarkdown = true
      case "--check": checks = true
      case "--counted": countedOnly = true
      case "--list": lists = true
      case "--help", "-h": showsHelp = true
      default: throw Mistake(description: "unknown option \"\(option)\"")
      }
    }
  }

  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }
}
