// SPDX-License-Identifier: MIT

import SwiftUI

/// A message, and which one it is: the same words again are another toast.
struct Toast: Equatable {
  let number: Int
  let message: String
}

/// Shows toasts where a binding says.
final class ToastPresenter: ToastFeature {
  @Binding private var toast: Toast?
  private var count = 0

  init(toast: Binding<Toast?>) { _toast = toast }

  func show(_ message: String) {
    count += 1
    toast = Toast(number: count, message: message)
  }
}

/// A toast that hides itself. A newer one starts anew.
struct ToastBanner: View {
  @Binding var toast: Toast?
  @Environment(\.pause) private var pause

  var body: some View {
    if let toast {
      Text(toast.message)
        .padding(.horizontal, 16)
        .padding(.vertical, 10)
        .background(.black.opacity(0.75), in: .capsule)
        .foregroundStyle(.white)
        .transition(.move(edge: .top).combined(with: .opacity))
        .task(id: toast.number) {
          guard (try? await pause(.seconds(2))) != nil else { return }
          self.toast = nil
        }
    }
  }
}

private struct PauseKey: EnvironmentKey {
  static let defaultValue: @Sendable (Duration) async throws -> Void = { duration in
    try await Task.sleep(for: duration)
  }
}

extension EnvironmentValues {
  /// Waits; another way in tests.
  var pause: @Sendable (Duration) async throws -> Void {
    get { self[PauseKey.self] }
    set { self[PauseKey.self] = newValue }
  }
}
