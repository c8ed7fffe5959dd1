// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names and shapes are those that Apple documents; only what the library and the sample use.

/// Makes one view of the statements in a body.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
@resultBuilder
public struct ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> {
    TupleView((repeat each content))
  }

  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }

  public static func buildEither<TrueContent: View, FalseContent: View>(
    first: TrueContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .first(first))
  }

  public static func buildEither<TrueContent: View, FalseContent: View>(
    second: FalseContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .second(second))
  }
}

/// Shows nothing.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct EmptyView: View {
  public typealias Body = Never
  public init() {}
}

@MainActor
extension EmptyView: PrimitiveView {
  package func build(_ pass: ViewPass) {}
}

/// Several views, one after the other.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct TupleView<T>: View {
  public typealias Body = Never
  public var value: T
  public init(_ value: T) { self.value = value }
}

@MainActor
extension TupleView: PrimitiveView {
  package func build(_ pass: ViewPass) {
    for (index, child) in Mirror(reflecting: value).children.enumerated() {
      guard let view = child.value as? any View else { continue }
      pass.child(view, key: .index(index))
    }
  }
}

/// One of two views; each has an identity of its own.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct _ConditionalContent<TrueContent, FalseContent> {
  public typealias Body = Never

  enum Storage {
    case first(TrueContent)
    case second(FalseContent)
  }

  let storage: Storage
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension _ConditionalContent: View where TrueContent: View, FalseContent: View {}

@MainActor
extension _ConditionalContent: PrimitiveView where TrueContent: View, FalseContent: View {
  package func build(_ pass: ViewPass) {
    switch storage {
    case .first(let view): pass.child(view, key: .index(0))
    case .second(let view): pass.child(view, key: .index(1))
    }
  }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension Optional: View where Wrapped: View {
  public typealias Body = Never
}

@MainActor
extension Optional: PrimitiveView where Wrapped: View {
  package func build(_ pass: ViewPass) {
    if let self { pass.child(self) }
  }
}

/// Several views to which one modifier applies.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
public nonisolated struct Group<Content> {
  public typealias Body = Never
  let content: Content
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
extension Group: View where Content: View {
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

@MainActor
extension Group: PrimitiveView where Content: View {
  package func build(_ pass: ViewPass) { pass.child(content) }
}
