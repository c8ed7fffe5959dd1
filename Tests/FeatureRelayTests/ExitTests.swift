// SPDX-License-Identifier: MIT

import FeatureRelay
import Testing

#if os(Linux) || os(macOS)

  // Mistakes in the source that the compiler cannot see end the process with a sentence that says
  // what to do.

  private protocol PlainFeature {}
  private protocol OtherFeature: RelayFeature {}
  private protocol BoundFeature: RelayFeature {}

  private struct StructHandler: PlainFeature {}
  private final class ClassHandler: PlainFeature, BoundFeature {
    nonisolated init() {}
  }

  private func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Suite struct ExitTests {
    @Test func structAsHandlerSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").register(StructHandler(), for: StructHandler.self)
      }
      #expect(
        message(result).contains(
          "StructHandler is neither a protocol nor a class: a relay holds handlers weakly"))
      #expect(message(result).contains("Make it a class, or dispatch to the protocol"))
    }

    @Test func optionalHandlerSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let handler: ClassHandler? = ClassHandler()
        Relay(scope: "exit").register(handler, for: ClassHandler?.self)
      }
      #expect(message(result).contains("Optional<ClassHandler> is an optional"))
      #expect(message(result).contains("unwrap the handler before registering it"))
    }

    @Test func optionalOfAProtocolSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").dispatch((any BoundFeature)?.self) { _ in }
      }
      #expect(message(result).contains("is an optional: unwrap the handler"))
    }

    @Test func protocolThatIsNotClassBoundSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").register(ClassHandler(), for: PlainFeature.self)
      }
      #expect(message(result).contains("the protocol PlainFeature is not class-bound"))
      #expect(message(result).contains("Let it inherit from RelayFeature"))
    }

    @Test func dispatchToAProtocolThatIsNotClassBoundSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").dispatch(PlainFeature.self) { _ in }
      }
      #expect(message(result).contains("Let it inherit from RelayFeature"))
    }

    @Test func numberAsFeatureSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").dispatch(Int.self) { _ in }
      }
      #expect(message(result).contains("Int is neither a protocol nor a class"))
    }

    @Test(arguments: ["", " ", "\t\n"])
    func blankScopeSaysWhatToDo(scope: String) async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [scope] in
        _ = Relay(scope: scope)
      }
      #expect(message(result).contains("it needs a name that people can tell it by"))
    }

    @Test func coordinatorThatDoesNotConformSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Relay(scope: "exit").register(ClassHandler(), for: BoundFeature.self, OtherFeature.self)
      }
      #expect(message(result).contains("ClassHandler does not conform to OtherFeature"))
      #expect(message(result).contains("let it conform, or leave the feature out"))
    }

    @Test func policyOfTheSourceThatMakesNoSenseSaysWhatToDo() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = CommandPolicy(limit: 0)
      }
      #expect(message(result).contains("limit is 0: it has to be from 1"))
    }

    @Test func rightUseDoesNotExit() async {
      await #expect(processExitsWith: .success) {
        let relay = Relay(scope: "exit")
        let handler = ClassHandler()
        relay.register(handler, for: BoundFeature.self)
        relay.dispatch(BoundFeature.self) { _ in }
      }
    }
  }

#endif
