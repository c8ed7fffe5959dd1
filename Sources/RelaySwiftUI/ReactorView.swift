// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  public import RelayReactor
  public import SwiftUI

  /// Owns a reactor for as long as it has its place among the views, and gives it to what is in it.
  ///
  /// ```swift
  /// ReactorView(SearchReactor(source: source)) {
  ///   SearchView()                     // @Environment(SearchReactor.self) private var reactor
  /// }
  /// ```
  ///
  /// The reactor is made once, when the view is shown for the first time; an evaluation of what is
  /// around the view makes no other one. Its life ends when the view's identity does: when it has
  /// left the screen for good, not while another view lies over it, and whether or not the system
  /// tells that it has disappeared.
  public struct ReactorView<R: Reactor, Content: View>: View {
    @State private var owner: ReactorOwner<R>
    private let content: @MainActor (R) -> Content

    /// Makes a view that owns a reactor.
    ///
    /// - Parameters:
    ///   - reactor: makes the reactor.
    ///   - definesLifecycle: whether the reactor's life ends with the view's. If not, the view only
    ///     keeps it alive: for one that somebody else has made and goes on with.
    ///   - content: what is in it; it finds the reactor in its environment.
    public init(
      _ reactor: @autoclosure @escaping @MainActor () -> R, definesLifecycle: Bool = true,
      @ViewBuilder content: @escaping @MainActor () -> Content
    ) {
      self.init(reactor(), definesLifecycle: definesLifecycle) { _ in content() }
    }

    /// Makes a view that owns a reactor and hands it to its content.
    ///
    /// - Parameters:
    ///   - reactor: makes the reactor.
    ///   - definesLifecycle: whether the reactor's life ends with the view's.
    ///   - content: what is in it, made with the reactor, which it also finds in its environment.
    public init(
      _ reactor: @autoclosure @escaping @MainActor () -> R, definesLifecycle: Bool = true,
      @ViewBuilder content: @escaping @MainActor (R) -> Content
    ) {
      let owner = ReactorOwner(wrappedValue: reactor(), definesLifecycle: definesLifecycle)
      _owner = State(initialValue: owner)
      self.content = content
    }

    /// The content, with the reactor in its environment.
    public var body: some View {
      content(owner.wrappedValue).environment(owner.wrappedValue)
    }
  }
#endif
