import AlertCore
import TextFormats

/// Lays out an alert as lines of a terminal, for a state and a size.
struct AlertScreen {
    /// Everything that changes while the alert is shown.
    struct State: Equatable {
        var interaction: AlertInteraction
        /// Who asks, since when, how many others wait, and when the alert ends by itself.
        var facts: [String]
        /// Whether keys count already.
        var isLive: Bool
        /// What is being done with the choice, once one has been made.
        var storing: String?
        /// The index of the first line shown of a text that is longer than the screen, unless
        /// another one has to be for the cursor.
        var scroll = 0
        /// What has to be on the screen, as after each key that goes to the form.
        var follows = Follow.nothing
        /// Whether everything will have been on the screen with this, so that any button can be
        /// chosen.
        var isAllShown = true
    }

    /// What is scrolled into view.
    enum Follow: Equatable {
        case nothing
        /// The entry that takes the keys, from its beginning.
        case entry
        /// The cursor in it.
        case cursor
    }

    struct Layout: Equatable {
        var lines: [StyledLine]
        /// The index of the first line shown of the text, by how many lines it scrolls at a time,
        /// and how far it can.
        var scroll = 0
        var page = 1
        var maxScroll = 0
        /// The indices of the choices that are fully visible.
        var visible: Set<Int> = []
        /// Whether the entry that takes keys is a list of options one below the other.
        var isInList = false
        /// What is on the screen of that which has to be seen, and the index of the first line that
        /// has not been.
        var contents: [SeenLines.Line] = []
        var firstUnseen: Int?
        /// Whether everything has been on the screen, with this.
        var isAllShown = false
        /// Whether the window is too small to show a title and a button.
        var isTooSmall = false
    }

    /// The smallest window in which an alert can be answered: a line each for the title, the note
    /// on how much of the text is missing, a button and the keys.
    static let smallest = Terminal.Size(columns: 10, rows: 4)

    /// What has been on the screen.
    private(set) var seen = SeenLines()
    private let title: String
    private let message: String?
    private let isSheet: Bool
    private let ownSnooze: String
    private let hasColours: Bool
    private let characters: TerminalCharacters
    // A message may have 64 KiB, and is wrapped again only for a new width.
    private var wrapped: (columns: Int, title: [StyledLine], message: [StyledLine]) = (0, [], [])

    init(_ alert: Alert, hasColours: Bool = true, characters: TerminalCharacters = .all) {
        self.hasColours = hasColours
        self.characters = characters
        title = characters.title(alert.title)
        message = alert.message.map(characters.message)
        isSheet = alert.style == .actionSheet
        ownSnooze = AlertWording.duration(alert.snooze ?? .seconds(300))
    }

    /// Fits the alert into a window.
    mutating func layout(_ state: State, size: Terminal.Size) -> Layout {
        let columns = max(1, size.columns)
        let rows = max(1, size.rows)
        guard Self.isLargeEnough(size) else { return tooSmall(columns: columns, rows: rows) }
        if wrapped.columns != columns { wrap(to: columns) }

        let interaction = state.interaction
        if interaction.showsHelp { return help(interaction, columns: columns, rows: rows) }
        let form = FormLines(
            interaction.form, takesKeys: state.isLive && interaction.isInForm, columns: columns,
            characters: characters)
        var body = Body(
            title: wrapped.title,
            facts: Self.joined(state.facts, to: columns).map { StyledLine($0, .dim) },
            message: wrapped.message, form: form)
        let isMenu = interaction.laterMenu != nil
        let buttons = ButtonLines(
            interaction.current, heading: isMenu ? "Ask again in:" : nil, isSheet: isSheet,
            isLive: state.isLive, approves: isMenu || state.isAllShown,
            takesKeys: !interaction.isInForm, hasColours: hasColours, columns: columns)
        let gap = buttons.lines.isEmpty ? [] : [StyledLine()]
        if body.lines.count + gap.count + buttons.lines.count + 1 <= rows {
            let lines = body.lines + gap + buttons.lines
            var layout = Layout(lines: [], visible: Set(interaction.current.choices.indices))
            layout.isInList = form.isInList
            note(body, body.lines.indices, in: &layout)
            let hint = hintLine(state, buttons, layout)
            return Self.cut(lines + [hint], columns, layout)
        }

        // Too much for the window: the buttons get what they need, up to half of it; the text
        // gets the rest, and can be scrolled.
        let half = (rows - 1) / 2
        if !isMenu { body.insert(buttons.labels(longerThan: half)) }
        let shownButtons = buttons.window(rows: max(half, rows - 1 - body.lines.count))
        let room = rows - 1 - shownButtons.lines.count
        let first = Self.first(state, body, form, rows: max(1, room - 1))
        let (shown, range) = Self.window(body.lines, from: first, rows: room, columns: columns)
        var layout = Layout(
            lines: [], scroll: range.lowerBound, page: range.count,
            maxScroll: max(0, body.lines.count - range.count), visible: shownButtons.visible)
        layout.isInList = form.isInList
        note(body, range, in: &layout)
        let hint = hintLine(state, buttons, layout)
        return Self.cut(shown + shownButtons.lines + [hint], columns, layout)
    }

