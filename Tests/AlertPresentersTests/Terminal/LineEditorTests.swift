import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Line editor", .inParallel)
struct LineEditorTests {
    /// The text with a `|` where the cursor is, after some keys.
    static func edited(_ keys: [Key], _ text: String = "", isMultiline: Bool = false) -> String {
        var editor = LineEditor(text, isMultiline: isMultiline)
        for key in keys { _ = editor.press(key) }
        return editor.text[..<editor.cursor] + "|" + editor.text[editor.cursor...]
    }

    @Test(
        "Keys edit a line as readline does",
        arguments: [
            ([.character("a"), .left, .character("b")], "b|a"),
            ([.home, .character("x")], "x|one two, three"),
            ([.wordLeft], "one two, |three"), ([.wordLeft, .wordLeft], "one |two, three"),
            ([.home, .wordRight], "one| two, three"),
            ([.home, .wordRight, .wordRight], "one two|, three"),
            ([.eraseWord], "one two, |"), ([.eraseWord, .eraseWord], "one |"),
            ([.home, .deleteWord], "| two, three"), ([.erase], "one two, thre|"),
            ([.home, .delete], "|ne two, three"), ([.home, .endOfInput], "|ne two, three"),
            ([.wordLeft, .eraseLine], "|three"), ([.wordLeft, .deleteLine], "one two, |"),
            ([.eraseLine, .erase, .left, .eraseWord], "|"), ([.right, .delete], "one two, three|"),
        ] as [([Key], String)])
    func edits(keys: [Key], expected: String) {
        let text = keys.first == .character("a") ? "" : "one two, three"
        #expect(Self.edited(keys, text) == expected)
    }

    @Test("What belongs to one character is moved over and erased as one")
    func clusters() {
        let family = "👨‍👩‍👧"
        #expect(Self.edited([.left, .erase], "a\(family)b") == "a|b")
        #expect(Self.edited([.character("e"), .character("\u{301}"), .erase]) == "|")
        #expect(Self.edited([.left, .character("🇩"), .right], "🇪") == "🇩🇪|")
    }

    @Test("Lines are moved between and ended by Enter, and edited each by itself")
    func lines() {
        let text = "first\nsecond, longer\nlast"
        let edited = { Self.edited($0, text, isMultiline: true) }
        #expect(edited([.up]) == "first\nseco|nd, longer\nlast")
        #expect(edited([.up, .end, .up]) == "first|\nsecond, longer\nlast")
        #expect(edited([.up, .up, .up, .down]) == "first\nseco|nd, longer\nlast")
        #expect(edited([.up, .home, .deleteLine]) == "first\n|\nlast")
        #expect(edited([.up, .eraseLine, .erase]) == "first|nd, longer\nlast")
        #expect(edited([.enter, .character("x")]) == text + "\nx|")
        var editor = LineEditor(text, isMultiline: true)
        #expect(editor.press(.down) == nil && editor.press(.tab) == nil)
        var line = LineEditor("a")
        #expect(line.press(.enter) == nil && line.press(.up) == nil)
    }

