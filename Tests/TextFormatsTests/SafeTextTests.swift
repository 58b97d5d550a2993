import TestSupport
import Testing
import TextFormats

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

    @Test(
        "A title appears as its readers write it; what hides or reorders stays visible",
        arguments: [
            // Khmer and Thai words, Bengali ya-phalaa and a half form, Malayalam chillus.
            ("ភាសា\u{200B}ខ្មែរ", "ភាសា\u{200B}ខ្មែរ"), ("ภาษา\u{200B}ไทย", "ภาษา\u{200B}ไทย"),
            ("র\u{200D}্যাব", "র\u{200D}্যাব"), ("ক্\u{200D}", "ক্\u{200D}"),
            ("ক্\u{200C}ষ", "ক্\u{200C}ষ"), ("ക്\u{200D}ഷ", "ക്\u{200D}ഷ"),
            ("അവന്\u{200D} വന്നു", "അവന്\u{200D} വന്നു"), ("ක්\u{200D}ය", "ක්\u{200D}ය"),
            ("می\u{200C}خواهم", "می\u{200C}خواهم"),
            ("🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}!", nil),
            ("Donau\u{AD}dampf\u{AD}schiff", "Donaudampfschiff"), ("e\u{301}\u{AD}t", "e\u{301}t"),
            // The same where no script needs them.
            ("a\u{200B}b", "a⟨U+200B⟩b"), ("ខ\u{200B}\u{200B}ខ", "ខ⟨U+200B⟩⟨U+200B⟩ខ"),
            ("ខ\u{200B}", "ខ⟨U+200B⟩"), ("\u{200B}ខ", "⟨U+200B⟩ខ"), ("ខ\u{200B}a", "ខ⟨U+200B⟩a"),
            ("a\u{200D}b", "a⟨U+200D⟩b"), ("a\u{200C}b", "a⟨U+200C⟩b"),
            ("র\u{200D}ব", "র⟨U+200D⟩ব"), ("a\u{94D}\u{200D}", "a\u{94D}⟨U+200D⟩"),
            ("ക്\u{200D}\u{200D}", "ക്⟨U+200D⟩⟨U+200D⟩"), ("ক্\u{200D}\u{9BE}", "ক্⟨U+200D⟩\u{9BE}"),
            ("🏴\u{E0067}\u{E0062}", "🏴⟨U+E0067⟩⟨U+E0062⟩"),
            ("🏴\u{E0067}\u{E007F}", "🏴⟨U+E0067⟩⟨U+E007F⟩"),
            ("a\u{E0067}\u{E007F}", "a⟨U+E0067⟩⟨U+E007F⟩"),
            ("🏴\u{E0031}\u{E0062}\u{E0073}\u{E007F}", "🏴⟨U+E0031⟩⟨U+E0062⟩⟨U+E0073⟩⟨U+E007F⟩"),
            ("a\u{AD}\u{AD}b", "a⟨U+00AD⟩⟨U+00AD⟩b"), ("a\u{AD} b", "a⟨U+00AD⟩ b"),
            ("\u{AD}a", "⟨U+00AD⟩a"), ("ខ\u{202E}ខ", "ខ⟨U+202E⟩ខ"), ("ខ\u{2060}ខ", "ខ⟨U+2060⟩ខ"),
            ("ខ\u{17B5}ខ", "ខ⟨U+17B5⟩ខ"),
            ("ខ\u{17C6}\u{200B}\u{17C6}", "ខ\u{17C6}⟨U+200B⟩\u{17C6}"),
            ("e\u{301}\u{AD}\u{301}", "e\u{301}⟨U+00AD⟩\u{301}"),
        ] as [(String, String?)])
    func title(text: String, shown: String?) {
        let title = SafeText.title(text)
        #expect(title.unicodeScalars.elementsEqual((shown ?? text).unicodeScalars), "\(title)")
        #expect(SafeText.title(title).unicodeScalars.elementsEqual(title.unicodeScalars))
        // What a program says is shown as strictly as a name.
        let revealed = SafeText.message(SafeText.revealed(text))
        #expect(revealed.unicodeScalars.elementsEqual(SafeText.lines(text).unicodeScalars))
    }

    @Test("Any title stays as it is once it is harmless, and what a program says is shown strictly")
    func anything() {
        let scalars: [Unicode.Scalar] = [
            "a", " ", "\n", "\u{301}", "ខ", "\u{17D2}", "ক", "\u{9CD}", "\u{9BE}", "\u{9BC}", "ن",
            "👩", "🏴", "\u{1F3FD}", "\u{FE0F}", "\u{AD}", "\u{200B}", "\u{200C}", "\u{200D}",
            "\u{E0067}", "\u{E0062}", "\u{E0031}", "\u{E007F}", "\u{202E}",
        ]
        var random = TestRandom()
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                if let scalar = scalars.randomElement(using: &random) {
                    text.unicodeScalars.append(scalar)
                }
            }
            let points = text.unicodeScalars.map { String($0.value, radix: 16) }
            let title = SafeText.title(text)
            let strict = SafeText.lines(text)
            let revealed = SafeText.message(SafeText.revealed(text))
            if !title.isIdentical(to: SafeText.title(title)) { Issue.record("changed: \(points)") }
            if !revealed.isIdentical(to: strict) { Issue.record("not strict: \(points)") }
        }
    }

    @Test("A text of several lines keeps its line feeds, but no other controls")
    func lines() {
        #expect(SafeText.lines("a\nb\n\n") == "a\nb\n\n")
        #expect(SafeText.lines("a\r\u{0B}\tb") == "a␍␋␉b")
    }
}
