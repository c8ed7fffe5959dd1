// SPDX-License-Identifier: MIT

import Observation
import SwiftUI
import Testing
import ViewHost

/// The host gives views identity, state and evaluation as SwiftUI documents it.
@MainActor
struct ViewHostTests {
  @MainActor @Observable final class Model {
    var isFirst = true
    var number = 1
    var names = ["a", "b"]
    var title = "one"
    var other = 1
  }

  struct Counter: View {
    @State private var count = 0

    var body: some View {
      VStack {
        Text("count \(count)")
        Button("More") { count += 1 }
      }
    }
  }

  @Test func aStateLivesAsLongAsItsIdentity() {
    let host = ViewHost { Counter() }
    #expect(host.texts == ["count 0", "More"])
    host.tap("More")
    host.tap("More")
    #expect(host.shows("count 2"))
    host.dropState(of: Counter.self)
    #expect(host.shows("count 0"))
  }

  @Test func anotherBranchAnotherIdOrAnotherTypeIsAnotherIdentity() {
    struct Screen: View {
      let model: Model

      var body: some View {
        if model.isFirst {
          Counter()
        } else {
          Counter()
        }
        Counter().id(model.number)
      }
    }
    let model = Model()
    let host = ViewHost { Screen(model: model) }
    host.tap("More")
    #expect(host.texts.filter { $0 != "More" } == ["count 0", "count 1"])
    model.isFirst = false
    host.update()
    #expect(host.texts.filter { $0 != "More" } == ["count 0", "count 1"])
    model.number = 2
    host.update()
    #expect(host.texts.filter { $0 != "More" } == ["count 0", "count 0"])
  }

  @Test func elementsKeepTheirStateWhenTheyMove() {
    struct Row: View {
      let name: String
      @State private var first = ""

      var body: some View { Text("\(name) \(first)").onAppear { first = name } }
    }
    struct Screen: View {
      let model: Model
      var body: some View { List(model.names, id: \.self) { Row(name: $0) } }
    }
    let model = Model()
    let host = ViewHost { Screen(model: model) }
    model.names = ["c", "b", "a"]
    host.update()
    #expect(host.texts == ["c c", "b b", "a a"])
    #expect(host.told.count == 3)
  }

  @Test func onlyWhoReadsAStateIsEvaluatedWhenItChanges() {
    struct Child: View {
      @Binding var text: String
      var body: some View { TextField("Name", text: $text) }
    }
    struct Reader: View {
      @Binding var text: String
      var body: some View { Text(text) }
    }
    struct Parent: View {
      @State private var text = "a"

      var body: some View {
        Child(text: $text)
        Reader(text: $text)
      }
    }
    let host = ViewHost { Parent() }
    host.write("b", into: "Name")
    #expect(host.texts == ["b"])
    #expect(host.evaluations(of: Reader.self) == 2)
    #expect(host.evaluations(of: Parent.self) == 1)
  }

  @Test func anObservedObjectIsReadThroughTheEnvironment() {
    struct Screen: View {
      @Environment(Model.self) private var model
      @Environment(\.isEnabled) private var isEnabled

      var body: some View {
        @Bindable var model = model
        Text("\(model.title) \(isEnabled)")
        TextField("Title", text: $model.title)
      }
    }
    let model = Model()
    let host = ViewHost { Screen().disabled(true).environment(model) }
    #expect(host.texts == ["one false"])
    host.write("two", into: "Title")
    #expect(host.texts == ["two false"])
    model.other = 2
    host.update()
    #expect(host.evaluations(of: Screen.self) == 2)
  }

  @Test func aDynamicPropertyIsUpdatedBeforeEachBody() {
    @propertyWrapper struct Doubled: DynamicProperty {
      @State private var stored = 1
      private var doubled = 0
      var wrappedValue: Int {
        get { doubled }
        nonmutating set { stored = newValue }
      }
      mutating func update() { doubled = stored * 2 }
    }
    struct Screen: View {
      @Doubled private var number
      var body: some View {
        Text("\(number)")
        Button("Set") { number = 21 }
      }
    }
    let host = ViewHost { Screen() }
    #expect(host.texts == ["2", "Set"])
    host.tap("Set")
    #expect(host.texts == ["42", "Set"])
  }

  @Test func bindingsFollowTheirSource() {
    struct Form {
      var name = "a"
      var isOn = false
    }
    struct Screen: View {
      @State private var form = Form()
      @State private var optional: String?

      var body: some View {
        TextField("Name", text: $form.name)
        Toggle("On", isOn: Binding(get: { form.isOn }, set: { form.isOn = $0 }))
        TextField("Fixed", text: .constant("x"))
        Text("\(form.name) \(form.isOn) \(optional ?? "none")")
      }
    }
    let host = ViewHost { Screen() }
    host.write("b", into: "Name")
    host.toggle("On")
    host.write("y", into: "Fixed")
    #expect(host.texts.last == "b true none")
  }

  @Test func theFirstInitialValueIsKept() {
    @MainActor final class Box {
      static var made = 0
      let number: Int
      init() {
        Self.made += 1
        number = Self.made
      }
    }
    struct Child: View {
      @State private var box = Box()
      var body: some View { Text("box \(box.number)") }
    }
    struct Screen: View {
      let model: Model
      var body: some View {
        Text("\(model.number)")
        Child()
      }
    }
    let model = Model()
    let host = ViewHost { Screen(model: model) }
    model.number = 2
    host.update()
    #expect(host.texts == ["2", "box 1"])
    #expect(Box.made == 2)
  }
}
