import AlertCore
import Foundation
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Numbered prompt", .inParallel)
struct NumberedPromptTests {
    static let prompt = NumberedPrompt(
        Alert("Delete?", buttons: [.destructive("Delete it"), "Archive", .cancel("Keep")]),
        laterOptions: [.init(title: "5 min"), .init(title: "1 h", end: .after(.seconds(3600)))])

    @Test(
        "A line chooses what it names",
        arguments: [
            ("1", .button(0)),
            (" 2 \r", .button(1)),
            ("keep", .button(2)),
            ("l", .later(nil)),
            ("L2", .later(.seconds(3600))),
            ("", nil), ("4", nil), ("0", nil), ("-1", nil), ("l3", nil),
            ("yes", nil), ("\u{1B}[A1", nil),
        ] as [(String, PresenterChoice?)])
    func reads(line: String, choice: PresenterChoice?) {
        #expect(Self.prompt.read(line) == choice)
    }

    @Test(
        "The first letter of one button's label or id chooses it",
        arguments: [
            (
                [.init("Prune", id: "yes"), .cancel("Keep", id: "no")], ["y", "p", "N", "k"], 0b1100
            ),
            (["Yes", "No"], ["y", "n"], 0b10),
        ] as [([Alert.Button], [String], Int)])
    func letters(buttons: [Alert.Button], lines: [String], expected: Int) {
        let prompt = NumberedPrompt(
            Alert("?", buttons: buttons), laterOptions: [.init(title: "5 min")])
        for (index, line) in lines.enumerated() {
            #expect(prompt.read(line) == .button(expected >> index & 1), "\(line)")
        }
        // One that could mean two buttons, or the mark of “later”, chooses none of them.
        let unclear = NumberedPrompt(
            Alert("?", buttons: ["Not now", .init("Never", id: "x"), "Leave"]),
            laterOptions: [.init(title: "5 min")])
        #expect(unclear.read("n") == nil && unclear.read("l") == .later(nil))
        #expect(unclear.read("x") == .button(1))
    }

    @Test("Each choice is listed with the text to type for it")
    func lines() {
        let lines = Self.prompt.lines(facts: ["backup (ana)"], columns: 40)
        #expect(
            lines == [
                "Delete?", "backup (ana)", "  1)  Delete it (destructive)",
                "  2)  Archive", "  3)  Keep",
                "  l)  later: 5 min", "  l2) later: 1 h",
            ])
    }

    @Test("In ASCII, a button's code points are listed, and its label still chooses it")
    func ascii() {
        let prompt = NumberedPrompt(
            Alert("“消す”?", message: "é\n<U+00E9>", buttons: ["はい", .cancel("Nein")]),
            laterOptions: [], characters: .ascii)
        #expect(
            prompt.lines(facts: ["backup"], columns: 80) == [
                "<U+201C><U+6D88><U+3059><U+201D>?", "backup", "<U+00E9>", "<U+003C>U+00E9>",
                "  1)  <U+306F><U+3044>", "  2)  Nein",
            ])
        #expect(prompt.read("はい") == .button(0))
        #expect(prompt.read("<U+306F><U+3044>") == nil)
        #expect(prompt.name(of: .button(0)) == "<U+306F><U+3044>")
    }

    @Test("In ASCII, the echo of a key takes as many columns as are erased with it")
    func asciiEcho() {
        var line = PromptLine(.ascii)
        var echo = ""
        for key in "é<U+" { echo += line.press(.character(key), isAlone: true) }
        #expect(echo == "<U+00E9><U+" && line.text == "é<U+")
        let erasure = line.press(.eraseLine, isAlone: true)
        #expect(erasure == String(repeating: "\u{8} \u{8}", count: echo.count))
        _ = line.press(.character("日"), isAlone: true)
        #expect(line.press(.erase, isAlone: true).count == "<U+65E5>".count * 3)
    }

    @Test(
        "No mark of a choice is the name of another button",
        arguments: [
            (["3", "2", "1"], "#", ["1": 2, "3": 0, "#1": 0, "#3": 2, "2": 1]),
            (["x", "#1", "1"], "##", ["1": 2, "#1": 1, "##1": 0, "##3": 2]),
            (["Go", "L"], "#", ["l": 1, "#2": 1]),
            (["1", "2"], "", ["1": 0, "2": 1]),
        ] as [([String], String, [String: Int])])
    func marks(titles: [String], prefix: String, choices: [String: Int]) {
        let alert = Alert("Which?", buttons: titles.map { Alert.Button($0) })
        let prompt = NumberedPrompt(alert, laterOptions: [.init(title: "5 min")])
        let question = "\(prefix)1 to \(prefix)\(titles.count), \(prefix)l for later, or "
        #expect(prompt.question.hasPrefix(question))
        for (line, index) in choices { #expect(prompt.read(line) == .button(index), "\(line)") }
        #expect(prompt.read(prefix + "l") == .later(nil))
        let lines = prompt.lines(facts: [], columns: 40)
        #expect(lines.contains("  \(prefix)1)  \(titles[0])"))
    }

    @Test("Something else than a choice's mark or a button's name chooses nothing")
    func noMark() {
        let alert = Alert("Which?", buttons: ["2", "1"])
        let prompt = NumberedPrompt(alert, laterOptions: [.init(title: "5 min")])
        for line in ["3", "#3", "l", "##1", "#"] { #expect(prompt.read(line) == nil, "\(line)") }
    }

    @Test("A line that begins with a plus sign is a note, unless a button has that name")
    func note() {
        let prompt = NumberedPrompt(Alert("Rate it", buttons: ["+1", "+ 2"]), laterOptions: [])
        #expect(prompt.question == "1 to 2, or + and a text for a note: ")
        #expect(prompt.read("+1") == .button(0) && prompt.read("+ 2") == .button(1))
        #expect(prompt.read("+ 1") == nil && prompt.note("+ 1") == "1")
        #expect(prompt.note(" +well done \r") == "well done" && prompt.note("+") == "")
        #expect(prompt.note("1") == nil && prompt.note("") == nil)
    }

    @Test("A date that was offered hours ago is still the same date, and after it the next day's")
    func date() {
        let offered = Date(timeIntervalSince1970: 1_800_000_000)
        let prompt = NumberedPrompt(
            Alert("Go?", buttons: ["Yes"]),
            laterOptions: [.init(title: "tomorrow 8:00", end: .at(offered + 50_400))])
        let times: [(TimeInterval, Int)] = [
            (0, 50_400), (18_000, 32_400), (50_399, 1), (50_400, 86_400), (50_401, 86_399),
            (50_400 + 90_000, 82_800),
        ]
        for (passed, left) in times {
            #expect(prompt.read("l", now: offered + passed) == .later(.seconds(left)), "\(passed)")
        }
    }
}
