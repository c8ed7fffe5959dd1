// SPDX-License-Identifier: MIT

import Dispatch
import HarnessSupport
import Observation
import RelayReactor
import RelayViews
import SwiftUI
import Testing
import ViewHost

@MainActor
struct ReactorViewTests {
  let world = World()

  struct Counter: View {
    @Environment(CounterReactor.self) private var reactor
    @ActionBinding(CounterReactor.self, keyPath: \.name, action: CounterReactor.SyncAction.rename)
    private var name: String
    @ActionBinding(CounterReactor.self, keyPath: \.isOn, action: .flip) private var isOn: Bool
    @ActionBinding(CounterReactor.self, keyPath: \.note, action: CounterReactor.Action.write)
    private var note: String
    @ActionBinding(CounterReactor.self, keyPath: \.isLit, action: .light) private var isLit: Bool

    var body: some View {
      Text("count \(reactor.count), \(name), \(isOn), \(note), \(isLit)")
      if reactor.isRunning(.work) { Text("working") }
      Button("Add") { reactor.action(.add) }
      Button("Work") { reactor.action(.work) }
      TextField("Name", text: $name)
      TextField("Note", text: $note)
      TextField("Title", text: reactor.bind(\.title))
      TextField("Other name", text: reactor.bind(\.name, action: { .rename($0) }))
      TextField("Other note", text: reactor.bind(\.note, action: { .write($0) }))
      Toggle("On", isOn: $isOn)
      Toggle("Also on", isOn: reactor.bind(\.isOn, action: .flip))
      Toggle("Light", isOn: $isLit)
      Toggle("Also light", isOn: reactor.bind(\.isLit, action: .light))
    }
  }

  struct Screen: View {
    let world: World
    var definesLifecycle = true

    var body: some View {
      if world.isShown {
        Text("round \(world.round)")
        ReactorView(world.make(), definesLifecycle: definesLifecycle) { Counter() }
      }
    }
  }

  @Test(arguments: ["Name", "Other name"])
  func whatIsTypedComesAfterWhatWasSentElsewhereBefore(field: String) async throws {
    let host = ViewHost { Screen(world: world) }
    let reactor = try #require(world.reactor)
    // Another thread has sent, and this turn of the main actor goes on.
    DispatchQueue.global().sync { reactor.send(.rename("elsewhere"), isolation: nil) }
    host.write("typed", into: field)
    await world.settle(host)
    #expect(reactor.name == "typed")
  }

  @Test func aViewReadsTheStateAndSends() async {
    let host = ViewHost { Screen(world: world) }
    #expect(host.shows("count 0, , false, , false"))
    host.tap("Add")
    await world.settle(host)
    #expect(host.shows("count 1, , false, , false"))
  }

  @Test func theReactorIsMadeOnceHoweverOftenBodiesAreEvaluated() async {
    let host = ViewHost { Screen(world: world) }
    host.tap("Add")
    await world.settle(host)
    for _ in 0..<10 {
      world.round += 1
      host.update()
    }
    #expect(host.shows("round 10"))
    #expect(world.made == 1)
    #expect(host.shows("count 1, , false, , false"))
  }

  @Test func controlsAreBoundToActions() async {
    let host = ViewHost { Screen(world: world) }
    // Synchronous ones have been handled at once.
    host.write("a", into: "Name")
    #expect(host.shows("count 0, a, false, , false"))
    host.write("b", into: "Other name")
    host.toggle("On")
    #expect(host.shows("count 0, b, true, , false"))
    host.toggle("Also on")
    #expect(host.shows("count 0, b, false, , false"))
    // Others in a later turn.
    host.write("c", into: "Note")
    host.toggle("Light")
    #expect(host.shows("count 0, b, false, , false"))
    await world.settle(host)
    #expect(host.shows("count 0, b, false, c, true"))
    host.write("d", into: "Other note")
    host.toggle("Also light")
    await world.settle(host)
    #expect(host.shows("count 0, b, false, d, false"))
  }

  @Test func aPartOfTheStateCanBeBoundPlainly() {
    let host = ViewHost { Screen(world: world) }
    host.write("a title", into: "Title")
    #expect(world.reactor?.state.form.title == "a title")
  }

