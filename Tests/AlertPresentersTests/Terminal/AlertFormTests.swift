import AlertCore
import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Forms", .inParallel)
struct AlertFormTests {
    static let fields: [Alert.Field] = [
        Alert.Field("name", title: "New name", isRequired: true, placeholder: "nas"),
        Alert.Field("why", .text(.init(isMultiline: true))),
        Alert.Field("copies", .integer(1...3), initialValue: .integer(2)),
        Alert.Field("keep", .boolean),
        Alert.Field("disk", .choice(["sda", .init("The second", id: "sdb")]), isRequired: true),
        Alert.Field("tags", .choices(["a", "b", "c"], count: 1...2), detail: "At most two."),
    ]
    static let alert = Alert(
        "Rename?", buttons: ["Rename", "Quit", .cancel("Leave")], fields: fields)

    let visible: Set<Int> = [0, 1, 2]

    /// An alert after some keys, and what the last of them did.
    private func press(
        _ keys: [Key], _ alert: Alert = alert
    ) -> (AlertInteraction, AlertInteraction.Action?) {
        var interaction = AlertInteraction(alert, laterOptions: [.init(title: "5 min")])
        let actions = keys.map { interaction.press($0, visible: visible) }
        return (interaction, actions.last ?? nil)
    }

    private func text(_ text: String) -> [Key] { text.map { .character($0) } }
    private static let allFilled: [Key] = {
        var keys: [Key] = "nas".map { .character($0) }
        keys += [.enter, .character("1"), .enter, .character("2")]
        keys += [.tab, .erase, .character("3"), .enter, .right, .enter, .character("t"), .enter]
        return keys + [.character(" "), .right, .right, .character(" "), .enter]
    }()

