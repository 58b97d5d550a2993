import Testing

@testable import alertq

@Suite("Piped text", .inParallel)
struct PipedTextTests {
    /// The text of some bytes that come in pieces.
    private func text(
        _ bytes: [UInt8], keeping end: PipedText.End = .end, limit: Int = 64, piece: Int = 7
    ) -> String {
        var text = PipedText(keeping: end, limit: limit)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            text.append(bytes[start..<min(start + piece, bytes.count)])
        }
        return text.text
    }

    @Test("A text that fits is kept whole, without one line break at its end")
    func whole() {
        #expect(text([]) == "")
        #expect(text([0x0A]) == "")
        #expect(text(Array("a\n\n".utf8)) == "a\n")
        let full = String(repeating: "ü", count: 32)
        for end in PipedText.End.allCases {
            #expect(text(Array(full.utf8), keeping: end) == full)
            #expect(text(Array((full + "\n").utf8), keeping: end) == full)
        }
    }

    @Test("A byte order mark is left out, and the line breaks of Windows are ordinary ones")
    func fromWindows() {
        for end in PipedText.End.allCases {
            for piece in 1...4 {
                let read = text(
                    Array("\u{FEFF}a\r\n\rb\r\r\n\u{FEFF}\r\n".utf8), keeping: end, piece: piece)
                #expect(read == "a\n\rb\r\n\u{FEFF}")
            }
        }
        let lines = "\u{FEFF}" + String(repeating: "0123456\r\n", count: 20)
        #expect(
            text(Array(lines.utf8), keeping: .start)
                == "0123456\n0123456\n0123456\n[the last 155 bytes are left out]")
    }

    @Test(
        "Each maximal part of a character that is not UTF-8 is one replacement, and a NUL is shown",
        arguments: [
            ([0x61, 0xFF, 0x62], "a�b"), ([0x61, 0xC3], "a�"), ([0x61, 0x00, 0x62], "a␀b"),
            ([0xC0, 0xAF, 0x41], "��A"), ([0xED, 0xA0, 0x80, 0x41], "���A"),
            ([0xF4, 0x91, 0x92, 0x93, 0xFF, 0x41, 0x80, 0xBF, 0x42], "�����A��B"),
            ([0xE1, 0x80, 0xE2, 0xF0, 0x91, 0x92, 0xF1, 0xBF, 0x41], "����A"),
        ] as [([UInt8], String)])
    func replaced(bytes: [UInt8], expected: String) {
        #expect(text(bytes, piece: 1) == expected)
    }

    @Test("Of a longer text the end is kept, or the start, by whole lines, with what is missing")
    func lines() {
        let numbers = (1...40).map { "line \($0)" }
        let bytes = Array((numbers.joined(separator: "\n") + "\n").utf8)
        #expect(
            text(bytes) == "[the first 287 bytes are left out]\nline 38\nline 39\nline 40")
        #expect(
            text(bytes, keeping: .start)
                == "line 1\nline 2\nline 3\nline 4\n[the last 284 bytes are left out]")
    }

    @Test("A long line is cut between two characters, and counted in the bytes that came")
    func longLine() {
        let limit = 64 << 10
        // Each becomes a replacement of three bytes.
        let bytes = [UInt8](repeating: 0xFF, count: 1_000_000)
        for end in PipedText.End.allCases {
            let text = text(bytes, keeping: end, limit: limit, piece: 10_000)
            #expect((limit - 3...limit).contains(text.utf8.count))
            let kept = text.unicodeScalars.count { $0 == "\u{FFFD}" }
            let side = end == .end ? "first" : "last"
            #expect(text.contains("[the \(side) \(1_000_000 - kept) bytes are left out]"))
        }
        let wide = text(Array(String(repeating: "😀", count: 50_000).utf8), limit: limit)
        #expect(!wide.contains("\u{FFFD}") && wide.utf8.count > limit - 8)
    }
}