  @Test func whatRunsIsShown() async {
    let host = ViewHost { Screen(world: world) }
    host.tap("Work")
    #expect(host.shows("working"))
    await world.latch.arrival()
    world.latch.open()
    await world.settle(host)
    #expect(!host.shows("working"))
  }

  @Test func aViewIsNotEvaluatedForWhatItDoesNotRead() async {
    struct CountOnly: View {
      @Environment(CounterReactor.self) private var reactor
      var body: some View { Text("count \(reactor.count)") }
    }
    let host = ViewHost { ReactorView(world.make()) { CountOnly() } }
    let before = host.evaluations(of: CountOnly.self)
    world.reactor?.send(.rename("a"))
    host.update()
    #expect(host.evaluations(of: CountOnly.self) == before)
    world.reactor?.send(.add)
    await world.settle(host)
    #expect(host.evaluations(of: CountOnly.self) == before + 1)
    #expect(host.shows("count 1"))
  }

  @Test func theLifeEndsWhenTheViewGoesAlsoWithoutADisappear() async {
    let host = ViewHost { Screen(world: world) }
    host.manners.times = { _ in 0 }
    host.tap("Work")
    await world.latch.arrival()
    let states = world.reactor!.states
    world.isShown = false
    host.update()
    world.latch.open()
    // What runs on does not change what was seen last.
    var counts: [Int] = []
    for await state in states { counts.append(state.count) }
    #expect(counts.last == 0)
    await world.ended.wait()
    #expect(world.reactor == nil)
  }

  @Test func aViewThatOnlyKeepsAReactorDoesNotEndIt() async {
    let reactor = world.make()
    let host = ViewHost {
      if world.isShown {
        ReactorView(reactor, definesLifecycle: false) { Counter() }
      }
    }
    world.isShown = false
    host.update()
    #expect(!reactor.hasEnded)
    reactor.send(.add)
    await reactor.waitUntilIdle()
    #expect(reactor.count == 1)
  }

  @Test func anotherIdentityHasAnotherReactor() async {
    struct Two: View {
      let world: World
      var body: some View {
        ReactorView(world.make()) { Counter() }.id(world.round)
      }
    }
    let host = ViewHost { Two(world: world) }
    host.tap("Add")
    await world.settle(host)
    world.round += 1
    host.update()
    #expect(host.shows("count 0, , false, , false"))
    #expect(world.made == 2)
  }

  @Test func theContentCanBeMadeWithTheReactor() {
    let host = ViewHost {
      ReactorView(world.make()) { reactor in Text("made with \(reactor.count)") }
    }
    #expect(host.shows("made with 0"))
  }
}

/// What is around the views.
@MainActor @Observable
final class World {
  var isShown = true
  var round = 0
  @ObservationIgnored let latch = Latch()
  @ObservationIgnored var made = 0
  @ObservationIgnored let ended = Latch()
  @ObservationIgnored weak var reactor: CounterReactor?

  func make() -> CounterReactor {
    made += 1
    let new = CounterReactor(latch, ended)
    reactor = new
    return new
  }

  /// Lets the reactor finish what was sent, and the host show it.
  func settle(_ host: ViewHost) async {
    await reactor?.waitUntilIdle()
    host.update()
  }
}

final class CounterReactor: BindableReactor {
  struct State {
    struct Form { var title = "" }
    var count = 0
    var name = ""
    var isOn = false
    var note = ""
    var isLit = false
    var form = Form()
  }

  enum Action: Sendable { case add, work, write(String), light }
  enum SyncAction: Sendable { case rename(String), flip }

  static let editable: WritableKeyPath<State, State.Form> = \.form
  let container = StateContainer(State())
  @ReactorState private(set) var state: State
  private let latch: Latch
  private let ended: Latch

  init(_ latch: Latch, _ ended: Latch) {
    self.latch = latch
    self.ended = ended
  }

  deinit { ended.open() }

  func action(_ action: SyncAction) {
    switch action {
    case .rename(let name): state.name = name
    case .flip: state.isOn.toggle()
    }
  }

  func action(_ action: Action) async {
    switch action {
    case .add: state.count += 1
    case .work:
      await latch.wait()
      state.count = 100
    case .write(let note): state.note = note
    case .light: state.isLit.toggle()
    }
  }
}
