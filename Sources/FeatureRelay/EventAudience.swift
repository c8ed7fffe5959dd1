// SPDX-License-Identifier: MIT

/// Who sees a relay's events at one time. Never changed: another audience takes its place, so that
/// whoever hands out events can read it without a lock.
///
/// Safe to share: never changed once it is made. RaceMixTests under the thread sanitizer would
/// notice.
final class EventAudience: @unchecked Sendable {
  /// Somebody who is called with the events after the one with the given number.
  final class Observer: Sendable {
    let token: UInt64
    let since: UInt64
    let observer: any RelayObserver

    init(token: UInt64, since: UInt64, observer: any RelayObserver) {
      self.token = token
      self.since = since
      self.observer = observer
    }
  }

  /// Somebody who reads them.
  final class Consumer: Sendable {
    let token: UInt64
    let since: UInt64
    let buffer: EventBuffer

    init(token: UInt64, since: UInt64, buffer: EventBuffer) {
      self.token = token
      self.since = since
      self.buffer = buffer
    }
  }

  /// Both in the order in which they came.
  let observers: [Observer]
  let consumers: [Consumer]
  /// The same once more: to walk along arrays of references counts each of them.
  private let members: UnsafeMutablePointer<Unmanaged<AnyObject>>
  private let observersEnd: UnsafeMutablePointer<Unmanaged<AnyObject>>
  private let membersEnd: UnsafeMutablePointer<Unmanaged<AnyObject>>

  init(observers: [Observer] = [], consumers: [Consumer] = []) {
    self.observers = observers
    self.consumers = consumers
    members = .allocate(capacity: observers.count + consumers.count)
    observersEnd = members + observers.count
    membersEnd = observersEnd + consumers.count
    for (place, member) in (observers as [AnyObject] + consumers as [AnyObject]).enumerated() {
      (members + place).initialize(to: .passUnretained(member))
    }
  }

  deinit { members.deallocate() }

  var isEmpty: Bool { observers.isEmpty && consumers.isEmpty }

  func adding(_ observer: any RelayObserver, token: UInt64, since number: UInt64) -> EventAudience {
    EventAudience(
      observers: observers + [Observer(token: token, since: number, observer: observer)],
      consumers: consumers)
  }

  func adding(_ buffer: EventBuffer, token: UInt64, since number: UInt64) -> EventAudience {
    EventAudience(
      observers: observers,
      consumers: consumers + [Consumer(token: token, since: number, buffer: buffer)])
  }

  func removing(_ token: UInt64) -> EventAudience {
    EventAudience(
      observers: observers.filter { $0.token != token },
      consumers: consumers.filter { $0.token != token })
  }
}

// MARK: Handing out

extension EventAudience {
  /// Shows an event to everybody who was there before it. For the holder of the log's token.
  func see(_ event: RelayEvent) {
    observe(event)
    forEachConsumer(before: event.number) { $0.append(event) }
  }

  var hasObservers: Bool {
    @inline(__always) get { members != observersEnd }
  }

  /// Shows an event to the observers.
  @inline(__always)
  func observe(_ event: RelayEvent) {
    let number = event.number
    var place = members
    while place != observersEnd {
      // Safe: the same objects are in the array.
      let member = unsafeBitCast(place.pointee, to: Unmanaged<Observer>.self)
      member._withUnsafeGuaranteedRef {
        if $0.since < number { $0.observer.observe(event) }
      }
      place += 1
    }
  }

  /// Tells the consumers that a direct delivery has started.
  @inline(__always)
  func appendStart(of observation: UnsafeMutablePointer<Observation>) {
    forEachConsumer(before: observation.pointee.accepted.number) {
      $0.appendStart(of: observation)
    }
  }

  /// Tells them that it has ended well.
  @inline(__always)
  func appendEnd(of observation: UnsafeMutablePointer<Observation>) {
    forEachConsumer(before: observation.pointee.delivered.number) {
      $0.appendEnd(of: observation)
    }
  }

  /// Gives what they have to those who wait for it.
  ///
  /// - Returns: whether somebody still waits.
  func wakeConsumers() -> Bool {
    var isWaiting = false
    // All of them: each has said for itself that it waits.
    for consumer in consumers where consumer.buffer.wakeReaders() { isWaiting = true }
    return isWaiting
  }

  @inline(__always)
  private func forEachConsumer(before number: UInt64, _ body: (EventBuffer) -> Void) {
    var place = observersEnd
    while place != membersEnd {
      // Safe: as above; consumers come after the observers.
      let member = unsafeBitCast(place.pointee, to: Unmanaged<Consumer>.self)
      member._withUnsafeGuaranteedRef { if $0.since < number { body($0.buffer) } }
      place += 1
    }
  }
}
