// SPDX-License-Identifier: MIT

/// What a shell can do for business code: the protocol that a handler implements and commands are
/// sent to.
///
/// ```swift
/// protocol ToastFeature: RelayFeature {
///   func show(_ message: String)
/// }
/// ```
///
/// A feature is class-bound, since a relay holds its handlers weakly, and it lives on the main
/// actor, since it stands for what a person sees. Classes and compositions (`any ToastFeature &
/// Sendable`, `Base & ToastFeature`) are features as well.
@MainActor
public protocol RelayFeature: AnyObject, Sendable {}
