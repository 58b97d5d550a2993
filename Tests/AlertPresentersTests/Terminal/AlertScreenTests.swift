import AlertCore
import Foundation
import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Alert screen", .inParallel)
struct AlertScreenTests {
    static let alerts: [Alert] = [
        Alert("Done"),
        Alert("Delete?", message: "This can't be undone.", buttons: [.cancel("No"), "Yes"]),
        Alert("すべて削除しますか？", message: "元に戻せません。", buttons: ["はい", .cancel("いいえ")]),
        Alert("👨‍👩‍👧‍👦 🇩🇪 ❤️", message: "e\u{301} 👍🏽", buttons: ["🎉 Go", .cancel("🛑 Stop")]),
        Alert("למחוק?", message: "לא ניתן לשחזר", buttons: [.destructive("כן"), .cancel("לא")]),
        Alert.sheet("Item", cancel: "Cancel", destructive: "Delete", others: ["Rename", "Copy"]),
        Alert(
            String(repeating: "long title ", count: 90),
            message: String(repeating: "long message\n", count: 900),
            buttons: (0..<16).map {
                Alert.Button("Button \($0) " + String(repeating: "x", count: 90))
            }),
    ]
    static let sizes = [1, 2, 20, 40, 80, 200].flatMap { columns in
        [1, 2, 3, 5, 24, 60].map { Terminal.Size(columns: columns, rows: $0) }
    }

    static func state(_ alert: Alert, isLive: Bool = true) -> AlertScreen.State {
        let options: [AlertInteraction.LaterOption] = [
            .init(title: "5 min"), .init(title: "1 h", end: .after(.seconds(3600))),
        ]
        return AlertScreen.State(
            interaction: AlertInteraction(alert, laterOptions: options),
            facts: ["backup (ana)", "just now", "0:59 left"], isLive: isLive)
    }

    static func lines(
        _ alert: Alert, columns: Int, rows: Int = 24, after keys: [Key] = [], isLive: Bool = true
    ) -> [StyledLine] {
        var state = state(alert, isLive: isLive)
        for key in keys { _ = state.interaction.press(key, visible: []) }
        var screen = AlertScreen(alert)
        return screen.layout(state, size: .init(columns: columns, rows: rows)).lines
    }

    @Test("Every alert fits into every window", arguments: sizes)
    func fits(size: Terminal.Size) {
        for alert in Self.alerts {
            for keys in [[], [.end], [.right], [.character("l")]] as [[Key]] {
                let lines = Self.lines(alert, columns: size.columns, rows: size.rows, after: keys)
                #expect(!lines.isEmpty && lines.count <= size.rows)
                #expect(lines.allSatisfy { $0.width <= max(size.columns, 2) })
            }
        }
    }

    @Test("In ASCII every alert fits into every window, too", arguments: sizes)
    func ascii(size: Terminal.Size) {
        let characters = TerminalCharacters.ascii
        for alert in Self.alerts {
            var state = Self.state(alert)
            state.interaction = AlertInteraction(
                alert, laterOptions: [.init(title: "5 min")], characters: characters)
            var screen = AlertScreen(alert, characters: characters)
            let lines = screen.layout(state, size: size).lines
            #expect(!lines.isEmpty && lines.count <= size.rows)
            for line in lines {
                let text = characters.ours(line.text)
                #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(text)")
                // What the terminal writes in place of our signs is as wide as they are.
                #expect(text.utf8.count == line.width && line.width <= max(size.columns, 2))
            }
        }
    }

    @Test("The letters of a code point choose nothing")
    func codePointLetters() {
        let alert = Alert("?", buttons: ["はい", .cancel("いいえ")])
        var interaction = AlertInteraction(alert, laterOptions: [], characters: .ascii)
        #expect(interaction.buttons.choices[0].title == "<U+306F><U+3044>")
        for letter in ["u", "3"] as [Character] {
            #expect(interaction.press(.character(letter), visible: [0, 1]) == nil)
        }
        #expect(interaction.press(.character("は"), visible: [0, 1]) == .finish(.button(0)))
        #expect(interaction.press(.character("2"), visible: [0, 1]) == .finish(.button(1)))
    }

    @Test("The selected button is visible and can be chosen in any window that is large enough")
    func selectionIsVisible() {
        for alert in Self.alerts where !alert.buttons.isEmpty {
            var screen = AlertScreen(alert)
            for size in Self.sizes where AlertScreen.isLargeEnough(size) {
                for index in alert.buttons.indices {
                    var state = Self.state(alert)
                    for key in [.home] + Array(repeating: Key.down, count: index) {
                        _ = state.interaction.press(key, visible: [])
                    }
                    let layout = screen.layout(state, size: size)
                    let isSeen = layout.lines.contains {
                        $0.runs.contains { $0.look.contains(.inverse) }
                    }
                    #expect(isSeen && layout.visible.contains(index))
                }
            }
        }
    }

