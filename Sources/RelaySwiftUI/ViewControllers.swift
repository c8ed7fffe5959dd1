// SPDX-License-Identifier: MIT

#if canImport(UIKit) && !os(watchOS)
  public import FeatureRelay
  public import UIKit

  extension UIViewController {
    /// Handles a feature while this view controller's view can be seen.
    ///
    /// ```swift
    /// override func viewDidLoad() {
    ///   super.viewDidLoad()
    ///   addRelayHandler(ToastFeature.self) { [unowned self] in ToastPresenter(in: view) }
    /// }
    /// ```
    ///
    /// A child without content tells when the view appears and disappears, so that nothing has to
    /// be overridden. The handler lives as long as the view controller;
    /// ``HandlerAttachment/end()`` ends its registration until the view appears again.
    ///
    /// - Parameters:
    ///   - feature: the feature.
    ///   - relay: where the handler is registered.
    ///   - presence: how long.
    ///   - make: makes the handler, once, when the view first appears. It should not keep the view
    ///     controller alive.
    /// - Returns: the attachment, with which the handler can be disabled.
    @discardableResult
    public func addRelayHandler<F>(
      _ feature: F.Type, in relay: Relay = .shared, while presence: HandlerPresence = .visible,
      make: @escaping @MainActor () -> F
    ) -> HandlerAttachment<F> {
      attach(HandlerAttachment(feature, in: relay, while: presence, make: make))
    }

    /// Handles a feature with an object that lives elsewhere, the view controller itself for
    /// example, while this view controller's view can be seen.
    ///
    /// - Parameters:
    ///   - handler: the object; it is held weakly.
    ///   - feature: the feature.
    ///   - relay: where it is registered.
    ///   - presence: how long.
    /// - Returns: the attachment, with which the handler can be disabled.
    @discardableResult
    public func addRelayHandler<F>(
      _ handler: F, for feature: F.Type, in relay: Relay = .shared,
      while presence: HandlerPresence = .visible
    ) -> HandlerAttachment<F> {
      attach(HandlerAttachment(handler, for: feature, in: relay, while: presence))
    }

    private func attach<F>(_ attachment: HandlerAttachment<F>) -> HandlerAttachment<F> {
      let child = AttachmentViewController(
        appear: { attachment.appear() }, disappear: { attachment.disappear() })
      addChild(child)
      child.view.isHidden = true
      child.view.frame = .zero
      view.addSubview(child.view)
      child.didMove(toParent: self)
      return attachment
    }
  }

  /// A child without content: its parent's appearing is its own.
  private final class AttachmentViewController: UIViewController {
    private let appear: () -> Void
    private let disappear: () -> Void

    init(appear: @escaping () -> Void, disappear: @escaping () -> Void) {
      self.appear = appear
      self.disappear = disappear
      super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) {
      fatalError("AttachmentViewController is made in code.")
    }

    override func viewDidAppear(_ animated: Bool) {
      super.viewDidAppear(animated)
      appear()
    }

    override func viewDidDisappear(_ animated: Bool) {
      super.viewDidDisappear(animated)
      disappear()
    }
  }
#elseif canImport(AppKit)
  public import AppKit
  public import FeatureRelay

  extension NSViewController {
    /// Handles a feature while this view controller's view can be seen.
    ///
    /// A child without content tells when the view appears and disappears, so that nothing has to
    /// be overridden. The handler lives as long as the view controller;
    /// ``HandlerAttachment/end()`` ends its registration until the view appears again.
    ///
    /// - Parameters:
    ///   - feature: the feature.
    ///   - relay: where the handler is registered.
    ///   - presence: how long.
    ///   - make: makes the handler, once, when the view first appears. It should not keep the view
    ///     controller alive.
    /// - Returns: the attachment, with which the handler can be disabled.
    @discardableResult
    public func addRelayHandler<F>(
      _ feature: F.Type, in relay: Relay = .shared, while presence: HandlerPresence = .visible,
      make: @escaping @MainActor () -> F
    ) -> HandlerAttachment<F> {
      attach(HandlerAttachment(feature, in: relay, while: presence, make: make))
    }

    /// Handles a feature with an object that lives elsewhere, the view controller itself for
    /// example, while this view controller's view can be seen.
    ///
    /// - Parameters:
    ///   - handler: the object; it is held weakly.
    ///   - feature: the feature.
    ///   - relay: where it is registered.
    ///   - presence: how long.
    /// - Returns: the attachment, with which the handler can be disabled.
    @discardableResult
    public func addRelayHandler<F>(
      _ handler: F, for feature: F.Type, in relay: Relay = .shared,
      while presence: HandlerPresence = .visible
    ) -> HandlerAttachment<F> {
      attach(HandlerAttachment(handler, for: feature, in: relay, while: presence))
    }

    private func attach<F>(_ attachment: HandlerAttachment<F>) -> HandlerAttachment<F> {
      let child = AttachmentViewController(
        appear: { attachment.appear() }, disappear: { attachment.disappear() })
      addChild(child)
      view.addSubview(child.view)
      return attachment
    }
  }

  /// A child without content: its parent's appearing is its own.
  private final class AttachmentViewController: NSViewController {
    private let appear: () -> Void
    private let disappear: () -> Void

    init(appear: @escaping () -> Void, disappear: @escaping () -> Void) {
      self.appear = appear
      self.disappear = disappear
      super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) {
      fatalError("AttachmentViewController is made in code.")
    }

    override func loadView() {
      view = NSView(frame: .zero)
    }

    override func viewDidAppear() {
      super.viewDidAppear()
      appear()
    }

    override func viewDidDisappear() {
      super.viewDidDisappear()
      disappear()
    }
  }
#endif