    @Test("A paste into a line becomes one line, and its control characters become visible")
    func paste() {
        #expect(Self.edited([.paste("one\r\ntwo\n\nthree\n")]) == "one two three|")
        #expect(Self.edited([.paste("\n")]) == "|")
        #expect(
            Self.edited([.paste("one\r\ntwo\n")], isMultiline: true) == "one\ntwo\n|")
        for isMultiline in [false, true] {
            let text = Self.edited([.paste("a\u{1B}[2J\0\tb")], isMultiline: isMultiline)
            #expect(text == "a␛[2J␀\tb|")
        }
    }

    @Test("A text has 4 KiB at most, and says when something was left out")
    func limit() {
        var editor = LineEditor(isMultiline: true)
        #expect(editor.press(.paste(String(repeating: "日\n", count: 1023))) == .done)
        #expect(editor.press(.paste("日日")) == .cut)
        #expect(editor.text.utf8.count == 4095)
        #expect(editor.press(.character("é")) == .cut && editor.press(.character("e")) == .done)
        #expect(editor.press(.character("e")) == .cut && editor.press(.erase) == .done)
    }

    // MARK: - Layout

    @Test("A long line is wrapped, so that all of it is shown")
    func wholeLine() {
        let shown = { (keys: [Key]) in
            var editor = LineEditor("0123456789")
            for key in keys { _ = editor.press(key) }
            let rows = editor.rows(columns: 8)
            let cursor = rows.firstIndex { $0.cursor != nil } ?? -1
            return rows.map { $0.cells.joined() } + ["\(cursor):\(rows[cursor].cursor ?? -1)"]
        }
        #expect(shown([]) == ["01234567", "89 ", "1:2"])
        #expect(shown([.home]) == ["01234567", "89", "0:0"])
    }

    @Test("Several lines are wrapped, with a cell for the cursor after the last character")
    func wraps() {
        let shown = { (text: String) in
            LineEditor(text, isMultiline: true).rows(columns: 4).map { $0.cells.joined() }
        }
        #expect(shown("0123456\n\nx") == ["0123", "456", "", "x "])
        #expect(shown("0123") == ["0123", " "])
        #expect(shown("日本語") == ["日本", "語 "])
        #expect(shown("\u{202E}a") == ["⟨U+202E⟩", "a "])
    }

    @Test("A joiner that a script needs is shown as it is, and any other one is visible")
    func joiners() {
        for (text, shown) in [
            ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("a\u{200C}b", "a⟨U+200C⟩b"),
            ("می\u{200C}", "می⟨U+200C⟩"),
        ] {
            let cells = LineEditor(text).rows(columns: 40)[0].cells
            #expect(cells.joined().unicodeScalars.elementsEqual((shown + " ").unicodeScalars))
        }
    }

    @Test("Nothing in a text can move the terminal's cursor", arguments: hostileTexts)
    func hostile(text: String) {
        for isMultiline in [false, true] {
            let rows = LineEditor(text, isMultiline: isMultiline).rows(columns: 10)
            let shown = rows.flatMap(\.cells).joined().unicodeScalars
            #expect(!shown.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
            #expect(!shown.contains("\u{202E}"))
        }
    }

    @Test("Random edits do the same to a text as to an array of characters")
    func random() throws {
        var generator = TestRandom()
        for isMultiline in [false, true] {
            var editor = LineEditor(isMultiline: isMultiline)
            var model = EditorModel(isMultiline: isMultiline)
            var keys: [Key] = []
            for step in 0..<FaultForm.count(short: 10_000, full: 500_000) {
                let key = EditorModel.key(&generator)
                keys = keys.suffix(20) + [key]
                _ = editor.press(key)
                model.press(key)
                let cursor = editor.text.distance(from: editor.text.startIndex, to: editor.cursor)
                guard cursor == model.cursor, editor.text.utf8.elementsEqual(model.utf8) else {
                    let expected = String(model.text) + "”, \(model.cursor)"
                    Issue.record("“\(editor.text)”, \(cursor), not “\(expected) after \(keys)")
                    return
                }
                guard step % 50 == 0 else { continue }
                checkRows(of: editor, Int.random(in: 1...30, using: &generator))
                // Edits of long texts take long, and find no more.
                if editor.text.utf8.count > 300 {
                    editor = LineEditor(isMultiline: isMultiline)
                    model = EditorModel(isMultiline: isMultiline)
                }
            }
        }
    }

    private func checkRows(of editor: LineEditor, _ columns: Int) {
        let rows = editor.rows(columns: columns)
        #expect(rows.count { $0.cursor != nil } == 1)
        for row in rows {
            let width = row.cells.reduce(0) { $0 + DisplayWidth.of($1) }
            let count = row.cells.count { DisplayWidth.of($0) > 0 }
            #expect(width <= columns || count <= 1, "\(row) in \(columns)")
            #expect(row.cursor.map(row.cells.indices.contains) != false)
        }
        let shown = Array(editor.text).filter { !$0.isNewline }.map { SafeText.line(String($0)) }
        let (all, cells) = (shown.joined(), rows.flatMap(\.cells).joined())
        #expect(
            cells.unicodeScalars.filter { $0 != " " } == all.unicodeScalars.filter { $0 != " " })
    }
}

/// What an editor should do, written plainly with an array.
private struct EditorModel {
    var text: [Character] = []
    var cursor = 0
    let isMultiline: Bool

