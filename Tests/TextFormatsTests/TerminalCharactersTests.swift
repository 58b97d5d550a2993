import TestSupport
import Testing
import TextFormats

@Suite("Terminal characters", .inParallel)
struct TerminalCharactersTests {
    @Test(
        "ASCII is wanted where the first variable that names a locale names none of UTF-8",
        arguments: [
            ([:], false), (["LANG": "C"], true), (["LC_ALL": "POSIX"], true),
            (["LANG": "de_DE.UTF-8"], false), (["LC_CTYPE": "C.utf8", "LANG": "C"], false),
            (["LC_ALL": "C", "LANG": "de_DE.UTF-8"], true), (["LANG": "de_DE@euro"], true),
        ])
    func locales(variables: [String: String], isASCII: Bool) {
        #expect(TerminalCharacters { variables[$0] } == (isASCII ? .ascii : .all))
    }

    @Test("The signs of a text of our own become ASCII of the same width")
    func standIns() {
        let text = "“Mull” → ‘x’… −1 ⟨U+202E⟩ ␛ ↑↓ ←→ · ✓✗ — <U+0041>\n"
        let ascii = "'Mull' > 'x'~ -1 <U+202E> ? ^v <> * +! - <U+0041>\n"
        #expect(TerminalCharacters.ascii.ours(text) == ascii)
        #expect(TerminalCharacters.ascii.ours(ascii) == ascii)
        #expect(TerminalCharacters.all.ours(text) == text)
    }

    private static let texts = [
        "", "Delete?", "消す", "Ménü", "Me\u{301}nü", "“x”", "'x'", "\"x\"", "a…", "a~", "<", "<U",
        "<U+", "<U+65E5>", "⟨U+65E5⟩", "日", "<U+003C>U+65E5>", "\u{202E}x", "<U+202E>x", "\t",
        "␉", "\u{1B}[2J", "\u{7F}", "a\nb", "a\u{AD}b", "ab", "👩‍👩‍👧", "\u{1F469}", "\u{10FFFF}",
    ]

    /// The text with each code point of the form `<U+…>` replaced by its character.
    private static func read(_ shown: String) -> String {
        shown.replacing(/<U\+([0-9A-F]{4,6})>/) { match in
            UInt32(match.output.1, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? "?"
        }
    }

    @Test("A text from outside is shown in printable ASCII, from which it can be read exactly")
    func exact() {
        let characters = TerminalCharacters.ascii
        for text in Self.texts {
            for shown in [characters.title(text), characters.line(text)] {
                #expect(shown.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(shown)")
                #expect(Self.read(shown).unicodeScalars.elementsEqual(text.unicodeScalars))
            }
            for shown in [characters.message(text), characters.lines(text)] {
                #expect(shown.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x0A })
                #expect(Self.read(shown).unicodeScalars.elementsEqual(text.unicodeScalars))
            }
        }
        #expect(characters.title("日<U+65E5>") == "<U+65E5><U+003C>U+65E5>")
    }

    @Test("A terminal of UTF-8 shows what is safe as it is")
    func all() {
        for text in Self.texts {
            #expect(TerminalCharacters.all.title(text) == SafeText.title(text))
            #expect(TerminalCharacters.all.message(text) == SafeText.message(text))
            #expect(TerminalCharacters.all.line(text) == SafeText.line(text))
            #expect(TerminalCharacters.all.lines(text) == SafeText.lines(text))
        }
    }
}
