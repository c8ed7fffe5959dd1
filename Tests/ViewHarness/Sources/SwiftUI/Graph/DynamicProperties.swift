// SPDX-License-Identifier: MIT

@_spi(Reflection) import Swift

/// A dynamic property of the system's own, which has a place in a view's identity.
package protocol PlacedProperty: DynamicProperty {
  @MainActor mutating func place(in node: ViewNode, at offset: Int)
}

/// Finds the dynamic properties in a value.
@MainActor
enum DynamicProperties {
  /// Safe: the runtime says where a field lies and which type it has; the value stays where it is
  /// while its fields are visited.
  static func link(
    _ address: UnsafeMutableRawPointer, of type: Any.Type, offset: Int, to node: ViewNode
  ) {
    _ = _forEachField(of: type) { _, distance, fieldType, _ in
      if let property = fieldType as? any DynamicProperty.Type {
        update(address + distance, property, offset + distance, node)
      }
      return true
    }
  }

  private static func update<P: DynamicProperty>(
    _ address: UnsafeMutableRawPointer, _: P.Type, _ offset: Int, _ node: ViewNode
  ) {
    if let placed = P.self as? any PlacedProperty.Type {
      place(address, placed, offset, node)
    } else {
      link(address, of: P.self, offset: offset, to: node)
    }
    address.assumingMemoryBound(to: P.self).pointee.update()
  }

  private static func place<P: PlacedProperty>(
    _ address: UnsafeMutableRawPointer, _: P.Type, _ offset: Int, _ node: ViewNode
  ) {
    address.assumingMemoryBound(to: P.self).pointee.place(in: node, at: offset)
  }
}
