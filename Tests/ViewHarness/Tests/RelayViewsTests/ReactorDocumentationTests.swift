// SPDX-License-Identifier: MIT

import RelayReactor
import RelayViews
import SwiftUI
import Testing
import ViewHost

@testable import RepositorySearchViews

// The code of the article about reactors.

struct CounterView: View {
  @Environment(CounterReactor.self) private var reactor

  var body: some View {
    Text("\(reactor.count)")
    if reactor.isRunning(.work) { Text("working") }
    Button("Add") { reactor.action(.add) }
  }
}

struct OptionsView: View {
  @Environment(CounterReactor.self) private var reactor
  @ActionBinding(CounterReactor.self, keyPath: \.name, action: CounterReactor.SyncAction.rename)
  private var name: String
  @ActionBinding(CounterReactor.self, keyPath: \.isOn, action: .flip) private var isOn: Bool

  var body: some View {
    TextField("Name", text: $name)
    Toggle("On", isOn: $isOn)
    TextField("Note", text: reactor.bind(\.note, action: { .write($0) }))
    TextField("Title", text: reactor.bind(\.title))
  }
}

@MainActor
struct ReactorDocumentationTests {
  @Test func theViewsOfTheArticleWork() async {
    let world = World()
    let host = ViewHost {
      ReactorView(world.make()) {
        CounterView()
        OptionsView()
      }
    }
    host.tap("Add")
    host.write("a", into: "Name")
    host.write("b", into: "Note")
    host.write("c", into: "Title")
    host.toggle("On")
    await world.settle(host)
    let state = world.reactor?.state
    #expect(host.shows("1"))
    #expect(state?.name == "a" && state?.note == "b" && state?.form.title == "c")
    #expect(state?.isOn == true)
  }
}
