// SPDX-License-Identifier: MIT

/// How long a view's handler is registered.
public enum HandlerPresence: Sendable, Hashable {
  /// While the view can be seen: from its appearing to its disappearing. Right for what a person
  /// sees, such as toasts and alerts; a view that is covered hands over to what covers it if that
  /// has a handler of its own, and gets the feature back afterwards.
  case visible
  /// From the view's first appearing to the end of its identity; each further appearing moves the
  /// handler to the top. Right for the root of a navigation stack, which is told that it disappears
  /// when a screen is pushed and may never be told that it is back.
  case mounted
}
