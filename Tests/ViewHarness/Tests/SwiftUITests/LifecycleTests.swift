// SPDX-License-Identifier: MIT

import Observation
import SwiftUI
import Testing
import ViewHost

/// What views are told, with the system's good and bad manners.
@MainActor
struct LifecycleTests {
  @MainActor @Observable final class Model {
    var screen = "home"
    var number = 0
    @ObservationIgnored var log: [String] = []
  }

  struct Home: View {
    let model: Model
    var body: some View {
      Text("home")
        .onAppear { model.log.append("home appears") }
        .onDisappear { model.log.append("home disappears") }
    }
  }

  struct Login: View {
    let model: Model
    var body: some View {
      Text("login")
        .onAppear { model.log.append("login appears") }
        .onDisappear { model.log.append("login disappears") }
    }
  }

  struct Root: View {
    let model: Model
    var body: some View {
      if model.screen == "home" { Home(model: model) } else { Login(model: model) }
    }
  }

  private func told(_ change: (ViewHost) -> Void) -> [String] {
    let model = Model()
    let host = ViewHost { Root(model: model) }
    #expect(model.log == ["home appears"])
    model.log = []
    change(host)
    model.screen = "login"
    host.update()
    return model.log
  }

  @Test func whatComesAppearsBeforeWhatGoesDisappears() {
    #expect(told { _ in } == ["login appears", "home disappears"])
    #expect(told { $0.manners.appearsFirst = false } == ["home disappears", "login appears"])
  }

  @Test func callbacksCanBeMissingOrDoubled() {
    let missing = told { host in
      host.manners.times = { $0.kind == .disappear && $0.isIn(Home.self) ? 0 : 1 }
    }
    #expect(missing == ["login appears"])
    let doubled = told { host in host.manners.times = { $0.isIn(Login.self) ? 2 : 1 } }
    #expect(doubled == ["login appears", "login appears", "home disappears"])
  }

  @Test func aViewThatHasGoneCanAppearAsAGhost() {
    let model = Model()
    let host = ViewHost { Root(model: model) }
    host.manners.keepsRemovedState = true
    model.screen = "login"
    host.update()
    model.log = []
    host.ghostAppear(Home.self)
    #expect(model.log == ["home appears"])
    host.releaseRemovedState()
    host.ghostAppear(Home.self)
    #expect(model.log == ["home appears"])
  }

  @Test func aChangeIsToldOnceWithOldAndNew() {
    struct Screen: View {
      let model: Model
      var body: some View {
        Text("\(model.number)")
          .onChange(of: model.number) { old, new in model.log.append("\(old) to \(new)") }
          .onChange(of: model.number, initial: true) { model.log.append("now \(model.number)") }
      }
    }
    let model = Model()
    let host = ViewHost { Screen(model: model) }
    #expect(model.log == ["now 0"])
    model.number = 2
    host.update()
    host.update()
    #expect(Set(model.log) == ["now 0", "0 to 2", "now 2"])
    #expect(model.log.count == 3)
  }

  @Test func aTaskRunsWhileTheViewIsThere() async {
    @MainActor final class Log { var lines: [String] = [] }
    struct Screen: View {
      let model: Model
      let log: Log
      var body: some View {
        if model.screen == "home" {
          Text("home").task(id: model.number) {
            let number = model.number
            log.lines.append("starts \(number)")
            let stream = AsyncStream<Int> { _ in }
            for await _ in stream {}
            log.lines.append("cancelled \(number)")
          }
        }
      }
    }
    let model = Model()
    let log = Log()
    let host = ViewHost { Screen(model: model, log: log) }
    await Task.yield()
    model.number = 1
    host.update()
    model.screen = "none"
    host.update()
    await host.waitForTasks()
    #expect(log.lines.filter { $0.hasPrefix("cancelled") }.count == 2)
  }

