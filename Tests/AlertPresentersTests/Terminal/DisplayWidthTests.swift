import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Display width", .inParallel)
struct DisplayWidthTests {
    @Test(
        "The width of a text is the number of columns that a terminal gives it",
        arguments: [
            ("", 0), ("abc", 3), ("日本語", 6), ("한글", 4), ("한", 2), ("ｆｕｌｌ", 8),
            ("e\u{301}", 1), ("שלום", 4), ("مرحبا", 5), ("क्ष", 2), ("🎉", 2),
            ("👨‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("👍🏽", 2), ("❤", 1), ("❤️", 2), ("1️⃣", 2), ("©", 1),
            ("…", 1), ("a\u{AD}b", 3),
            // As xterm and VTE count them.
            ("ភាសា\u{200B}ខ្មែរ", 8), ("ภาษา\u{200B}ไทย", 7), ("র\u{200D}্যাব", 4),
            ("അവന്\u{200D} വന്നു", 7), ("ക്\u{200D}ഷ", 2), ("می\u{200C}خواهم", 7),
            ("🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}!", 3),
        ])
    func widths(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test(
        "A cut text fits, and shows that it was cut",
        arguments: [
            ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
            ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 9, "👨‍👩‍👧‍👦…"), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 8, "…"), ("abc", 1, "…"), ("abc", 0, ""),
        ])
    func truncated(text: String, width: Int, expected: String) {
        #expect(DisplayWidth.truncated(text, to: width) == expected)
    }

    @Test("A padded text fills its columns, and a wider one is unchanged")
    func padded() {
        #expect(DisplayWidth.padded("日本", to: 6) == "日本  ")
        #expect(DisplayWidth.padded("abcdef", to: 3) == "abcdef")
    }

    @Test(
        "A text is broken between words, and inside a word only if necessary",
        arguments: [
            ("hello wide world", 7, ["hello", "wide", "world"]),
            ("abcdefghij kl", 4, ["abcd", "efgh", "ij", "kl"]),
            ("កខគ\u{200B}ឃងច\u{200B}ឆ", 4, ["កខគ", "ឃងច\u{200B}ឆ"]),
            ("日本語テスト", 5, ["日本", "語テ", "スト"]), ("日本", 1, ["日", "本"]),
            ("  indented", 20, ["  indented"]), ("one\n\ntwo", 20, ["one", "", "two"]),
            ("", 5, [""]), ("aaa bbb ", 3, ["aaa", "bbb"]), ("ab日本cd", 4, ["ab日", "本cd"]),
            ("word " + String(repeating: "x", count: 6), 6, ["word", "xxxxxx"]),
        ])
    func wrapped(text: String, width: Int, expected: [String]) {
        #expect(DisplayWidth.wrapped(text, to: width) == expected)
    }

    @Test(
        "A line is never longer than a terminal shows that knows no sequences of emoji",
        arguments: ["👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "❤️", "1️⃣"])
    func sequences(cluster: String) {
        let text = String(repeating: cluster, count: 40) + "; rm -rf /"
        let lines = DisplayWidth.wrapped(text, to: 20)
        #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
        for line in lines {
            let columns = line.unicodeScalars.reduce(0) { $0 + DisplayWidth.of(String($1)) }
            #expect(columns <= 20, "\(line)")
        }
    }

    @Test("No wrapped line is too wide, and no character is lost", arguments: [2, 7, 20, 80])
    func wrappedKeepsAll(width: Int) {
        let text = String(repeating: "Лорем ipsum 日本語 👨‍👩‍👧‍👦 dolor sit amet ", count: 50)
        let lines = DisplayWidth.wrapped(text, to: width)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
        #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
    }
}
