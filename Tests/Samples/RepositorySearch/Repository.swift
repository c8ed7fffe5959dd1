// SPDX-License-Identifier: MIT

import FeatureRelay

/// A repository, as the search finds it.
struct Repository: Identifiable, Hashable, Sendable {
  var id: Int
  var name: String
  var summary: String
  var isPrivate = false
}

/// A page of what was found, and whether there are more.
struct RepositoryPage: Sendable {
  var repositories: [Repository]
  var nextPage: Int?
}

/// Where repositories are found.
protocol RepositorySource: Sendable {
  func repositories(matching query: String, page: Int) async throws -> RepositoryPage
}

/// What the app's shell shows once, whatever is on the screen.
protocol NoticeFeature: RelayFeature {
  func show(_ notice: String)
}
