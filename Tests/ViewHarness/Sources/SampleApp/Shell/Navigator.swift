// SPDX-License-Identifier: MIT

import SwiftUI

/// Opens screens by changing the path of a stack.
final class Navigator: NavigationFeature {
  @Binding private var path: [Screen]

  init(path: Binding<[Screen]>) { _path = path }

  func open(_ screen: Screen) { path.append(screen) }

  func goBack() {
    if !path.isEmpty { path.removeLast() }
  }
}