    /// Notes that a layout has been on the screen.
    mutating func saw(_ layout: Layout) {
        seen.add(layout.contents, isRest: layout.isAllShown)
    }

    /// Has a text be seen again that was pasted, as far as it is not on the screen.
    mutating func review() { seen.review() }

    /// All that is above the buttons.
    private struct Body {
        var lines: [StyledLine]
        var contents: [SeenLines.Line?]
        /// The index of the form's first line.
        private(set) var formStart: Int

        init(
            title: [StyledLine], facts: [StyledLine], message: [StyledLine], form: FormLines
        ) {
            let gap = form.lines.isEmpty ? [] : [StyledLine()]
            lines = title + facts + message + gap
            let none = { (lines: [StyledLine]) in lines.map { _ -> SeenLines.Line? in nil } }
            let text = { (lines: [StyledLine], part: Int) in
                lines.enumerated().map { index, line -> SeenLines.Line? in
                    line.runs.isEmpty ? nil : .init(part: part, index: index, text: line.text)
                }
            }
            contents = text(title, -1) + none(facts) + text(message, 0) + none(gap)
            formStart = lines.count
            lines += form.lines
            contents += form.contents
        }

        /// Adds labels of buttons that have to be read, too, before the form.
        mutating func insert(_ labels: [StyledLine]) {
            lines.insert(contentsOf: labels, at: formStart)
            contents.insert(
                contentsOf: labels.enumerated().map {
                    .init(part: -2, index: $0, text: $1.text)
                }, at: formStart)
            formStart += labels.count
        }
    }

    /// Notes what of a text is on the screen, and what has not been yet.
    private func note(_ body: Body, _ range: Range<Int>, in layout: inout Layout) {
        layout.isAllShown = true
        guard !seen.isEverything else { return }
        layout.contents = body.contents[range].compactMap(\.self)
        layout.firstUnseen = body.contents.indices.first { index in
            guard !range.contains(index), let line = body.contents[index] else { return false }
            return !seen.contains(line)
        }
        layout.isAllShown = layout.firstUnseen == nil
    }

    /// The index of the first line to show in a number of rows.
    private static func first(
        _ state: State, _ body: Body, _ form: FormLines, rows: Int
    ) -> Int {
        var first = state.scroll
        guard let focus = form.focus else { return first }
        // Of an entry that is longer than the window, its beginning is shown, or the cursor.
        let lines =
            switch state.follows {
            case .nothing: [Int]()
            case .entry: [focus.lines.upperBound - 1, focus.lines.lowerBound]
            case .cursor: [focus.lines.upperBound - 1, focus.lines.lowerBound, focus.cursor]
            }
        for line in lines.map({ body.formStart + $0 }) {
            first = min(max(first, line - rows + 1), line)
        }
        return first
    }

    static func isLargeEnough(_ size: Terminal.Size) -> Bool {
        size.columns >= smallest.columns && size.rows >= smallest.rows
    }

