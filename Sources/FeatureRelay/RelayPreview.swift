// SPDX-License-Identifier: MIT

extension Relay {
  /// A relay for a preview of a view: it delivers, and writes what happens to the log.
  ///
  /// ```swift
  /// let relay = Relay.preview
  /// relay.register(presenter, for: ToastFeature.self)
  /// ```
  ///
  /// Each read makes a new one, so that previews do not meet: keep it as long as it is used. It has
  /// no parent and no journal; durable commands live in memory only, and nothing touches a disk.
  public static var preview: Relay {
    let relay = Relay(scope: "preview")
    relay.observe(RelayLog(subsystem: "FeatureRelay"))
    return relay
  }
}
