// SPDX-License-Identifier: MIT

public import FeatureRelay

// Expectations report to whichever runner runs: Swift Testing or XCTest. None of them waits.

extension RelayRecorder {
  /// Expects that a command was dispatched, or a question asked, that equals this one.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - times: exactly how often; at least once by default.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectDispatched<Command: Sendable & Equatable>(
    _ command: Command, times: Int? = nil, fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    expect(
      .command(command), times: times,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that a command of a type was dispatched, or any command for a feature.
  ///
  /// ```swift
  /// recorder.expectDispatched(ShowToast.self)
  /// recorder.expectDispatched(ToastFeature.self, times: 2)
  /// ```
  ///
  /// - Parameters:
  ///   - target: the type of the command or of the question, or the feature.
  ///   - times: exactly how often; at least once by default.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectDispatched<Target>(
    _ target: Target.Type, times: Int? = nil, fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    expect(
      .any(target), times: times,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that a command of a type was dispatched that a closure says yes to.
  ///
  /// ```swift
  /// recorder.expectDispatched(ShowToast.self) { $0.message.hasPrefix("Welcome") }
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the command or of the question.
  ///   - times: exactly how often; at least once by default.
  ///   - fileID: leave it out, like the other places in the source.
  ///   - isWanted: whether a command is the one.
  public func expectDispatched<Command: Sendable>(
    _ type: Command.Type, times: Int? = nil, fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    where isWanted: @escaping @Sendable (Command) -> Bool
  ) {
    expect(
      .any(type, where: isWanted), times: times,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that commands were dispatched in this order, across features; others may stand between
  /// them.
  ///
  /// - Parameters:
  ///   - patterns: which ones, the first one first.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectDispatched(
    inOrder patterns: DispatchPattern..., fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    let all = all
    var rest = all[...]
    var found: [RecordedCommand] = []
    for (place, pattern) in patterns.enumerated() {
      if let index = rest.firstIndex(where: pattern.matches) {
        found.append(rest[index])
        rest = rest[(index + 1)...]
        continue
      }
      var text = FailureText("These were to be dispatched in this order; \(place + 1) was not:")
      for (number, pattern) in patterns.enumerated() {
        let place = number < found.count ? "  (\(found[number].number) below)" : ""
        text.add("  \(number + 1)  \(pattern)\(place)")
      }
      if let early = all.first(where: pattern.matches) {
        text.add("  \(early.number) below came too early.")
      } else {
        text.addNearest(to: pattern, among: all)
      }
      text.addTable("Dispatched:", all, marked: Set(found.map(\.number)))
      return test.fail(
        text.text, at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
    }
    expect(found)
  }

  /// Expects that a command waits: for a handler, a gate, its turn or its next attempt.
  ///
  /// - Parameters:
  ///   - pattern: which one.
  ///   - times: how many; at least one by default.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectWaiting(
    _ pattern: DispatchPattern, times: Int? = nil, fileID: StaticString = #fileID,
    file: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    expect(
      pattern, times: times, that: "waits", \.isWaiting,
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that a command ended undelivered.
  ///
  /// - Parameters:
  ///   - pattern: which one.
  ///   - reason: why; for whatever reason by default.
  ///   - times: how many; at least one by default.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectDropped(
    _ pattern: DispatchPattern, because reason: DropReason? = nil, times: Int? = nil,
    fileID: StaticString = #fileID, file: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    expect(
      pattern, times: times, that: "was dropped" + (reason.map { " (\($0))" } ?? ""),
      { $0.dropReason != nil && (reason == nil || $0.dropReason == reason) },
      at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that nothing was dispatched, and that nothing of an earlier time is left to be done:
  /// it fails when a command was dispatched, waits, runs or is due to be tried again.
  ///
  /// It looks and does not wait, since every command is recorded before `dispatch` returns. Where
  /// the code under test starts tasks, wait for those first.
  ///
  /// - Parameters:
  ///   - fileID: leave it out, like the other places in the source.
  public func expectNoDispatch(
    fileID: StaticString = #fileID, file: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    let all = all
    let unfinished = unfinished
    if all.isEmpty, unfinished == (0, 0) { return }
    var text = FailureText("Nothing was to be dispatched.")
    if unfinished != (0, 0) {
      text.add("In the relay \(unfinished.waiting) wait and \(unfinished.running) run.")
    }
    text.addTable("Dispatched:", all)
    test.fail(text.text, at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that a command was not dispatched, whatever else was.
  ///
  /// - Parameters:
  ///   - pattern: which one.
  ///   - fileID: leave it out, like the other places in the source.
  public func expectNoDispatch(
    of pattern: DispatchPattern, fileID: StaticString = #fileID, file: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    expect(
      pattern, times: 0, at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  /// Expects that nothing was dispatched but what expectations before this one have spoken of.
  ///
  /// - Parameters:
  ///   - fileID: leave it out, like the other places in the source.
  public func expectNothingElse(
    fileID: StaticString = #fileID, file: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    let unexpected = unexpected
    guard !unexpected.isEmpty else { return }
    var text = FailureText(
      "Nothing else was to be dispatched; no expectation spoke of those marked.")
    text.addTable("Dispatched:", all, marked: Set(unexpected.map(\.number)))
    test.fail(text.text, at: SourcePlace(fileID: fileID, file: file, line: line, column: column))
  }

  private func expect(
    _ pattern: DispatchPattern, times: Int?, that what: String = "was dispatched",
    _ isMeant: (RecordedCommand) -> Bool = { _ in true }, at place: SourcePlace
  ) {
    let all = all
    let found = all.filter { pattern.matches($0) && isMeant($0) }
    expect(found)
    let isMet = times.map { found.count == $0 } ?? !found.isEmpty
    if isMet { return }
    var text = FailureText(
      times.map { "\(pattern) \(what) \(found.count) times, not \($0)." }
        ?? "No \(pattern) \(what).")
    if found.isEmpty, !all.contains(where: pattern.matches) {
      text.addNearest(to: pattern, among: all)
    }
    let marked = all.filter(pattern.matches).map(\.number)
    text.addTable("Dispatched:", all, marked: Set(marked))
    test.fail(text.text, at: place)
  }
}
