import Testing

@testable import alertq

@Suite("ASCII text", .inParallel)
struct ASCIITextTests {
    @Test(
        "ASCII is wanted where the first variable that names a locale names none of UTF-8",
        arguments: [
            ([:], false), (["LANG": "C"], true), (["LC_ALL": "POSIX"], true),
            (["LANG": "de_DE.UTF-8"], false), (["LC_CTYPE": "C.utf8", "LANG": "C"], false),
            (["LC_ALL": "C", "LANG": "de_DE.UTF-8"], true), (["LANG": "de_DE@euro"], true),
        ])
    func locales(variables: [String: String], isWanted: Bool) {
        #expect(ASCIIText.isWanted { variables[$0] } == isWanted)
    }

    @Test("Punctuation becomes ASCII of the same width, and letters stay")
    func standIns() {
        let text = "“Müll” → ‘x’… −1 ⟨U+202E⟩ ␛ 日本\n"
        let ascii = "'Müll' > 'x'~ -1 <U+202E> ? 日本\n"
        #expect(ASCIIText.text(text) == ascii)
        #expect(ASCIIText.text(ascii) == ascii)
    }

    /// Each error, note and table line may have any of these.
    @Test("Every sign in the command's help has a stand-in")
    func help() {
        for verb in Verbs.all {
            let text = ASCIIText.text(Help.text(for: verb, columns: 80))
            #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(verb.name)")
        }
    }
}