    /// The contents of a window that is too small to choose anything in.
    private func tooSmall(columns: Int, rows: Int) -> Layout {
        let smallest = Self.smallest
        let text = "Too small: make it \(smallest.columns) columns and \(smallest.rows) lines."
        let lines = DisplayWidth.wrapped(text, to: columns).prefix(rows).map { StyledLine($0) }
        return Self.cut(
            lines, columns, Layout(lines: [], isAllShown: seen.isEverything, isTooSmall: true))
    }

    private mutating func wrap(to columns: Int) {
        wrapped = (
            columns, DisplayWidth.wrapped(title, to: columns).map { StyledLine($0, .bold) },
            message.map { DisplayWidth.wrapped($0, to: columns) }?.map { StyledLine($0) } ?? []
        )
    }

    /// Short texts in a row, with line breaks between them where possible.
    private static func joined(_ texts: [String], to columns: Int) -> [String] {
        var lines: [String] = []
        for text in texts {
            if let last = lines.last, DisplayWidth.maximum(of: last + " · " + text) <= columns {
                lines[lines.count - 1] = last + " · " + text
            } else {
                lines += DisplayWidth.wrapped(text, to: columns)
            }
        }
        return lines
    }

    /// A part of the text, with a line that says how much more there is.
    private static func window(
        _ body: [StyledLine], from scroll: Int, rows: Int, columns: Int
    ) -> (lines: [StyledLine], range: Range<Int>) {
        guard rows > 1, rows < body.count else {
            return (Array(body.prefix(rows)), 0..<min(max(0, rows), body.count))
        }
        let page = rows - 1
        let first = min(max(0, scroll), body.count - page)
        let left = body.count - first - page
        let lines = { (count: Int) in count == 1 ? "line" : "lines" }
        let notes =
            left > 0
            ? ["↓ \(left) more \(lines(left)) (PgDn)", "↓ \(left) more", "↓"]
            : ["↑ \(first) \(lines(first)) above (PgUp)", "↑ \(first) more", "↑"]
        let note = notes.first { DisplayWidth.maximum(of: $0) <= columns } ?? ""
        return (body[first..<first + page] + [StyledLine(note, .dim)], first..<first + page)
    }

    private static func cut(_ lines: [StyledLine], _ columns: Int, _ layout: Layout) -> Layout {
        var layout = layout
        layout.lines = lines.map { $0.truncated(to: columns) }
        return layout
    }

    // MARK: - Keys

    /// The keys that work now, the most important first, as many as fit.
    private func hintLine(
        _ state: State, _ buttons: ButtonLines, _ layout: Layout
    ) -> StyledLine {
        if let storing = state.storing { return StyledLine(storing, .dim) }
        let interaction = state.interaction
        guard state.isLive else {
            let purpose = interaction.hasButtons ? "to answer" : "to close it"
            let hints = ["stop typing \(purpose)", "stop typing", "wait"]
            return StyledLine(hints.first { $0.utf8.count <= buttons.columns } ?? "", .dim)
        }
        let isNarrow = buttons.columns < 40
        let scrolling = layout.maxScroll > 0 ? ["PgDn scrolls"] : []
        var hints: [String] = []
        if interaction.laterMenu != nil {
            hints = ["Enter chooses", "Esc back"]
        } else if !interaction.hasButtons {
            hints = [isNarrow ? "Enter" : "Enter closes"] + scrolling
        } else if let entry = interaction.form.focused {
            hints = Self.hints(
                entry, isNote: interaction.form.isInNote, isList: layout.isInList)
            if !interaction.form.isInNote { hints.append(escapeHint(interaction)) }
            hints += scrolling
        } else {
            hints = buttonHints(
                interaction, buttons, isAllShown: state.isAllShown, isNarrow, scrolling)
        }
        // A hint that doesn't fit is left out, whole.
        var text = ""
        for hint in hints {
            let longer = text.isEmpty ? hint : text + " · " + hint
            if DisplayWidth.maximum(of: longer) <= buttons.columns { text = longer }
        }
        return StyledLine(text, .dim)
    }

