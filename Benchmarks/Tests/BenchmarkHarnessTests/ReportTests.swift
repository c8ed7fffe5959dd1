// SPDX-License-Identifier: MIT

import BenchmarkHarness
import Foundation
import Testing

@MainActor
@Suite struct ReportTests {
  private var group: Group {
    Group("speed", "how fast") {
      [
        Subject(Subject.floorName, "floor", role: .floor, .loop { _ in }),
        .loop("ours", "what is ours", .floors(2), .faster(3, than: "theirs")) { _ in },
        Subject("theirs", "a | b", role: .peer, .loop { _ in }),
        Subject("other", "without bounds", .loop { _ in }),
      ]
    }
  }

  private var rows: [Row] {
    Row.compare(group.subjects(), [[10, 12], [15, 30], [40, 40], [9]], group: group)
  }

  @Test func ratiosAreMadeOfMinima() {
    #expect(rows[1].floors == 1.5)
    #expect(rows[1].verdicts.map(\.value) == [1.5, 40.0 / 15])
  }

  @Test func onlyBrokenBoundsAreFailures() {
    #expect(rows[1].isBroken)
    let failures = Report(machine: .current, rows: rows).failures
    #expect(failures == ["speed/ours: 2.67 where 3 × faster than theirs is to be reached"])
  }

  @Test func aFilterKeepsWhatIsComparedWith() {
    #expect(group.subjects(matching: "speed/ours").map(\.name) == ["F", "ours", "theirs"])
    #expect(group.subjects(matching: "nothing").isEmpty)
  }

  @Test func columnsAreAligned() {
    var table = Table([("name", .left), ("number", .right)])
    table.add(["a", "1"])
    table.add(["longer", "22"])
    #expect(table.text == "name    number\na            1\nlonger      22")
  }

  @Test func markdownEscapesBars() {
    let markdown = Report(machine: .current, rows: rows).markdown
    #expect(markdown.contains("a \\| b"))
    #expect(markdown.contains("**speed: how fast**"))
  }

  @Test func jsonComesBackAsItWas() throws {
    let report = Report(machine: .current, rows: rows)
    let copy = try JSONDecoder().decode(Report.self, from: report.json)
    #expect(copy.rows.map(\.minimum) == rows.map(\.minimum))
  }

  @Test func aDecadeOfTheChartIsAsWideAsAnyOther() {
    let bars = [10.0, 100, 1_000].map { Chart.Bar(title: "<\($0)>", nanoseconds: $0, role: .ours) }
    let chart = Chart(sections: [Chart.Section(title: "A & B", bars: bars)], caption: "none")
    #expect(chart.decades == 1...3)
    #expect(abs(chart.reach(100) - 0.5) < 1e-9)
    #expect(chart.reach(1_000) == 1)
    #expect(chart.svg.contains("A &amp; B") && chart.svg.contains("&lt;10.0&gt;"))
  }
}
