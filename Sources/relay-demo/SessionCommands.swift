// SPDX-License-Identifier: MIT

import FeatureRelay

// Business code's part: commands, questions, and time that goes by.

extension Session {
  func dispatch(_ feature: FeatureName, _ text: String, _ options: DispatchOptions) async {
    recorder.expect(text, details: options.words)
    if options.isDurable { explainDurability() }
    guard options.isFromBackground else {
      send(feature, text, options, through: relay)
      return
    }
    let relay = relay
    await Task.detached { send(feature, text, options, through: relay) }.value
  }

  func flood(_ count: Int, _ feature: FeatureName) {
    for number in 1...count {
      recorder.expect("\(number)")
      send(feature, "\(number)", DispatchOptions(), through: relay)
    }
  }

  func ask(_ resource: String, _ limit: Duration?) async {
    let relay = relay
    let arrived = recorder.arrivedCount
    let details = limit.map { ["waiting at most \(seconds($0))"] } ?? []
    let label = recorder.expect(resource, details: details)
    asks[label.number] = Task {
      do {
        let isGranted = try await relay.request(
          AskPermission(resource: resource), waitingAtMost: limit)
        return .answer(label, isGranted ? "granted" : "denied")
      } catch {
        return .answer(label, "no answer: \(error)")
      }
    }
    // The question is on its way once the task has begun to run.
    await recorder.arrival(arrived + 1)
  }

  func cancel(tagged tag: CommandTag) {
    let count = relay.cancel(tagged: tag)
    if count == 0 { note("nothing waits under the tag \(quoted("\(tag)"))") }
  }

  func clear(_ feature: FeatureName?) {
    let count =
      switch feature {
      case nil: relay.clearQueue()
      case .toast: relay.clearQueue(ToastFeature.self)
      case .navigation: relay.clearQueue(NavigationFeature.self)
      case .mail: relay.clearQueue(MailFeature.self)
      case .analytics: relay.clearQueue(AnalyticsFeature.self)
      case .permission: relay.clearQueue(PermissionFeature.self)
      }
    if count == 0 { note("nothing waits there") }
  }

  /// Moves the clock from one wake-up to the next, so that what is due happens at its own time.
  func wait(_ duration: Duration) async {
    let end = clock.now + duration
    while let next = clock.nextWake, next <= end {
      clock.advance(to: next)
      await settle()
    }
    clock.advance(to: end)
  }
}

/// Callable from any thread, as business code is.
private func send(
  _ feature: FeatureName, _ text: String, _ options: DispatchOptions, through relay: Relay
) {
  func dispatch(_ command: some RelayCommand) {
    relay.dispatch(
      command, priority: options.priority, tags: options.commandTags,
      timeToLive: options.timeToLive.map { .limited($0) }, unique: options.unique)
  }
  func dispatch(_ command: some AsyncRelayCommand) {
    relay.dispatch(
      command, priority: options.priority, tags: options.commandTags,
      timeToLive: options.timeToLive.map { .limited($0) }, unique: options.unique)
  }
  switch feature {
  case .toast where options.isDurable: dispatch(KeepToast(message: text))
  case .navigation where options.isDurable: dispatch(KeepScreen(screen: text))
  case .analytics where options.isDurable: dispatch(KeepEvent(event: text))
  case .mail where options.isDurable: dispatch(KeepMail(text: text))
  case .toast: dispatch(ShowToast(message: text))
  case .navigation: dispatch(OpenScreen(screen: text))
  case .analytics: dispatch(TrackEvent(event: text))
  case .mail: dispatch(SendMail(text: text))
  case .permission: preconditionFailure("Questions are asked, not dispatched.")
  }
}

extension DispatchOptions {
  var commandTags: [CommandTag] { tags.map { CommandTag($0) } }
}
