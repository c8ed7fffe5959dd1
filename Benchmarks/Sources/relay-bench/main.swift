// SPDX-License-Identifier: MIT

import Foundation

let options: Options
do {
  options = try Options(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("relay-bench: \(error)\n\n\(Options.usage)\n".utf8))
  exit(64)
}
if options.showsHelp {
  print(Options.usage)
  exit(0)
}
do {
  exit(try await Suite(options: options).run())
} catch {
  FileHandle.standardError.write(Data("relay-bench: \(error)\n".utf8))
  exit(74)
}
