// SPDX-License-Identifier: MIT
// swift-format-ignore-file

// Names and shapes are Apple's. The few declarations of the system's module that the library uses on Apple platforms, so that
// those lines are type-checked elsewhere. Signatures after Apple's documentation; nothing is run.

@_exported import Foundation

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSView: NSResponder {
  public init(frame frameRect: NSRect) {}
  open func addSubview(_ view: NSView) {}
}

@MainActor open class NSViewController: NSResponder {
  public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {}
  public required init?(coder: NSCoder) {}
  open var view: NSView { get { NSView(frame: .zero) } set {} }
  open func loadView() {}
  open func viewDidLoad() {}
  open func viewDidAppear() {}
  open func viewDidDisappear() {}
  open func addChild(_ childViewController: NSViewController) {}
}

@MainActor open class NSApplication: NSResponder {
  open var isActive: Bool { true }
  open var isHidden: Bool { false }

  public nonisolated class var didBecomeActiveNotification: NSNotification.Name { .init("") }
  public nonisolated class var didResignActiveNotification: NSNotification.Name { .init("") }
  public nonisolated class var didHideNotification: NSNotification.Name { .init("") }
  public nonisolated class var didUnhideNotification: NSNotification.Name { .init("") }
}
