// SPDX-License-Identifier: MIT

import Foundation

/// A bar chart of rows on a logarithmic scale, as SVG that can be read on light and dark ground.
package struct Chart: Sendable {
  package struct Bar: Sendable {
    package let title: String
    package let nanoseconds: Double
    package let role: Subject.Role

    package init(title: String, nanoseconds: Double, role: Subject.Role) {
      self.title = title
      self.nanoseconds = nanoseconds
      self.role = role
    }
  }

  package struct Section: Sendable {
    package let title: String
    package let bars: [Bar]

    package init(title: String, bars: [Bar]) {
      self.title = title
      self.bars = bars
    }
  }

  private let sections: [Section]
  private let caption: String
  private static let width = 860.0
  private static let labelWidth = 330.0
  private static let valueWidth = 90.0
  private static let lineHeight = 22.0
  private static let titleHeight = 34.0

  package init(sections: [Section], caption: String) {
    self.sections = sections.filter { !$0.bars.isEmpty }
    self.caption = caption
  }

  /// The decades that the bars lie in.
  package var decades: ClosedRange<Int> {
    let values = sections.flatMap { $0.bars.map(\.nanoseconds) }.filter { $0 > 0 }
    guard let least = values.min(), let most = values.max() else { return 0...1 }
    let lower = Int(log10(least).rounded(.down))
    return lower...max(lower + 1, Int(log10(most).rounded(.up)))
  }

  /// How far a bar reaches, from 0 to 1.
  package func reach(_ nanoseconds: Double) -> Double {
    let span = Double(decades.upperBound - decades.lowerBound)
    return (log10(nanoseconds) - Double(decades.lowerBound)) / span
  }

  package var svg: String {
    let plotWidth = Self.width - Self.labelWidth - Self.valueWidth
    var y = 30.0
    var shapes = legend
    for section in sections {
      y += Self.titleHeight
      shapes.append(text(section.title, x: 12, y: y - 10, "title"))
      for bar in section.bars {
        let length = max(2, reach(bar.nanoseconds) * plotWidth)
        let middle = y + Self.lineHeight / 2 + 4
        shapes.append(text(bar.title, x: Self.labelWidth - 10, y: middle, "label"))
        shapes.append(
          """
          <rect class="\(bar.role.rawValue)" x="\(Self.labelWidth)" y="\(y + 3)" \
          width="\(format(length))" height="\(Self.lineHeight - 6)" rx="2"/>
          """)
        let end = Self.labelWidth + length + 8
        shapes.append(text(Self.name(of: bar.nanoseconds), x: end, y: middle, "value"))
        y += Self.lineHeight
      }
    }
    let bottom = y + 6
    var grid: [String] = []
    for decade in decades {
      let x = Self.labelWidth + reach(pow(10, Double(decade))) * plotWidth
      let place = format(x)
      grid.append(#"<line class="grid" x1="\#(place)" y1="34" x2="\#(place)" y2="\#(bottom)"/>"#)
      grid.append(text(Self.name(of: pow(10, Double(decade))), x: x, y: bottom + 16, "axis"))
    }
    let height = bottom + 48
    let footer = text(caption, x: 12, y: height - 10, "caption")
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" \
      width="\(Int(Self.width))" height="\(Int(height))" role="img" \
      aria-label="\(Self.escape(caption))">
      <style>\(Self.style)</style>
      \((grid + shapes + [footer]).joined(separator: "\n"))
      </svg>

      """
  }

  private var legend: [String] {
    let kinds = [(Subject.Role.ours, "FeatureRelay"), (.floor, "the floor"), (.peer, "instead")]
    return kinds.enumerated().flatMap { index, kind in
      let x = Self.labelWidth + Double(index) * 120
      return [
        #"<rect class="\#(kind.0.rawValue)" x="\#(format(x))" y="10" width="12" height="12" rx="2"/>"#,
        text(kind.1, x: x + 18, y: 20, "key"),
      ]
    }
  }

  private func text(_ content: String, x: Double, y: Double, _ kind: String) -> String {
    #"<text class="\#(kind)" x="\#(format(x))" y="\#(format(y))">\#(Self.escape(content))</text>"#
  }

  private static func name(of nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<999.5: "\(format(nanoseconds)) ns"
    case ..<999_500: "\(format(nanoseconds / 1_000)) µs"
    default: "\(format(nanoseconds / 1_000_000)) ms"
    }
  }

  /// Text that may stand in an element or an attribute.
  package static func escape(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
  }

  // Without a ground of its own. What surrounds the picture may be light or dark whatever the reader's system says, so
  // all colours, the text's too, stand about as far from white as from near-black.
  private static let style = """
    text { font: 13px system-ui, sans-serif; fill: #717a84; }
    .title { font-weight: 600; } .label { text-anchor: end; } .axis { text-anchor: middle; }
    .axis, .caption { font-size: 11px; } .grid { stroke: #8c959f; stroke-opacity: .3; }
    .ours { fill: #d9622b; } .peer { fill: #8a949e; } .floor { fill: #3f83c9; }
    """
}