    @Test(
        "A label that is longer than its window has to be read, too, before a button counts",
        arguments: [(40, 8), (20, 6), (10, 4)])
    func longLabel(columns: Int, rows: Int) {
        let words = (1...40).map { "word\($0)" }
        let label = words.joined(separator: " ")
        let alert = Alert("Which?", buttons: [Alert.Button(label), .cancel("No")])
        var state = Self.state(alert)
        var screen = AlertScreen(alert)
        var shown: [String] = []
        while true {
            let layout = screen.layout(state, size: .init(columns: columns, rows: rows))
            screen.saw(layout)
            shown += layout.lines.flatMap { $0.text.split(separator: " ").map(String.init) }
            guard layout.firstUnseen != nil else {
                #expect(layout.isAllShown)
                break
            }
            #expect(!layout.isAllShown && state.scroll < layout.maxScroll)
            guard state.scroll < layout.maxScroll else { break }
            state.scroll = min(layout.scroll + layout.page, layout.maxScroll)
        }
        #expect(words.allSatisfy(shown.contains), "\(shown)")
        // Where all of it fits, there is nothing to scroll.
        var whole = AlertScreen(alert)
        let layout = whole.layout(Self.state(alert), size: .init(columns: 80, rows: 24))
        #expect(layout.isAllShown && layout.maxScroll == 0)
    }

    @Test("Every button that can be chosen is shown with its full label", arguments: sizes)
    func choosable(size: Terminal.Size) {
        let labels = (0..<16).map { "Button \($0)" }
        let alert = Alert("Which?", buttons: labels.map { Alert.Button($0) })
        for index in labels.indices {
            var state = Self.state(alert)
            for key in [.home] + Array(repeating: Key.down, count: index) {
                _ = state.interaction.press(key, visible: [])
            }
            var screen = AlertScreen(alert)
            let layout = screen.layout(state, size: size)
            #expect(layout.isTooSmall == !AlertScreen.isLargeEnough(size))
            guard size.columns >= 20 else { continue }
            for index in layout.visible {
                let isShown = layout.lines.contains {
                    $0.text.hasSuffix(labels[index]) || $0.text.contains("[ \(labels[index]) ]")
                }
                #expect(isShown)
            }
            #expect(layout.isTooSmall ? layout.visible.isEmpty : !layout.visible.isEmpty)
        }
    }

    @Test("A window that is too small says so, as far as the text fits")
    func tooSmall() {
        let alert = Self.alerts[1]
        #expect(Self.lines(alert, columns: 20, rows: 3).first?.text == "Too small: make it")
        #expect(Self.lines(alert, columns: 1, rows: 1).map(\.text) == ["T"])
        #expect(Self.lines(alert, columns: 10, rows: 4).map(\.text).contains("› 1 No"))
    }

    @Test("Labels from right to left are shown one below the other")
    func rightToLeft() {
        let lines = Self.lines(Self.alerts[4], columns: 80).map(\.text)
        #expect(lines.contains("  1 כן") && lines.contains("› 2 לא"))
    }

    @Test("Buttons are on one line if they fit, otherwise one below the other")
    func rowOrList() {
        let alert = Self.alerts[1]
        let wide = Self.lines(alert, columns: 80).map(\.text)
        #expect(wide.contains("[ No ]  [ Yes ]"))
        let narrow = Self.lines(alert, columns: 14).map(\.text)
        #expect(narrow.contains("› 1 No") && narrow.contains("  2 Yes"))
    }

    @Test("A sheet is a list with its cancel button set apart at the end")
    func sheet() {
        let lines = Self.lines(Self.alerts[5], columns: 80).map(\.text)
        let tail = lines.suffix(6).dropLast()
        #expect(tail == ["  1 Delete", "  2 Rename", "  3 Copy", "", "› 4 Cancel"])
    }

    @Test("A label with brackets can't look like two buttons")
    func brackets() {
        let alert = Alert("?", buttons: ["Yes ]  [ No", .cancel("Cancel")])
        #expect(Self.lines(alert, columns: 80).map(\.text).contains("› 1 Yes ]  [ No"))
    }

    @Test("Before it takes keys, an alert says so and dims its buttons")
    func notLive() {
        let lines = Self.lines(Self.alerts[1], columns: 80, isLive: false)
        #expect(lines.last?.text == "stop typing to answer")
        let buttons = lines.flatMap(\.runs).filter { $0.text.hasPrefix("[") }
        #expect(buttons.count == 2 && buttons.allSatisfy { $0.look.contains(.dim) })
    }

    @Test(
        "The last line lists the keys that work",
        arguments: [
            (alerts[0], "Enter closes"),
            (
                alerts[1],
                "Enter chooses · l later… · Esc snoozes 5 min · ? keys · ←→ select · + note"
            ),
            (
                Alert("?", buttons: ["Later", .destructive("Delete")]),
                "Enter chooses · Esc later… · ? keys · ←→ select · + note · l chooses"
            ),
            (
                Alert("?", buttons: [.destructive("A"), .destructive("B")]),
                "←→ select · l later… · Esc snoozes 5 min · ? keys · + note"
            ),
        ])
    func hints(alert: Alert, hint: String) {
        #expect(Self.lines(alert, columns: 80).last?.text == hint)
    }

