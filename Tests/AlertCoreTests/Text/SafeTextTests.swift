import AlertCore
import TestSupport
import Testing

@Suite("Safe text", .inParallel)
struct SafeTextTests {
    @Test(
        "Characters that could move, hide or reverse text are replaced by visible ones",
        arguments: [
            ("plain, ünïcödé 日本 🎉", "plain, ünïcödé 日本 🎉"), ("a\u{0}b", "a␀b"),
            ("a\tb\r\nc", "a␉b␍␊c"), ("\u{1B}[2J", "␛[2J"), ("a\u{7F}", "a␡"),
            ("\u{9B}31m", "⟨U+009B⟩31m"), ("safe\u{202E}elif", "safe⟨U+202E⟩elif"),
            ("\u{2066}x\u{2069}", "⟨U+2066⟩x⟨U+2069⟩"), ("a\u{200B}b", "a⟨U+200B⟩b"),
            ("\u{FEFF}", "⟨U+FEFF⟩"), ("\u{E0041}", "⟨U+E0041⟩"), ("\u{2028}", "⟨U+2028⟩"),
            ("a\u{200D}b", "a⟨U+200D⟩b"), ("👩\u{200D}💻", "👩\u{200D}💻"),
            ("❤\u{FE0F}", "❤\u{FE0F}"), ("a\u{FE0F}", "a⟨U+FE0F⟩"), ("\u{3164}", "⟨U+3164⟩"),
            ("a\u{FE0F}\u{200D}", "a⟨U+FE0F⟩⟨U+200D⟩"), ("\u{E000}", "⟨U+E000⟩"),
            ("👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻", "👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻"), ("👍\u{1F3FD}", "👍\u{1F3FD}"),
            ("👍\u{1F3FD}\u{1F3FD}", "👍\u{1F3FD}⟨U+1F3FD⟩"),
            (
                "👩\u{200D}👩\u{200D}👩\u{200D}👩\u{200D}👩\u{200D}👩",
                "👩\u{200D}👩\u{200D}👩\u{200D}👩⟨U+200D⟩👩\u{200D}👩"
            ),
            // Persian and Hindi need their joiners; at the end those are only invisible.
            ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("می\u{200C}", "می⟨U+200C⟩"),
            ("क्\u{200D}ष", "क्\u{200D}ष"), ("שָׁלוֹם, להמשיך?", "שָׁלוֹם, להמשיך?"),
            (
                "e" + String(repeating: "\u{0301}", count: 6),
                "e\u{0301}\u{0301}\u{0301}\u{0301}⟨U+0301⟩⟨U+0301⟩"
            ),
        ])
    func line(text: String, safe: String) {
        #expect(SafeText.line(text).unicodeScalars.elementsEqual(safe.unicodeScalars))
    }

    @Test("A text of several lines keeps its line feeds, but no other controls")
    func lines() {
        #expect(SafeText.lines("a\nb\n\n") == "a\nb\n\n")
        #expect(SafeText.lines("a\r\u{0B}\tb") == "a␍␋␉b")
    }
}
