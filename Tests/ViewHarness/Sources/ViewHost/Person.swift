// SPDX-License-Identifier: MIT

import SwiftUI

// What a person sees and does.
extension ViewHost {
  /// The texts that can be seen, from the top.
  public var texts: [String] { graph.root.map { texts(in: $0) } ?? [] }

  /// Whether a text can be seen.
  public func shows(_ text: String) -> Bool { texts.contains(text) }

  /// How often the bodies of views of a type were evaluated.
  public func evaluations<V: View>(of type: V.Type) -> Int {
    nodes(of: type).reduce(0) { $0 + $1.evaluations }
  }

  /// Taps the topmost button with a label, and updates.
  ///
  /// - Returns: false when there is none that can be tapped.
  @discardableResult
  public func tap(_ label: String) -> Bool {
    let found = controls.last { node, control in
      guard case .button = control else { return false }
      return node.environment.isEnabled && texts(in: node).contains(label)
    }
    guard let (node, control) = found, case .button(let action) = control else { return false }
    action(node)
    update()
    return true
  }

  /// Writes into the text field with a title, and updates.
  @discardableResult
  public func write(_ text: String, into title: String) -> Bool {
    for (_, control) in controls.reversed() {
      guard case .textField(title, let binding) = control else { continue }
      binding.wrappedValue = text
      update()
      return true
    }
    return false
  }

  /// Switches the toggle with a label, and updates.
  @discardableResult
  public func toggle(_ label: String) -> Bool {
    for (node, control) in controls.reversed() {
      guard case .toggle(let isOn) = control, texts(in: node).contains(label) else { continue }
      isOn.wrappedValue.toggle()
      update()
      return true
    }
    return false
  }

  /// Goes back in the innermost stack that can be seen, as the system's button does; and updates.
  public func goBack() {
    let registries = visible.compactMap { $0.storage as? NavigationRegistry }
    registries.last?.goBack()
    update()
  }

  private var visible: [ViewNode] { graph.root?.visibleTree ?? [] }

  private var controls: [(ViewNode, Control)] {
    visible.compactMap { node in
      (node.view as? any ControlView).map { (node, $0.control) }
    }
  }

  private func texts(in node: ViewNode) -> [String] {
    node.visibleTree.compactMap { node in
      guard let control = node.view as? any ControlView, case .text(let text) = control.control
      else { return nil }
      return text
    }
  }
}
