// SPDX-License-Identifier: MIT

import Testing

@testable import relay_demo

struct LineSplitterTests {
  private func lines(_ bytes: [UInt8], chunk: Int = .max) -> [LineSplitter.Line] {
    var splitter = LineSplitter()
    var lines: [LineSplitter.Line] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      lines += splitter.add(rest.prefix(chunk))
      rest = rest.dropFirst(chunk)
    }
    return lines + [splitter.finish()].compactMap(\.self)
  }

  @Test func nothingHasNoLines() {
    #expect(lines([]) == [])
  }

  @Test func lineEndsOfAllSystemsAndALastLineWithout() {
    let bytes = Array("a\nb\r\n\nc\rd".utf8)
    for chunk in [1, 2, 3, 100] {
      #expect(lines(bytes, chunk: chunk) == [.text("a"), .text("b"), .text(""), .text("c\rd")])
    }
  }

  @Test func aByteOrderMarkIsSkippedAtTheStartOnly() {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    #expect(
      lines(mark + Array("a\n".utf8) + mark + Array("b".utf8))
        == [.text("a"), .text("\u{FEFF}b")])
  }

  @Test func charactersSurviveBeingCutApart() {
    #expect(lines(Array("Grüße 👩‍👩‍👧\n".utf8), chunk: 1) == [.text("Grüße 👩‍👩‍👧")])
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
  func bytesThatAreNoTextAreNotGuessedAt(_ bytes: [UInt8]) {
    #expect(lines(bytes + Array("\nnext".utf8)) == [.notUTF8, .text("next")])
  }

  @Test func theLimitHoldsToTheByte() {
    let longest = [UInt8](repeating: UInt8(ascii: "x"), count: LineSplitter.limit)
    let text = LineSplitter.Line.text(String(decoding: longest, as: UTF8.self))
    #expect(lines(longest + Array("\n".utf8)) == [text])
    #expect(lines(longest + Array("\r\n".utf8)) == [text])
    #expect(lines(longest + Array("y\nz".utf8)) == [.tooLong, .text("z")])
    #expect(lines(longest + longest + longest + Array("\r\nz\n".utf8)) == [.tooLong, .text("z")])
  }
}
