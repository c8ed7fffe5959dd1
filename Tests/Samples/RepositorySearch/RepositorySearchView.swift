// SPDX-License-Identifier: MIT

#if canImport(SwiftUI)
  import RelayReactor
  import SwiftUI

  // The view harness builds the library's sources under another name.
  #if canImport(RelayViews)
    import RelayViews
  #else
    import RelaySwiftUI
  #endif

  /// The search with a reactor of its own.
  struct RepositorySearchScreen: View {
    let makeReactor: @MainActor () -> RepositorySearchReactor

    var body: some View {
      ReactorView(makeReactor()) {
        RepositorySearchView()
      }
    }
  }

  /// A field to type into, a switch, what was found, and the description of one of it.
  struct RepositorySearchView: View {
    @Environment(RepositorySearchReactor.self) private var reactor

    @ActionBinding(
      RepositorySearchReactor.self, keyPath: \.query,
      action: RepositorySearchReactor.SyncAction.enterQuery)
    private var query: String

    @ActionBinding(RepositorySearchReactor.self, keyPath: \.hidePrivate, action: .toggleHidePrivate)
    private var hidePrivate: Bool

    var body: some View {
      VStack {
        TextField("Search repositories", text: $query)
        Toggle("Hide private repositories", isOn: $hidePrivate)
        if reactor.isRunning(.search) {
          Text("Searching…")
        }
        List {
          ForEach(reactor.visible) { repository in
            Button(repository.name) { reactor.action(.describe(repository)) }
          }
          if reactor.nextPage != nil {
            Button("Load more") { reactor.action(.loadMore) }
              .disabled(reactor.isRunning(.loadMore))
          }
        }
      }
      .sheet(
        item: reactor.bind(\.described, action: RepositorySearchReactor.SyncAction.describe)
      ) { repository in
        RepositoryDescription(repository: repository)
      }
    }
  }

  /// What a repository is about.
  struct RepositoryDescription: View {
    let repository: Repository
    @Environment(\.dismiss) private var dismiss

    var body: some View {
      VStack {
        Text(repository.summary)
        Button("Done") { dismiss() }
      }
    }
  }
#endif
