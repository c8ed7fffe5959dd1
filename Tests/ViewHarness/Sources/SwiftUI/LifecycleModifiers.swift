// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names and shapes are those that Apple documents; only what the library and the sample use.

nonisolated struct LifecycleView<Content: View>: View {
  typealias Body = Never
  let content: Content
  var appear: (() -> Void)?
  var disappear: (() -> Void)?
}

@MainActor
extension LifecycleView: PrimitiveView {
  func build(_ pass: ViewPass) {
    pass.node.lifecycle = ViewNode.Lifecycle(appear: appear, disappear: disappear)
    pass.child(content)
  }
}

nonisolated struct ChangeView<Content: View, Value: Equatable>: View {
  typealias Body = Never
  let content: Content
  let value: Value
  let isInitial: Bool
  let action: (Value, Value) -> Void
}

@MainActor
extension ChangeView: PrimitiveView {
  func build(_ pass: ViewPass) {
    let value = value
    let action = action
    if let old = pass.node.storage as? Value {
      if old != value { pass.afterUpdate { action(old, value) } }
    } else if isInitial {
      pass.afterUpdate { action(value, value) }
    }
    pass.node.storage = value
    pass.child(content)
  }
}

/// What runs while a view is there.
@MainActor
final class RunningTask {
  private var task: Task<Void, Never>?
  private var id: Any?

  func start<ID: Equatable>(
    _ id: ID, _ priority: TaskPriority, _ graph: ViewGraph,
    _ action: @escaping @isolated(any) @Sendable () async -> Void
  ) {
    stop()
    self.id = id
    let task = Task(priority: priority) { await action() }
    self.task = task
    graph.tasks.append(task)
  }

  func isFor<ID: Equatable>(_ id: ID) -> Bool { task != nil && self.id as? ID == id }
  var isStarted: Bool { task != nil }

  func stop() {
    task?.cancel()
    task = nil
  }

  deinit { task?.cancel() }
}

nonisolated struct TaskView<Content: View, ID: Equatable>: View {
  typealias Body = Never
  let content: Content
  let id: ID
  let priority: TaskPriority
  let action: @isolated(any) @Sendable () async -> Void
}

@MainActor
extension TaskView: PrimitiveView {
  func build(_ pass: ViewPass) {
    let running = pass.node.storage as? RunningTask ?? RunningTask()
    pass.node.storage = running
    let graph = pass.node.graph
    pass.node.lifecycle = ViewNode.Lifecycle {
      if !running.isFor(id) { running.start(id, priority, graph, action) }
    } disappear: {
      running.stop()
    }
    if running.isStarted, !running.isFor(id) {
      pass.afterUpdate { running.start(id, priority, graph, action) }
    }
    pass.child(content)
  }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension View {
  public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View {
    LifecycleView(content: self, appear: action)
  }

  public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    LifecycleView(content: self, disappear: action)
  }

  @available(iOS 17.0, macOS 14.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
  public nonisolated func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
  ) -> some View {
    ChangeView(content: self, value: value, isInitial: initial, action: action)
  }

  @available(iOS 17.0, macOS 14.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
  public nonisolated func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some View {
    ChangeView(content: self, value: value, isInitial: initial) { _, _ in action() }
  }

  @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
  public nonisolated func task(
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void
  ) -> some View {
    TaskView(content: self, id: true, priority: priority, action: action)
  }

  @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
  public nonisolated func task<T: Equatable>(
    id value: T, priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void
  ) -> some View {
    TaskView(content: self, id: value, priority: priority, action: action)
  }

  public nonisolated func id<ID: Hashable>(_ id: ID) -> some View {
    IdentifiedView(content: self, id: id)
  }
}

nonisolated struct IdentifiedView<Content: View, ID: Hashable>: View {
  typealias Body = Never
  let content: Content
  let id: ID
}

@MainActor
extension IdentifiedView: PrimitiveView {
  func build(_ pass: ViewPass) {
    pass.child(content, key: .id(AnyHashable(id)))
  }
}
