// SPDX-License-Identifier: MIT

extension Relay {
  /// What happens in the relay from now on: another sequence for each who asks.
  ///
  /// All consumers see one order. Each has a buffer of ``RelayConfiguration/eventBuffer`` events;
  /// one that falls behind further misses the oldest, which the events' numbers show, and delays
  /// nobody. The sequence ends with the relay.
  public var events: AsyncStream<RelayEvent> {
    let consumer = EventConsumer(core)
    core.audienceChanged()
    return AsyncStream { await consumer.next() }
  }

  /// Lets an observer see each event, from now on until the observation is cancelled or the relay
  /// is closed.
  ///
  /// - Parameter observer: kept alive as long; it is called on whichever thread hands out the
  ///   events.
  /// - Returns: the observation. Dropping it changes nothing.
  @discardableResult
  public func observe(_ observer: any RelayObserver) -> RelayObservation {
    let token = core.log.addObserver(observer)
    core.audienceChanged()
    return RelayObservation(core: core, token: token)
  }
}

/// An observer's place in the audience of a relay.
public struct RelayObservation: Sendable {
  private weak let core: RelayCore?
  private let token: UInt64

  init(core: RelayCore, token: UInt64) {
    self.core = core
    self.token = token
  }

  /// Ends the observation. An event that is being handed out may still arrive.
  public func cancel() {
    guard let core else { return }
    core.log.remove(token)
    core.audienceChanged()
  }
}

/// Writes a relay's events to the system's log: `os.Logger` and signposts on Apple platforms,
/// standard error elsewhere.
///
/// ```swift
/// let logging = relay.observe(RelayLog(subsystem: "com.example.shop"))
/// ```
///
/// The category is the relay's scope. Payloads are never written. A signpost interval runs from a
/// command's acceptance to its end, one lane for each feature.
public struct RelayLog: RelayObserver {
  private let sink: Platform.LogSink

  /// Makes a log.
  ///
  /// - Parameter subsystem: the app's identifier, by which the log can be filtered.
  public init(subsystem: String = "FeatureRelay") {
    sink = Platform.LogSink(subsystem: subsystem)
  }

  /// Writes an event.
  public func observe(_ event: RelayEvent) {
    sink.write(event)
  }
}
