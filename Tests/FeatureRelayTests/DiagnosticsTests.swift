// SPDX-License-Identifier: MIT

import Foundation
import Testing

#if os(Linux) || os(macOS)

  // What must not compile, shown by running the compiler, and what must compile without a warning.

  private let prelude = """
    import FeatureRelay
    protocol ToastFeature: RelayFeature { func show(_ message: String) }
    protocol OtherFeature: RelayFeature {}
    final class Toasts: ToastFeature {
      func show(_ message: String) {}
      func count() -> Int { 1 }
    }
    final class Stranger: Sendable {}
    final class Payload { var text = "" }

    """

  /// A mistake, and what the compiler says about it.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let name: String
    let code: String
    let error: String
    var testDescription: String { name }

    static let all = [
      Mistake(
        name: "a payload that is not sendable",
        code: """
          func send(_ relay: Relay, _ payload: Payload) {
            relay.dispatch(ToastFeature.self) { $0.show(payload.text) }
            payload.text = "changed"
          }
          """, error: "sending 'payload' risks causing data races"),
      Mistake(
        name: "a variable that is captured and changed",
        code: """
          func send(_ relay: Relay) {
            var count = 0
            relay.dispatch(ToastFeature.self) { toast in
              count += 1
              toast.show("")
            }
            print(count)
          }
          """, error: "sending 'count' risks causing data races"),
      Mistake(
        name: "a typed command with a payload that is not sendable",
        code: """
          struct Show: RelayCommand {
            var payload: Payload
            func execute(on toast: any ToastFeature) {}
          }
          """,
        error: "'Sendable'-conforming struct 'Show' has non-Sendable type 'Payload'"),
      Mistake(
        name: "a handler that does not conform",
        code: """
          func start(_ relay: Relay) { relay.register(Stranger(), for: ToastFeature.self) }
          """, error: "'Stranger' does not conform to expected type 'ToastFeature'"),
      Mistake(
        name: "a handler that is a struct",
        code: "struct Shower: ToastFeature { func show(_ message: String) {} }",
        error: "non-class type 'Shower' cannot conform to class protocol 'ToastFeature'"),
      Mistake(
        name: "a coordinator that is not sendable",
        code: """
          @MainActor func start(_ relay: Relay, _ payload: Payload) {
            relay.register(payload, for: ToastFeature.self, OtherFeature.self)
          }
          """, error: "type 'Payload' does not conform to the 'Sendable' protocol"),
      Mistake(
        name: "a command for another feature than the one it uses",
        code: """
          struct Show: RelayCommand { func execute(on other: any OtherFeature) { other.show("") } }
          """, error: "value of type 'any OtherFeature' has no member 'show'"),
      Mistake(
        name: "a command that names another feature than it executes on",
        code: """
          struct Show: RelayCommand {
            typealias Feature = any OtherFeature
            func execute(on toast: any ToastFeature) {}
          }
          """, error: "type 'Show' does not conform to protocol 'RelayCommand'"),
      Mistake(
        name: "a command whose work is asynchronous without saying so",
        code: "struct Load: RelayCommand { func execute(on toast: any ToastFeature) async {} }",
        error: "type 'Load' does not conform to protocol 'RelayCommand'"),
      Mistake(
        name: "something that is no command",
        code: "func send(_ relay: Relay) { relay.dispatch(42) }",
        error: "no exact matches in call to instance method 'dispatch'"),
      Mistake(
        name: "a method that the feature does not have",
        code: "func send(_ relay: Relay) { relay.dispatch(ToastFeature.self) { $0.hide() } }",
        error: "value of type 'any ToastFeature' has no member 'hide'"),
      Mistake(
        name: "an owner that is not sendable",
        code: """
          func send(_ relay: Relay, _ owner: Payload) {
            relay.dispatch(ToastFeature.self, owner: owner) { toast, _ in toast.show("") }
          }
          """, error: "type 'Payload' does not conform to the 'Sendable' protocol"),
      Mistake(
        name: "an answer that is not sendable, asked for off the main actor",
        code: """
          func ask(_ relay: Relay) async throws {
            _ = try await relay.request(ToastFeature.self) { _ in Payload() }
          }
          """, error: "non-Sendable 'Payload'-typed result can not be returned"),
      Mistake(
        name: "a handler that is called past the relay, off the main actor",
        code: "func send(_ toast: any ToastFeature) { toast.show(\"\") }",
        error: "call to main actor-isolated instance method 'show'"),
    ]
  }

  @Suite struct DiagnosticsTests {
    @Test(arguments: Mistake.all)
    func mistakeDoesNotCompile(_ mistake: Mistake) throws {
      let (status, output) = try compile(prelude + mistake.code)
      #expect(status != 0, "It compiled.")
      #expect(output.contains(mistake.error), "The compiler said:\n\(output)")
    }

    @Test func rightUseCompilesWithTheSameFlagsAndWithoutAWarning() throws {
      let code = """
        struct Show: RelayCommand, Codable, Equatable {
          var message: String
          func execute(on toast: any ToastFeature) { toast.show(message) }
        }
        func send(_ relay: Relay, _ text: String) async throws {
          relay.dispatch(ToastFeature.self) { $0.show(text) }
          relay.dispatch(Toasts.self) { $0.count() }
          relay.dispatch(Toasts.self) { toasts in toasts.count() }
          relay.dispatch(Show(message: text), tags: ["tag"])
          let count = try await relay.request(Toasts.self) { $0.count() }
          print(count)
        }
        @MainActor func start(_ relay: Relay, _ payload: Payload) {
          let toasts = Toasts()
          relay.register(toasts, for: ToastFeature.self)
          relay.dispatch(Toasts.self) { $0.count() }
          // On the main actor a payload need not be sendable: it stays there.
          relay.dispatch(ToastFeature.self) { $0.show(payload.text) }
          relay.dispatch(ToastFeature.self, owner: toasts) { toast, owner in owner.count() }
        }
        """
      let (status, output) = try compile(prelude + code)
      #expect(status == 0)
      #expect(output == "")
    }

    /// Compiles far enough for every check, data races included, against the modules that this test
    /// was built with.
    private func compile(_ code: String) throws -> (status: Int32, output: String) {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("relay-diagnostics-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("usage.swift")
      try code.write(to: file, atomically: true, encoding: .utf8)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-I", Self.modules.path,
        "-module-cache-path",
        Self.modules.deletingLastPathComponent().appendingPathComponent("ModuleCache").path,
        file.path,
      ]
      let output = Pipe()
      process.standardError = output
      process.standardOutput = output
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Where the build put its modules: beside the bundle of the tests.
    private static var modules: URL {
      #if os(macOS)
        let folder = Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
      #else
        let folder = Bundle.main.bundleURL
      #endif
      return folder.appendingPathComponent("Modules")
    }

    private final class Anchor {}
  }

#endif