    @Test("The last line offers only ASCII letters")
    func foreignLetters() {
        let alert = Alert("?", buttons: ["はい", .cancel("No")])
        #expect(Self.lines(alert, columns: 90).last?.text.hasSuffix(" · n chooses") == true)
    }

    @Test("Without colours, a mark shows which buttons are destructive, and the hint explains it")
    func marks() {
        let alert = Alert("?", buttons: [.destructive("Drop"), .cancel("No")])
        var screen = AlertScreen(alert, hasColours: false)
        for (columns, label) in [(100, "[ ! Drop ]  [ No ]"), (14, "  1 ! Drop")] {
            let size = Terminal.Size(columns: columns, rows: 24)
            let lines = screen.layout(Self.state(alert), size: size).lines.map(\.text)
            #expect(lines.contains(label))
        }
        let lines = screen.layout(Self.state(alert), size: .init(columns: 100, rows: 24)).lines
        #expect(lines.last?.text.contains(" · ! destroys") == true)
        #expect(!Self.lines(alert, columns: 80).contains { $0.text.contains("!") })
    }

    @Test("Even a narrow window shows how to snooze the alert")
    func narrowHint() {
        #expect(Self.lines(Self.alerts[1], columns: 20).last?.text == "Enter · l later…")
        let facts = Self.lines(Self.alerts[1], columns: 20).map(\.text)
        #expect(facts.contains("backup (ana)") && facts.contains("just now · 0:59 left"))
    }

    @Test("A hint that doesn't fit is left out whole", arguments: 10...90)
    func wholeHints(columns: Int) {
        let known: Set<String> = [
            "Enter chooses", "Enter", "l later…", "Esc snoozes 5 min", "Esc later…", "? keys",
            "←→ select", "↑↓ select", "+ note", "stop typing", "wait",
            "stop typing to answer", "stop typing to close it", "Enter closes",
            "PgDn scrolls", "Enter next", "Tab next", "Enter begins a line", "Space selects",
            "←→ move", "↑↓ move", "Enter done", "Esc back", "Enter reads on", "PgDn reads on",
        ]
        let letters = try! Regex("^[a-z0-9](, [a-z0-9])* chooses?$")
        for alert in Self.alerts + [AlertFormTests.alert] {
            for (isLive, isAllShown) in [(false, true), (true, true), (true, false)] {
                var state = Self.state(alert, isLive: isLive)
                state.isAllShown = isAllShown
                var screen = AlertScreen(alert)
                let lines = screen.layout(state, size: .init(columns: columns, rows: 8)).lines
                let hints = lines.last?.text.components(separatedBy: " · ") ?? []
                for hint in hints where hint.wholeMatch(of: letters) == nil {
                    #expect(known.contains(hint), "“\(hint)” in \(columns) columns")
                }
            }
        }
    }

    @Test("A notice says that typing keeps it from closing, and not from answering")
    func notice() {
        let lines = Self.lines(Self.alerts[0], columns: 80, isLive: false)
        #expect(lines.last?.text == "stop typing to close it")
    }

    @Test("Who asks stands below the title, above a long message")
    func whoAsks() {
        let lines = Self.lines(Self.alerts[6], columns: 200).map(\.text)
        let end = lines.lastIndex { $0.hasPrefix("long title") } ?? 0
        #expect(lines[end + 1] == "backup (ana) · just now · 0:59 left")
    }

    @Test("The keys are explained in any window, and no line is cut")
    func help() {
        for alert in Self.alerts[1...] {
            for columns in [20, 60, 80] {
                let lines = Self.lines(alert, columns: columns, rows: 24, after: [.character("?")])
                #expect(lines.contains { $0.text.contains("adds a note") })
                #expect(!lines.contains { $0.text.contains("…") } || columns < 60)
                #expect(lines.last?.text == "any key goes back")
            }
        }
    }

    @Test("A long text can be read to its end by scrolling")
    func scrolls() {
        let words = (0..<200).map { "line \($0)" }
        let alert = Alert("Long", message: words.joined(separator: "\n"), buttons: ["OK"])
        var screen = AlertScreen(alert)
        var state = Self.state(alert)
        var seen: Set<String> = []
        for _ in 0..<100 {
            let layout = screen.layout(state, size: .init(columns: 40, rows: 10))
            #expect(layout.lines.contains { $0.text.contains("[ OK ]") })
            seen.formUnion(layout.lines.map(\.text))
            if state.scroll == layout.maxScroll { break }
            state.scroll = min(state.scroll + layout.page, layout.maxScroll)
        }
        #expect(seen.isSuperset(of: words))
    }

    @Test("Without colours, nothing is red, and the selection still shows")
    func colours() {
        var line = StyledLine("Yes", [.danger, .inverse])
        line.add("No", .danger)
        #expect(line.rendered(hasColours: true) == "\u{1B}[7;31mYes\u{1B}[0m\u{1B}[31mNo\u{1B}[0m")
        #expect(line.rendered(hasColours: false) == "\u{1B}[7mYes\u{1B}[0mNo")
    }
}
