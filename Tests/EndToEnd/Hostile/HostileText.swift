/// Texts that try to leave their line: everything that a terminal may obey, hide or turn around.
enum HostileText {
    /// Each kind with everything that belongs to it.
    static let kinds: [(name: String, texts: [String])] = [
        ("C0 controls and delete", scalars(0x01...0x1F) + ["\u{7F}"]),
        ("C1 controls", scalars(0x80...0x9F)),
        (
            "escape sequences",
            [
                "\u{1B}c", "\u{1B}[2J\u{1B}[H", "\u{1B}[31m", "\u{1B}[?1049h", "\u{1B}[6n",
                "\u{1B}[200~", "\u{1B}7", "\u{1B}(0", "\u{1B}[5i", "\u{1B}[>q", "\u{9B}31m",
                "\u{1B}]0;title\u{7}", "\u{1B}]52;c;aGk=\u{1B}\\", "\u{9D}0;x\u{9C}",
                "\u{1B}]8;;http://a\u{1B}\\b", "\u{1B}P+q\u{1B}\\", "\u{90}q\u{9C}",
                "\u{1B}_G\u{1B}\\", "\u{1B}^x\u{1B}\\", "\u{1B}Xs\u{1B}\\", "\u{1B}k\u{1B}\\",
            ]
        ),
        (
            "line breaks",
            ["a\r\nb", "a\rb", "a\u{B}b", "a\u{C}b", "\u{85}", "\u{2028}", "\u{2029}"]
        ),
        (
            "bidirectional controls",
            scalars(0x202A...0x202E) + scalars(0x2066...0x2069)
                + ["\u{200E}", "\u{200F}", "\u{61C}"]
        ),
        (
            "what has no width",
            scalars(0x200B...0x200D) + scalars(0x2060...0x2064) + scalars(0x206A...0x206F)
                + ["\u{FEFF}", "\u{AD}", "\u{180E}", "\u{34F}"] + scalars(0xFFF9...0xFFFB)
        ),
        (
            "what shows nothing",
            ["\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}", "\u{2800}", "\u{17B4}", "\u{17B5}"]
        ),
        ("tags", ["\u{E0001}"] + scalars(0xE0020...0xE007F)),
        (
            "variation selectors",
            scalars(0xFE00...0xFE0F) + ["\u{180B}", "\u{E0100}", "\u{E01EF}"]
        ),
        (
            "what no font has",
            ["\u{E000}", "\u{F8FF}", "\u{F0000}", "\u{10FFFD}", "\u{378}"]
                + scalars(0xFDD0...0xFDD1) + scalars(0xFFFE...0xFFFF)
        ),
        ("towers of marks", [tower("\u{301}", 60), tower("\u{20DD}", 30), tower("\u{489}", 20)]),
    ]

    /// All of it in pieces of a given size, each of which begins with its own name.
    static let pieces: [String] = {
        var pieces: [String] = []
        var piece = ""
        for text in kinds.flatMap(\.texts) {
            if piece.utf8.count + text.utf8.count > 200 || piece.isEmpty {
                if !piece.isEmpty { pieces.append(piece) }
                piece = "piece\(pieces.count)"
            }
            piece += "x" + text
        }
        return pieces + [piece + "x", "piece\(pieces.count + 1)" + "\u{1B}[31m\u{202E}"]
    }()

    /// As much of a piece as an id may have.
    static func id(_ piece: String) -> String {
        var scalars = piece.unicodeScalars
        scalars.removeAll { scalar in
            let category = scalar.properties.generalCategory
            return [.control, .lineSeparator, .paragraphSeparator].contains(category)
        }
        return String(scalars)
    }

    /// Thousands of marks on one letter.
    static let highTower = tower("\u{301}", 5000)

    private static func tower(_ mark: String, _ count: Int) -> String {
        "e" + String(repeating: mark, count: count)
    }

    private static func scalars(_ range: ClosedRange<UInt32>) -> [String] {
        range.compactMap { Unicode.Scalar($0).map { String($0) } }
    }
}
