// SPDX-License-Identifier: MIT

import Foundation

/// Plays a script in the terminal.
///
/// `main` is asynchronous on purpose: on Linux the main actor is then not the main thread, and
/// everything has to be delivered all the same.
@main
struct RelayDemo {
  static func main() async {
    exit(await run(CommandLine.arguments.dropFirst()).rawValue)
  }

  @MainActor
  private static func run(_ arguments: some Sequence<String>) async -> ExitStatus {
    let output = Output()
    do {
      let options = try Options(arguments: arguments)
      switch options.action {
      case .help:
        try output.write(Usage.text)
        return .success
      case .play(let source):
        return try await Player(isJSON: options.isJSON, journal: options.journal, output: output)
          .play(source)
      }
    } catch let problem as Options.Problem {
      output.complain("\(problem.message)\nTry relay-demo --help.")
      return .usage
    } catch let failure as Input.Failure {
      output.complain(failure.message)
      return .noInput
    } catch {
      output.complain("cannot write to standard output")
      return .inputOutput
    }
  }
}