    @Test("A form that is filled in goes with the button")
    func filled() {
        let (interaction, _) = press(Self.allFilled)
        #expect(interaction.form.focus == nil)
        let values: [String: Alert.Value] = [
            "name": .text("nas"), "why": .text("1\n2"), "copies": .integer(3),
            "keep": .boolean(true), "disk": .text("sdb"), "tags": .list(["a", "c"]),
        ]
        let (_, action) = press(Self.allFilled + [.enter])
        #expect(action == .finish(.button(0, Alert.Input(values: values))))
        // What the form gives is what an answer takes.
        #expect(throws: Never.self) {
            try Self.alert.completed(Alert.Input(values: values), buttonAt: 0)
        }
    }

    @Test("A missing or wrong value is shown instead of answering, unless the button cancels")
    func refused() {
        let (missing, action) = press([.backTab, .enter])
        #expect(action == .edited && missing.form.focus == 0)
        #expect(
            missing.form.entries.map(\.problem).map { $0 == nil } == [
                false, true, true, true, false, true,
            ])
        #expect(missing.form.entries[0].problem == "It must have a value.")
        let (wrong, _) = press([.tab, .tab, .character("9"), .tab])
        #expect(wrong.form.entries[2].problem == "It must be a whole number from 1 to 3.")
        let cancel = press([.backTab, .left, .enter]).1
        #expect(cancel == .finish(.button(2)))
        // A correction takes the problem away.
        var corrected = wrong
        for key in [Key.backTab, .erase] { _ = corrected.press(key, visible: visible) }
        #expect(corrected.form.entries[2].problem == nil)
    }

    @Test("An emptied field doesn't get its initial value again")
    func emptied() {
        let alert = Alert(
            "?", buttons: ["OK"],
            fields: [
                Alert.Field("a", initialValue: .text("x")),
                Alert.Field("b", .boolean, initialValue: .boolean(true)),
                Alert.Field("c", .boolean, initialValue: .boolean(false)),
            ])
        let (_, action) = press([.erase, .tab, .erase, .tab, .tab, .enter], alert)
        let values: [String: Alert.Value] = ["a": .text(""), "b": .text(""), "c": .boolean(false)]
        #expect(action == .finish(.button(0, Alert.Input(values: values))))
    }

    @Test("While an entry takes the keys, none of them chooses a button")
    func noChoice() {
        for index in Self.fields.indices {
            let start = Array(repeating: Key.tab, count: index)
            for letter in ["q", "l", "r", "1", "n", "Q"] as [Character] {
                let (interaction, action) = press(start + [.character(letter)])
                #expect(action == .edited || action == nil)
                #expect(interaction.form.focus == index && interaction.laterMenu == nil)
            }
        }
        #expect(press(text("q")).0.form.input(isCancelling: false).values["name"] == .text("q"))
        // As it does while the buttons take the keys.
        #expect(press([.escape]).0.laterMenu != nil)
        let alert = Alert("?", buttons: ["OK"], fields: Self.fields)
        #expect(press([.escape], alert).1 == .finish(.later(nil)))
    }

    @Test("Tab and the arrows go around the form and the buttons, in both directions")
    func around() {
        var interaction = press([]).0
        var places: [String] = []
        let place = { (interaction: AlertInteraction) in
            interaction.form.focus.map { "\($0)" } ?? "b\(interaction.buttons.selected ?? -1)"
        }
        for key in [Key.tab, .down] + Array(repeating: .tab, count: 7) {
            places.append(place(interaction))
            _ = interaction.press(key, visible: visible)
        }
        #expect(places == ["0", "1", "2", "3", "4", "5", "b0", "b1", "b2"])
        for expected in ["0", "b2", "b1", "b0", "5", "4"] {
            #expect(place(interaction) == expected)
            _ = interaction.press(expected == "0" ? .up : .backTab, visible: visible)
        }
    }

    @Test("Up and down move in a list of options one below the other, and leave it at its ends")
    func list() {
        var form = AlertForm([
            Alert.Field("one", .choice(["a", "b", "c"])),
            Alert.Field("some", .choices(["x", "y"])),
            Alert.Field("text"),
        ])
        func press(_ keys: [Key]) { for key in keys { _ = form.press(key, isInList: true) } }
        press([.down, .down])
        #expect(form.focus == 0 && form.input(isCancelling: false).values["one"] == .text("b"))
        press([.down, .up])
        #expect(form.focus == 0 && form.input(isCancelling: false).values["one"] == .text("b"))
        press([.end, .home, .character("c"), .down])
        #expect(form.focus == 1 && form.input(isCancelling: false).values["one"] == .text("c"))
        press([.down, .character(" "), .down])
        #expect(form.focus == 2 && form.input(isCancelling: false).values["some"] == .list(["y"]))
        press([.up, .up, .up])
        #expect(form.focus == 0)
    }

    @Test("A paste or a held key types into a text, without leaving it, and chooses nothing")
    func bursts() {
        var interaction = press([]).0
        let bursts: [[Key]] = [
            text("yes") + [.enter] + text("no") + [.enter], [.paste("\nq")], [.erase],
            [.enter, .enter],
        ]
        for keys in bursts {
            let isTyped = interaction.type(keys)
            #expect(isTyped)
        }
        #expect(interaction.form.focus == 0)
        let typed = interaction.form.input(isCancelling: false).values["name"]
        #expect(typed == .text("yes no"), "\(typed as Any)")
        // Held arrows and Tabs move as single ones do; an option or a button takes no text.
        expectNotTyped([[.tab, .tab], [.up]], &interaction)
        for key in [Key.tab, .tab, .tab] { _ = interaction.press(key, visible: visible) }
        expectNotTyped([text("y"), [.paste("yes")]], &interaction)
        for key in [Key.tab, .tab, .tab] { _ = interaction.press(key, visible: visible) }
        let before = interaction
        expectNotTyped([[.enter], [.paste("r\n")]], &interaction)
        let action = interaction.press(.paste("r"), visible: visible)
        #expect(action == nil && interaction == before)
    }

    private func expectNotTyped(_ bursts: [[Key]], _ interaction: inout AlertInteraction) {
        for keys in bursts {
            let isTyped = interaction.type(keys)
            #expect(!isTyped, "\(keys)")
        }
    }

    @Test("A note goes with any button, and is forgotten if it is left empty")
    func note() {
        let question = Alert("Go?", buttons: ["Yes", .cancel("Leave")])
        let written = press(text("+") + text("nq") + [.enter], question).0
        #expect(written.form.focus == nil)
        for (keys, index) in [([.enter], 0), (text("l") + [.enter], 1)] as [([Key], Int)] {
            var interaction = written
            let action = keys.map { interaction.press($0, visible: visible) }.last
            #expect(action == .finish(.button(index, Alert.Input(note: "nq"))))
        }
        #expect(press(text("+") + [.escape, .enter], question).1 == .finish(.button(0)))
        #expect(press(text("+") + [.enter], question).0.form.entries.isEmpty)
        // It can be taken up again.
        #expect(
            press(text("+x") + [.enter] + text("+y") + [.tab, .enter], question).1
                == .finish(.button(0, Alert.Input(note: "xy"))))
        #expect(press(text("n"), question).0.form.entries.isEmpty)
        #expect(press(text("+"), Alert("Done")).0.form.entries.isEmpty)
        // After fields, too, where it goes with the cancel button without them.
        let both = press(Self.allFilled + text("+") + text("why") + [.enter, .left, .enter]).1
        #expect(both == .finish(.button(2, Alert.Input(note: "why"))))
    }

    // MARK: - On the screen

    private static func lines(
        _ keys: [Key], columns: Int, rows: Int = 40, isLive: Bool = true
    ) -> AlertScreen.Layout {
        var state = AlertScreenTests.state(alert, isLive: isLive)
        for key in keys { _ = state.interaction.press(key, visible: [0, 1, 2]) }
        state.follows = keys.isEmpty ? .nothing : .cursor
        var screen = AlertScreen(alert)
        return screen.layout(state, size: .init(columns: columns, rows: rows))
    }

    @Test("A form stands between the message and the buttons, with what is wrong below each value")
    func shown() {
        let lines = Self.lines(text("x") + [.tab, .tab, .character("9"), .tab], columns: 80).lines
        #expect(
            lines.map { $0.text.replacing(#/ +$/#, with: "") } == [
                "Rename?", "backup (ana) · just now · 0:59 left", "",
                "New name (such as nas)", "  x", "why (optional)", "  —",
                "copies (a whole number from 1 to 3)", "  29",
                "  ! It must be a whole number from 1 to 3.",
                "keep (optional)", "› ( ) yes  ( ) no", "disk", "  ( ) sda  ( ) The second",
                "tags (optional, at most 2 options)", "At most two.", "  [ ] a  [ ] b  [ ] c", "",
                "[ Rename ]  [ Quit ]  [ Leave ]",
                "←→ select · Enter next · Esc later…",
            ])
    }

    @Test("The cursor is on the screen in any window that is large enough, and so is a button")
    func cursorIsVisible() {
        for size in AlertScreenTests.sizes where AlertScreen.isLargeEnough(size) {
            for index in 0..<6 {
                let keys: [Key] =
                    [.character(" ")] + Array(repeating: .tab, count: index)
                    + (index == 1 ? Array(repeating: .enter, count: 20) : [.character(" ")])
                let layout = Self.lines(keys, columns: size.columns, rows: size.rows)
                let hasCursor = layout.lines.contains { line in
                    line.runs.contains { $0.look.contains(.inverse) }
                }
                #expect(hasCursor && !layout.visible.isEmpty, "field \(index) in \(size)")
                #expect(layout.lines.count <= size.rows)
                #expect(layout.lines.allSatisfy { $0.width <= size.columns })
            }
        }
    }

    @Test("A text is shown whole, and scrolls with the others where it doesn't fit")
    func longText() {
        let typed: [Key] = [.tab, .paste((0..<20).map { "row \($0)" }.joined(separator: "\n"))]
        let shown = { (keys: [Key], rows: Int) in
            Self.lines(typed + keys, columns: 40, rows: rows).lines
                .map { $0.text.replacing(#/ +$/#, with: "") }.filter { $0.contains("row ") }
        }
        #expect(shown([], 60) == ["› row 0"] + (1..<20).map { "  row \($0)" })
        #expect(shown([], 12).last == "  row 19" && shown([], 12).count < 12)
        let above = Array(repeating: Key.up, count: 19)
        #expect(shown(above, 12).first == "› row 0")
    }

    @Test("In ASCII a form is as wide as it is laid out to be", arguments: [20, 80])
    func ascii(columns: Int) {
        let characters = TerminalCharacters.ascii
        var state = AlertScreenTests.state(Self.alert)
        for key in text("日é") + [.tab, .tab, .character("é"), .tab, .right] {
            _ = state.interaction.press(key, visible: [])
        }
        var screen = AlertScreen(Self.alert, characters: characters)
        let lines = screen.layout(state, size: .init(columns: columns, rows: 60)).lines
        #expect(lines.contains { $0.text.contains("<U+65E5>") })
        for line in lines {
            let text = characters.ours(line.text)
            #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(text)")
            #expect(text.utf8.count == line.width && line.width <= columns)
        }
    }

    @Test("Before it takes keys, an alert with fields shows its title and no cursor")
    func notLive() {
        let layout = Self.lines([], columns: 20, rows: 6, isLive: false)
        #expect(layout.lines.first?.text == "Rename?")
        #expect(layout.lines.allSatisfy { $0.runs.allSatisfy { !$0.look.contains(.inverse) } })
    }

    @Test("Nothing in a form can write escape sequences", arguments: hostileTexts)
    func hostile(text: String) {
        let alert = Alert(
            "?", buttons: ["OK"],
            fields: [
                Alert.Field(
                    "a", .choice([.init(text, id: "x"), "y"]), title: text, detail: text),
                Alert.Field(
                    "b", title: text, placeholder: text, initialValue: .text(text)),
                Alert.Field("c", .integer(), title: text),
            ])
        var state = AlertScreenTests.state(alert)
        for key in [Key.tab, .tab] + text.map({ .character($0) }) + [.tab, .enter] {
            _ = state.interaction.press(key, visible: [0])
        }
        var screen = AlertScreen(alert)
        for columns in [20, 80] {
            let lines = screen.layout(state, size: .init(columns: columns, rows: 200)).lines
            let shown = lines.map(\.text).joined().unicodeScalars
            #expect(!shown.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
            #expect(!shown.contains("\u{202E}") && !shown.contains("\u{2066}"))
        }
    }
}
