// SPDX-License-Identifier: MIT

import Foundation
import RelayJournal
import Testing

/// The tool as people run it.
@Suite(.timeLimit(.minutes(5)))
struct RelayCtlTests {
  private let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("relayctl-\(UUID().uuidString)").path

  private func entry(_ journal: Journal, _ payload: String, name: String = "receipt.send")
    -> JournalEntry
  {
    let id = journal.makeIdentifier()
    return JournalEntry(
      id: id, place: JournalPlace(run: journal.run, sequence: id), name: name,
      group: "MailFeature", priority: 2, labels: ["user-42"],
      acceptedAt: Int64(Date().timeIntervalSince1970 * 1_000) - 7_200_000,
      payload: ArraySlice(payload.utf8))
  }

  /// A journal with one command of each kind, closed; the caller removes it.
  private func fill() throws {
    let journal = try #require(Journal.open(directory).journal)
    journal.append(.accepted(entry(journal, #"{"order":"waits"}"#)))
    journal.append(.acceptedAndStarted(entry(journal, "not JSON")))
    let dead = entry(journal, "{}")
    journal.append([
      .accepted(dead), .dead(dead.id, JournalDeath(reason: 1, detail: "attempts", at: 5)),
    ])
    let done = entry(journal, "done")
    journal.append([.accepted(done), .acknowledged(done.id)])
    journal.append(.accepted(entry(journal, "{}", name: "old.name")))
    journal.close()
    let inbox = JournalInbox(directory)
    try inbox.append(entry(journal, #"{"order":"shared"}"#))
    inbox.close()
  }

  private func withFilled(_ body: () async throws -> Void) async throws {
    try fill()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body()
  }

  private var recordsFile: URL {
    get throws {
      let name = try FileManager.default.contentsOfDirectory(atPath: directory)
        .first { $0.hasSuffix(".journal") }
      return URL(fileURLWithPath: directory + "/" + (try #require(name)))
    }
  }

  @Test func inspectShowsATableOfAllKinds() async throws {
    try await withFilled {
      let result = try await CtlProcess.run(["inspect", directory, "--known", "receipt.send"])
      #expect(result.status == 0)
      #expect(result.errors == "")
      let rows = result.lines.prefix(6).map {
        $0.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
      }
      #expect(
        rows[0] == ["id", "state", "name", "feature", "priority", "age", "attempts", "size"])
      #expect(rows.dropFirst().map { $0[1] } == ["live", "started", "dead", "parked", "inbox"])
      #expect(
        rows[1] == [
          "1", "live", "receipt.send", "MailFeature", "2", "2", "h", "0", "min", "0", "17", "B",
        ])
      #expect(result.output.contains("1 live, 1 started, 1 dead, 1 parked, 1 inbox"))
      #expect(!result.output.contains("process"), "nobody owns it")
    }
  }

  @Test func readingWorksWhileAnotherProcessOwnsItAndChangesNothing() async throws {
    try await withFilled {
      let journal = try #require(Journal.open(directory).journal)
      defer { journal.close() }
      let before = try Data(contentsOf: recordsFile)
      for arguments in [
        ["inspect", directory], ["verify", directory], ["export", "--json", directory],
      ] {
        let result = try await CtlProcess.run(arguments)
        #expect(result.status == 0, "\(arguments[0]): \(result.errors)")
      }
      #expect(try Data(contentsOf: recordsFile) == before)
      let inspected = try await CtlProcess.run(["inspect", directory])
      #expect(inspected.output.contains("process \(getpid()) uses it"))
      #expect(inspected.output.contains("1 running"))
      let result = try await CtlProcess.run(["compact", directory])
      #expect(result.status == 75)
      #expect(result.errors.contains("another process (process \(getpid())) owns the journal"))
      #expect(journal.append(.accepted(entry(journal, "still mine"))).isWritten)
    }
  }

  @Test func verifySaysWhereTheDamageIs() async throws {
    try await withFilled {
      let sound = try await CtlProcess.run(["verify", directory])
      #expect(sound.status == 0)
      #expect(sound.output.contains("all can be read: 4 commands"))
      var bytes = try Data(contentsOf: recordsFile)
      bytes[bytes.startIndex + 100] ^= 1
      try bytes.write(to: recordsFile)
      let result = try await CtlProcess.run(["verify", directory])
      #expect(result.status == 1)
      #expect(result.output.contains("bytes 64 to "))
      #expect(result.output.contains("1 record lost, at least"))
      #expect(result.output.contains("damaged; 3 commands can be read"))
      let json = try await CtlProcess.run(["verify", "--json", directory])
      #expect(json.status == 1)
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      #expect(object["isDamaged"] as? Bool == true)
      let inspected = try await CtlProcess.run(["inspect", directory])
      #expect(inspected.status == 1)
      #expect(inspected.output.contains("relayctl verify says where"))
    }
  }

  @Test func aTornEndIsNoDamage() async throws {
    try await withFilled {
      let bytes = try Data(contentsOf: recordsFile)
      try bytes.dropLast(5).write(to: recordsFile)
      let result = try await CtlProcess.run(["verify", directory])
      #expect(result.status == 0)
      #expect(result.output.contains("of an append that did not end"))
    }
  }

  @Test func compactWritesTheFilesAnew() async throws {
    try await withFilled {
      let result = try await CtlProcess.run(["compact", directory, "--progress"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.contains("3 commands, 1 dead letter"))
      #expect(result.errors.contains("reading: 100 %"))
      let opening = Journal.open(directory)
      #expect(opening.outcome == .recovered(entries: 4))
      opening.journal?.close()
    }
  }

  @Test func exportIsOneJSONObjectWithEverything() async throws {
    try await withFilled {
      let result = try await CtlProcess.run(["export", "--json", directory])
      #expect(result.status == 0)
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
      let entries = try #require(object["entries"] as? [[String: Any]])
      #expect(entries.count == 5)
      #expect((entries[0]["payload"] as? [String: String]) == ["order": "waits"])
      #expect(entries[0]["tags"] as? [String] == ["user-42"])
      #expect(
        entries[1]["payloadBase64"] as? String == Data("not JSON".utf8).base64EncodedString())
      #expect((entries[2]["death"] as? [String: Any])?["detail"] as? String == "attempts")
      #expect(entries[4]["state"] as? String == "inbox")
    }
  }

  @Test func badPathsAndForeignFilesAreNamed() async throws {
    let missing = try await CtlProcess.run(["inspect", directory + "/nowhere"])
    #expect(missing.status == 66)
    #expect(missing.errors.contains("there is no such directory"))
    #expect(missing.output == "")
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = directory + "/photo.jpg"
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file))
    for word in ["inspect", "verify", "compact"] {
      let foreign = try await CtlProcess.run([word, directory])
      #expect(foreign.status == 66)
      #expect(foreign.errors.contains("there is no journal in this directory"))
      let noDirectory = try await CtlProcess.run([word, file])
      #expect(noDirectory.status == 66)
      #expect(noDirectory.errors.contains("it is not a directory"))
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory) == ["photo.jpg"],
      "no journal was made by mistake")
  }

  @Test func helpAndMistakes() async throws {
    let help = try await CtlProcess.run(["--help"])
    #expect(help.status == 0)
    #expect(help.output.contains("exit status"))
    #expect(help.output.contains("Application Support"))
    let mistake = try await CtlProcess.run(["explode"])
    #expect(mistake.status == 64)
    #expect(mistake.errors.contains("unknown word \"explode\""))
  }
}

extension JournalWrite {
  fileprivate var isWritten: Bool {
    if case .written = self { return true }
    return false
  }
}