    /// The keys while the buttons take them.
    private func buttonHints(
        _ interaction: AlertInteraction, _ buttons: ButtonLines, isAllShown: Bool,
        _ isNarrow: Bool, _ scrolling: [String]
    ) -> [String] {
        let arrows = buttons.isList ? "↑↓" : "←→"
        let list = interaction.buttons
        let selected = list.selected.map { list.choices[$0] }
        var hints: [String] = []
        let isWaiting = !isAllShown && selected != nil && selected?.role != .cancel
        if isWaiting {
            hints.append("Enter reads on")
        } else {
            if !isAllShown { hints.append("PgDn reads on") }
            if selected != nil { hints.append(isNarrow ? "Enter" : "Enter chooses") }
        }
        if selected == nil { hints.append("\(arrows) select") }
        if interaction.letterOffersTimes { hints.append("l later…") }
        hints.append(escapeHint(interaction))
        if isAllShown { hints += scrolling }
        hints.append("\(AlertInteraction.helpKey) keys")
        if selected != nil { hints.append("\(arrows) select") }
        hints.append("\(AlertInteraction.noteKey) note")
        if buttons.hasMarks { hints.append("! destroys") }
        // Not every keyboard can type the other letters.
        let letters = list.directLetters.filter { $0.utf8.allSatisfy { $0 < 0x80 } }
        if !letters.isEmpty, interaction.form.entries.isEmpty {
            let verb = letters.count == 1 ? "chooses" : "choose"
            hints.append(letters.joined(separator: ", ") + " \(verb)")
        }
        return hints
    }

    private func escapeHint(_ interaction: AlertInteraction) -> String {
        guard interaction.letterOffersTimes else { return "Esc later…" }
        let isTooLong = interaction.laterOptions.first?.isTooLong == true
        return isTooLong ? "Esc lets it expire" : "Esc snoozes \(ownSnooze)"
    }

    /// The keys of an entry of the form.
    private static func hints(_ entry: FormEntry, isNote: Bool, isList: Bool) -> [String] {
        let arrows = isList ? "↑↓" : "←→"
        return switch entry.content {
        case .text where isNote: ["Enter done", "Esc back"]
        case .text(let editor) where editor.isMultiline:
            ["Tab next", "Enter begins a line"]
        case .text: ["Enter next"]
        case .options(let picker) where picker.takesSeveral:
            ["Space selects", "\(arrows) move", "Enter next"]
        case .options: ["\(arrows) select", "Enter next"]
        }
    }

    /// What all keys do, instead of the alert.
    private func help(
        _ interaction: AlertInteraction, columns: Int, rows: Int
    ) -> Layout {
        let hasFields = !interaction.form.entries.isEmpty
        var keys = [
            ("arrows, Tab", hasFields ? "select a button, or a field" : "select a button"),
            ("Enter", "chooses it; a text is read to its end first"),
        ]
        if interaction.buttons.hasNumbers { keys.append(("1 to 9", "choose a button at once")) }
        keys += [
            ("first letters", "do too; what destroys is only selected"),
            ("Esc, q", "ask again in \(ownSnooze)"), ("l", "offers other times"),
            (AlertInteraction.noteKey, "adds a note to the answer"),
            ("PgUp, PgDn", "scroll a long text"), ("Home, End", "to its beginning or end"),
            ("Ctrl-L", "draws the screen again"),
            ("Ctrl-C", "ends this program"),
        ]
        if !interaction.letterOffersTimes {
            keys.removeAll { ["l", "Esc, q"].contains($0.0) }
            keys.append(("Esc", "offers times to ask again"))
        }
        let width = 15
        var lines = keys.flatMap { key, effect in
            DisplayWidth.wrapped(effect, to: max(1, columns - width)).enumerated().map {
                DisplayWidth.padded($0 == 0 ? key : "", to: width) + $1
            }
        }
        if columns < 2 * width { lines = keys.map { "\($0): \($1)" } }
        let shown = lines.prefix(rows - 1).map { StyledLine($0) }
        let back = DisplayWidth.of("any key goes back") <= columns ? "any key goes back" : "any key"
        // Nothing of the alert is on the screen.
        let layout = Layout(lines: [], isAllShown: seen.isEverything)
        return Self.cut(shown + [StyledLine(back, .dim)], columns, layout)
    }
}
