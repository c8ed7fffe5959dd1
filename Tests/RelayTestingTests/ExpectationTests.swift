// SPDX-License-Identifier: MIT

import FeatureRelay
import RelayTesting
import Testing

/// What expectations accept, and what they say when they fail.
@Suite(.relay) @MainActor
struct ExpectationTests {
  let relay = Relay.shared
  var recorder: RelayRecorder { relay.recorder }

  private struct Failure: Error {}

  private func logIn() {
    relay.register(MockToast(), for: ToastFeature.self)
    relay.dispatch(ShowToast(message: "Welcome back!"))
    relay.dispatch(OpenScreen(name: "home"), tags: [.user(42)])
    relay.dispatch(ToastFeature.self) { $0.show("closure") }
  }

  private static let table = """
    Dispatched:
      1  ToastFeature       ShowToast(message: "Welcome back!")  normal         delivered
      2  NavigationFeature  OpenScreen(name: "home")             high #user-42  waiting
      3  ToastFeature       closure                              normal         delivered
    """

  @Test func whatIsMetSaysNothing() {
    logIn()
    let texts = failures {
      recorder.expectDispatched(ShowToast(message: "Welcome back!"))
      recorder.expectDispatched(ShowToast(message: "Welcome back!"), times: 1)
      recorder.expectDispatched(ShowToast.self)
      recorder.expectDispatched(ToastFeature.self, times: 2)
      recorder.expectDispatched(ShowToast.self) { $0.message.hasPrefix("Welcome") }
      recorder.expectDispatched(
        inOrder: .any(ShowToast.self), .command(OpenScreen(name: "home")),
        .closure(for: ToastFeature.self))
      recorder.expectWaiting(.any(NavigationFeature.self), times: 1)
      recorder.expectNoDispatch(of: .command(ShowToast(message: "Welcome")))
      recorder.expectNothingElse()
    }
    #expect(texts == [])
  }

  @Test func aCommandThatWasNotDispatchedIsShownWithTheNearestOne() {
    logIn()
    let texts = failures { recorder.expectDispatched(ShowToast(message: "Welcome")) }
    #expect(
      texts == [
        """
        No ShowToast(message: "Welcome") was dispatched.
          wanted:  ShowToast(message: "Welcome")
          nearest: ShowToast(message: "Welcome back!")
                                              ^
        """ + "\n" + Self.table
      ])
    #expect(texts.allSatisfy(Article.text.contains))
  }

  @Test func anotherNumberOfTimesIsSaid() {
    logIn()
    let texts = failures { recorder.expectDispatched(ToastFeature.self, times: 3) }
    #expect(
      texts == [
        """
        ToastFeature was dispatched 2 times, not 3.
        Dispatched:
        > 1  ToastFeature       ShowToast(message: "Welcome back!")  normal         delivered
          2  NavigationFeature  OpenScreen(name: "home")             high #user-42  waiting
        > 3  ToastFeature       closure                              normal         delivered
        """
      ])
  }

  @Test func aPredicateThatNoCommandMeetsShowsTheLastOfItsType() {
    logIn()
    let texts = failures { recorder.expectDispatched(ShowToast.self) { $0.message.isEmpty } }
    #expect(
      texts == [
        """
        No ShowToast as described by the closure was dispatched.
          nearest: 1  ShowToast(message: "Welcome back!")
        """ + "\n" + Self.table
      ])
  }

  @Test func anotherOrderShowsWhatCameTooEarly() {
    logIn()
    let texts = failures {
      recorder.expectDispatched(inOrder: .any(OpenScreen.self), .any(ShowToast.self))
    }
    #expect(
      texts == [
        """
        These were to be dispatched in this order; 2 was not:
          1  OpenScreen  (2 below)
          2  ShowToast
          1 below came too early.
        Dispatched:
          1  ToastFeature       ShowToast(message: "Welcome back!")  normal         delivered
        > 2  NavigationFeature  OpenScreen(name: "home")             high #user-42  waiting
          3  ToastFeature       closure                              normal         delivered
        """
      ])
    #expect(texts.allSatisfy(Article.text.contains))
  }

  @Test func whatWasDeliveredDoesNotWait() {
    logIn()
    let texts = failures { recorder.expectWaiting(.any(ShowToast.self)) }
    #expect(texts.count == 1 && texts[0].hasPrefix("No ShowToast waits.\nDispatched:\n> 1  "))
  }

  @Test func whatWasDroppedHasAReason() throws {
    relay.dispatch(ShowToast(message: "gone"), timeToLive: .seconds(1))
    relay.dispatch(ShowToast(message: "cleared"))
    relay.manualClock.advance(by: .seconds(2))
    relay.dispatch(ShowToast(message: "later"))
    relay.clearQueue()
    #expect(
      recorder.dropped.map(\.outcome.description) == ["dropped (expired)"]
        + Array(repeating: "dropped (cleared)", count: 2))
    let texts = failures {
      recorder.expectDropped(.command(ShowToast(message: "gone")), because: .expired)
      recorder.expectDropped(.any(ShowToast.self), times: 3)
      recorder.expectDropped(.command(ShowToast(message: "cleared")), because: .overflow)
    }
    #expect(
      texts == [
        """
        No ShowToast(message: "cleared") was dropped (overflow).
        Dispatched:
          1  ToastFeature  ShowToast(message: "gone")     normal  dropped (expired)
        > 2  ToastFeature  ShowToast(message: "cleared")  normal  dropped (cleared)
          3  ToastFeature  ShowToast(message: "later")    normal  dropped (cleared)
        """
      ])
    #expect(texts.allSatisfy(Article.text.contains))
  }

  @Test func whatNoExpectationSpokeOfIsMarked() {
    logIn()
    let texts = failures {
      recorder.expectDispatched(OpenScreen.self)
      recorder.expectNothingElse()
    }
    #expect(
      texts == [
        """
        Nothing else was to be dispatched; no expectation spoke of those marked.
        Dispatched:
        > 1  ToastFeature       ShowToast(message: "Welcome back!")  normal         delivered
          2  NavigationFeature  OpenScreen(name: "home")             high #user-42  waiting
        > 3  ToastFeature       closure                              normal         delivered
        """
      ])
  }

  @Test func aLongListIsCut() {
    for number in 1...40 { relay.dispatch(ShowToast(message: "\(number)")) }
    let texts = failures { recorder.expectNoDispatch(of: .any(ShowToast.self)) }
    #expect(texts[0].hasPrefix("ShowToast was dispatched 40 times, not 0."))
    #expect(texts[0].hasSuffix("\n  … and 10 more"))
  }
}