  @Test func aSheetIsThereUntilItsAnimationEnds() {
    struct Sheet: View {
      @Environment(\.dismiss) private var dismiss
      var body: some View { Button("Save") { dismiss() } }
    }
    struct Screen: View {
      let model: Model
      @State private var isPresented = false
      var body: some View {
        Button("Open") { isPresented = true }
          .onDisappear { model.log.append("covered") }
          .sheet(isPresented: $isPresented, onDismiss: { model.log.append("dismissed") }) {
            Sheet().onDisappear { model.log.append("sheet disappears") }
          }
      }
    }
    let model = Model()
    let host = ViewHost { Screen(model: model) }
    host.holdsTransitions = true
    host.tap("Open")
    #expect(host.texts == ["Open", "Save"])
    host.tap("Save")
    #expect(host.texts == ["Open", "Save"])
    #expect(model.log.isEmpty)
    host.finishTransitions()
    #expect(host.texts == ["Open"])
    #expect(Set(model.log) == ["sheet disappears", "dismissed"])
  }

  @Test func aStackCoversWhatIsBelowAndKeepsIt() {
    struct Screen: View {
      @Binding var path: [Int]
      let model: Model
      var body: some View {
        NavigationStack(path: $path) {
          NavigationLink("Open", value: 1)
            .onAppear { model.log.append("root appears") }
            .onDisappear { model.log.append("root disappears") }
            .navigationDestination(for: Int.self) { number in
              Button("Deeper") { path.append(number + 1) }
              Text("number \(number)").onAppear { model.log.append("\(number) appears") }
            }
        }
      }
    }
    struct Root: View {
      @State private var path: [Int] = []
      let model: Model
      var body: some View { Screen(path: $path, model: model) }
    }
    let model = Model()
    let host = ViewHost { Root(model: model) }
    #expect(host.tap("Open"))
    #expect(!host.tap("Open"))
    host.tap("Deeper")
    #expect(host.texts == ["Deeper", "number 2"])
    host.goBack()
    host.goBack()
    host.goBack()
    #expect(host.texts == ["Open"])
    #expect(
      model.log == [
        "root appears", "1 appears", "root disappears", "2 appears", "1 appears", "root appears",
      ])
  }

  @Test func anAlertIsDismissedByEachOfItsButtons() {
    struct Screen: View {
      @State private var message: String?
      @State private var answer = "none"
      var body: some View {
        Button("Ask") { message = "Sure?" }
        Text(answer)
          .alert(
            "Delete", isPresented: Binding(get: { message != nil }, set: { _ in message = nil }),
            presenting: message
          ) { _ in
            Button("Yes", role: .destructive) { answer = "yes" }
            Button("No", role: .cancel) { answer = "no" }
          } message: {
            Text($0)
          }
      }
    }
    let host = ViewHost { Screen() }
    host.tap("Ask")
    #expect(host.texts == ["Ask", "none", "Delete", "Sure?", "Yes", "No"])
    host.tap("Yes")
    #expect(host.texts == ["Ask", "yes"])
  }

  @Test func anAppSeesTheSumOfItsWindows() {
    struct Window: View {
      @Environment(\.scenePhase) private var phase
      @State private var url = "none"
      var body: some View {
        Text("\(phase) \(url)").onOpenURL { url = $0.absoluteString }
      }
    }
    struct Sample: App {
      @Environment(\.scenePhase) private var phase
      var body: some Scene {
        WindowGroup {
          Text("app \(phase)")
          Window()
        }
      }
    }
    let host = AppHost(Sample.self)
    #expect(host.views.texts == [])
    host.openWindow(phase: .inactive)
    let second = host.openWindow()
    host.open(.init(string: "app://x")!, in: second)
    #expect(host.views.texts == ["app active", "inactive none", "app active", "active app://x"])
    host.setPhase(.background, of: second)
    #expect(
      host.views.texts == ["app inactive", "inactive none", "app inactive", "background app://x"])
    host.closeWindow(1)
    #expect(host.views.texts == ["app background", "background app://x"])
  }
}
