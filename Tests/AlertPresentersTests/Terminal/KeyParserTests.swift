import Glibc
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Key parser", .inParallel)
struct KeyParserTests {
    @Test(
        "The bytes of a terminal become keys, in pieces of any size",
        arguments: [
            ("\u{1B}[A", [Key.up]), ("\u{1B}OA", [.up]), ("\u{1B}[1;2C", [.right]),
            ("\u{1B}[D\u{1B}[B", [.left, .down]), ("\u{1B}\u{1B}[A", [.up]),
            ("\t\u{1B}[Z", [.tab, .backTab]), ("\r\n", [.enter, .enter]), ("\u{1B}OM", [.enter]),
            ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
            ("\u{1B}[H\u{1B}[4~", [.home, .end]), ("\u{0C}", [.redraw]),
            ("\u{7F}\u{08}", [.erase, .erase]), ("\u{15}\u{04}", [.eraseLine, .endOfInput]),
            ("\u{01}\u{02}\u{05}\u{06}", [.home, .left, .end, .right]),
            ("\u{0B}\u{17}\u{1B}[3~", [.deleteLine, .eraseWord, .delete]),
            ("\u{1B}b\u{1B}f\u{1B}d", [.wordLeft, .wordRight, .deleteWord]),
            ("\u{1B}\u{7F}\u{1B}\u{08}", [.eraseWord, .eraseWord]),
            ("\u{1B}[1;5C\u{1B}[1;3D", [.wordRight, .wordLeft]),
            ("\u{1B}[200~yes\r\u{1B}[A no\n\u{1B}[201~", [.paste("yes\r\u{1B}[A no\n")]),
            ("\u{1B}[200~\u{1B}[20\u{1B}[201~y", [.paste("\u{1B}[20"), .character("y")]),
            ("yé", [.character("y"), .character("é")]), ("Да", [.character("Д"), .character("а")]),
            ("日😀", [.character("日"), .character("😀")]),
            // Keys as numbers, by kitty's protocol and by modifyOtherKeys.
            ("\u{1B}[13u\u{1B}[27u\u{1B}[9u\u{1B}[9;2u", [.enter, .escape, .tab, .backTab]),
            ("\u{1B}[121u\u{1B}[121;2u", [.character("y"), .character("Y")]),
            ("\u{1B}[55:47;2u\u{1B}[55;2;47u", [.character("/"), .character("/")]),
            ("\u{1B}[1076u\u{1B}[127u", [.character("д"), .erase]),
            ("\u{1B}[121;65u\u{1B}[121;129u", [.character("Y"), .character("y")]),
            ("\u{1B}[97;5u\u{1B}[117;5u\u{1B}[98;3u", [.home, .eraseLine, .wordLeft]),
            ("\u{1B}[99;5u\u{1B}[122;5u", [.signal(SIGINT), .signal(SIGTSTP)]),
            ("\u{1B}[27;5;99~\u{1B}[27;2;89~", [.signal(SIGINT), .character("Y")]),
            ("\u{1B}[27;5;13~\u{1B}[27;5;9~", []),
            ("\u{1B}[57400u\u{1B}[57414u\u{1B}[57420u", [.character("1"), .enter, .down]),
            ("\u{1B}[121;1:1u\u{1B}[121;1:2u\u{1B}[121;1:3u", [.character("y"), .character("y")]),
            ("\u{1B}[1;1:1A\u{1B}[1;1:3A\u{1B}[5;1:3~", [.up]),
        ] as [(String, [Key])])
    func keys(text: String, expected: [Key]) {
        var whole = KeyParser()
        #expect(whole.keys(from: text.utf8) == expected)
        // The same, byte by byte.
        var parser = KeyParser()
        #expect(text.utf8.flatMap { parser.keys(from: [$0]) } == expected)
    }

    @Test(
        "Sequences that are not keys are ignored up to their last byte",
        arguments: [
            "\u{1B}y", "\u{1B}\r", "\u{1B}é",  // With Alt.
            "\u{1B}[99~", "\u{1B}[[A", "\u{1B}[?1;2c", "\u{1B}[<0;5;5M", "\u{1B}[Myyy",
            "\u{1B}[I", "\u{1B}[24;80R",
            "\u{1B}[?A", "\u{1B}[>1;2B", "\u{1B}[<H",
            "\u{1B}[121;1:3u", "\u{1B}[13;1:3u", "\u{1B}[57441u", "\u{1B}[121;3u", "\u{1B}[121;9u",
            "\u{1B}[u", "\u{1B}[;5u", "\u{1B}[3u", "\u{1B}[1114112u",
            "\u{1B}[99999999999999999999u",
            "\u{1B}]11;rgb:0000/ffff/yyyy\u{07}", "\u{1B}]52;c;eXl5\u{1B}\\",
            "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_Gyes\u{1B}\\", "\u{03}\u{10}\u{00}",
        ])
    func nothing(text: String) {
        var parser = KeyParser()
        #expect(parser.keys(from: text.utf8) == [])
        #expect(parser.pause() == nil)
        #expect(parser.keys(from: "y".utf8) == [.character("y")])
    }

    @Test("Of a paste without end, no more is kept than a value can have")
    func endlessPaste() {
        var parser = KeyParser()
        let text = "\u{1B}[200~" + String(repeating: "x", count: 1 << 20) + "\u{1B}[201~"
        guard case .paste(let pasted)? = parser.keys(from: text.utf8).first else {
            Issue.record("no paste")
            return
        }
        #expect(pasted.utf8.count == 2 * LineEditor.limit)
    }

    @Test("Invalid UTF-8 is ignored, and the next key counts")
    func invalid() {
        var parser = KeyParser()
        let bytes: [UInt8] = [0x80, 0xFF, 0xC3, 0x28, 0xED, 0xA0, 0x80, 0x79]
        #expect(parser.keys(from: bytes) == [.character("("), .character("y")])
    }

    @Test("An ESC is the Escape key only if nothing follows it")
    func loneEscape() {
        var parser = KeyParser()
        #expect(parser.keys(from: [0x1B]) == [])
        #expect(parser.patience == .milliseconds(50))
        #expect(parser.pause() == .escape)
        #expect(parser.pause() == nil)
        #expect(parser.patience == nil)
    }

    @Test("A truncated sequence is no key, and keys work again after it")
    func cutOff() {
        for text in ["\u{1B}[", "\u{1B}[1;", "\u{1B}O", "\u{1B}]0;x", "\u{1B}[200~yes"] {
            var parser = KeyParser()
            #expect(parser.keys(from: text.utf8.prefix(5)) == [])
            _ = parser.keys(from: text.utf8.dropFirst(5))
            #expect(parser.pause() != .escape)
            #expect(parser.keys(from: "n".utf8) == [.character("n")])
        }
    }

    @Test("Keys still work after 100,000 random bytes")
    func random() {
        var generator = TestRandom()
        var parser = KeyParser()
        for _ in 0..<100_000 {
            _ = parser.keys(from: [UInt8.random(in: 0...255, using: &generator)])
        }
        while parser.patience != nil { _ = parser.pause() }
        #expect(parser.keys(from: "y".utf8) == [.character("y")])
    }
}