    init(isMultiline: Bool) { self.isMultiline = isMultiline }

    var utf8: String.UTF8View { String(text).utf8 }

    static func key(_ generator: inout TestRandom) -> Key {
        let pieces: [Character] = [
            "a", "b", "1", " ", " ", ",", "é", "e", "\u{301}", "日", "👨‍👩‍👧", "👨", "\u{200D}", "🇩",
            "🇪", "\u{202E}", "\u{1B}", "\t", "한", "ᄒ", "ᅡ", "\n",
        ]
        let keys: [Key] = [
            .enter, .erase, .delete, .eraseWord, .deleteWord, .left, .right, .wordLeft, .wordRight,
            .home, .end, .up, .down, .endOfInput, .tab, .escape, .left, .right,
        ]
        switch Int.random(in: 0..<1000, using: &generator) {
        case 0: return .paste(String(repeating: "0123456789日\n", count: 400))
        case 1...4: return .eraseLine
        case 5...8: return .deleteLine
        case 9...100:
            let count = Int.random(in: 0...8, using: &generator)
            let pasted = (0..<count).map { _ in pieces.randomElement(using: &generator)! }
            return .paste(String(pasted))
        case 101...500:
            let piece = pieces.dropLast().randomElement(using: &generator)!
            return .character(piece)
        default: return keys.randomElement(using: &generator)!
        }
    }

    mutating func press(_ key: Key) {
        switch key {
        case .character(let character): insert([character])
        case .enter: if isMultiline { insert(["\n"]) }
        case .paste(let pasted):
            let lines = pasted.split(separator: "\n").map(String.init)
            insert(Array(isMultiline ? pasted : lines.joined(separator: " ")))
        case .erase: replace(max(0, cursor - 1)..<cursor, with: [])
        case .delete, .endOfInput: replace(cursor..<min(text.count, cursor + 1), with: [])
        case .eraseWord: replace(wordStart..<cursor, with: [])
        case .deleteWord: replace(cursor..<wordEnd, with: [])
        case .eraseLine: replace(lineStart(cursor)..<cursor, with: [])
        case .deleteLine: replace(cursor..<lineEnd(cursor), with: [])
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .home: cursor = lineStart(cursor)
        case .end: cursor = lineEnd(cursor)
        case .up:
            let start = lineStart(cursor)
            guard start > 0 else { return }
            cursor = min(lineStart(start - 1) + cursor - start, start - 1)
        case .down:
            let end = lineEnd(cursor)
            guard end < text.count else { return }
            cursor = min(end + 1 + cursor - lineStart(cursor), lineEnd(end + 1))
        default: break
        }
    }

    private mutating func insert(_ characters: [Character]) {
        var part: [Character] = []
        for character in characters {
            let shown = character == "\u{1B}" ? "␛" : character
            let size = String(text).utf8.count + String(part).utf8.count + shown.utf8.count
            guard size <= LineEditor.limit else { break }
            part.append(shown)
        }
        replace(cursor..<cursor, with: part)
    }

    private mutating func replace(_ range: Range<Int>, with part: [Character]) {
        let before = String(text[..<range.lowerBound]) + String(part)
        text = Array(before + String(text[range.upperBound...]))
        cursor = 0
        var size = 0
        while size < before.utf8.count {
            size += text[cursor].utf8.count
            cursor += 1
        }
    }

    private var wordStart: Int {
        var index = cursor
        while index > 0, !isOfWord(index - 1) { index -= 1 }
        while index > 0, isOfWord(index - 1) { index -= 1 }
        return index
    }

    private var wordEnd: Int {
        var index = cursor
        while index < text.count, !isOfWord(index) { index += 1 }
        while index < text.count, isOfWord(index) { index += 1 }
        return index
    }

    private func isOfWord(_ index: Int) -> Bool { text[index].isLetter || text[index].isNumber }

    private func lineStart(_ index: Int) -> Int {
        var index = index
        while index > 0, text[index - 1] != "\n" { index -= 1 }
        return index
    }

    private func lineEnd(_ index: Int) -> Int {
        var index = index
        while index < text.count, text[index] != "\n" { index += 1 }
        return index
    }
}