/// "Nothing was dispatched" is proven, without waiting.
@Suite(.relay) @MainActor
struct AbsenceTests {
  let relay = Relay.shared

  private struct Failure: Error {}

  private var texts: [String] { failures { relay.recorder.expectNoDispatch() } }

  @Test func nothingIsNothing() async {
    #expect(texts == [])
    await relay.waitUntilIdle()
    #expect(texts == [])
  }

  @Test func aWaitingCommandIsSomething() {
    relay.dispatch(ShowToast(message: "x"))
    #expect(
      texts == [
        """
        Nothing was to be dispatched.
        In the relay 1 wait and 0 run.
        Dispatched:
          1  ToastFeature  ShowToast(message: "x")  normal  waiting
        """
      ])
    #expect(texts.allSatisfy(Article.text.contains))
  }

  @Test func aDeliveredCommandIsSomething() {
    relay.register(MockToast(), for: ToastFeature.self)
    relay.dispatch(ShowToast(message: "x"))
    #expect(texts.count == 1 && texts[0].contains("delivered"))
  }

  @Test func aRunningCommandIsSomething() async {
    let latch = Latch()
    relay.register(MockToast(), for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { _ in await latch.wait() }
    await latch.arrival()
    #expect(texts.count == 1 && texts[0].contains("In the relay 0 wait and 1 run."))
    latch.open()
    await relay.waitUntilIdle()
    #expect(texts[0].contains("asynchronous closure  normal  delivered"))
  }

  @Test func aCommandThatIsDueToBeTriedAgainIsSomething() throws {
    let relay = Relay.testing(
      configuration: try RelayConfiguration(retry: .later(.constant(.seconds(5), attempts: 3))))
    relay.register(MockToast(), for: ToastFeature.self)
    relay.dispatch(ToastFeature.self) { _ in throw Failure() }
    let texts = failures { relay.recorder.expectNoDispatch() }
    #expect(texts.count == 1 && texts[0].contains("waiting for its retry after"))
    #expect(relay.recorder.last?.errors.count == 1)
    relay.manualClock.advanceToNextDeadline()
  }

  @Test func whatRunsOrIsDueToBeTriedAgainSinceBeforeTheRecorderIsSomething() async throws {
    let relay = Relay(
      scope: "plain",
      configuration: try RelayConfiguration(
        retry: .later(.constant(.seconds(5), attempts: 3)), clock: ManualClock().relayClock))
    let toast = MockToast()
    relay.register(toast, for: ToastFeature.self)
    let latch = Latch()
    relay.dispatch(ToastFeature.self) { _ in await latch.wait() }
    await latch.arrival()
    let running = failures { RelayRecorder(relay).expectNoDispatch() }
    #expect(running.count == 1 && running[0].contains("In the relay 0 wait and 1 run."))
    latch.open()
    await relay.waitUntilIdle()
    relay.dispatch(ToastFeature.self) { _ in throw Failure() }
    let due = failures { RelayRecorder(relay).expectNoDispatch() }
    #expect(due.count == 1 && due[0].contains("In the relay 1 wait and 0 run."))
    relay.clearQueue()
    #expect(failures { RelayRecorder(relay).expectNoDispatch() } == [])
  }

  @Test func whatWaitedBeforeTheRecorderCameIsSomething() {
    let relay = Relay(scope: "plain")
    relay.dispatch(ShowToast(message: "early"))
    let recorder = RelayRecorder(relay)
    let texts = failures { recorder.expectNoDispatch() }
    #expect(
      texts == [
        "Nothing was to be dispatched.\nIn the relay 1 wait and 0 run.\nDispatched: nothing"
      ])
  }
}
