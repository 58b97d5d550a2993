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
        /// Whether the cursor has to be on the screen, as after each key that goes to the form.
        var followsCursor = false
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
        /// Whether the entry that takes keys is on the screen, if there is one.
        var showsFocus = true
        /// Whether the window is too small to show a title and a button.
        var isTooSmall = false
    }

    /// The smallest window in which an alert can be answered: a line each for the title, the note
    /// on how much of the text is missing, a button and the keys.
    static let smallest = Terminal.Size(columns: 10, rows: 4)

    private let title: String
    private let message: String?
    private let isSheet: Bool
    private let ownSnooze: String
    private let hasColours: Bool
    private let characters: TerminalCharacters
    // A message may have 64 KiB, and is wrapped again only for a new width.
    private var wrapped: (columns: Int, lines: [StyledLine]) = (0, [])

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
        guard Self.isLargeEnough(size) else { return Self.tooSmall(columns: columns, rows: rows) }
        if wrapped.columns != columns { wrapped = (columns, wrap(to: columns)) }

        let facts = Self.joined(state.facts, to: columns).map { StyledLine($0, .dim) }
        var body = wrapped.lines + facts
        let interaction = state.interaction
        let form = FormLines(
            interaction.form, takesKeys: state.isLive && interaction.isInForm, columns: columns,
            characters: characters)
        if !form.lines.isEmpty { body += [StyledLine()] + form.lines }
        let isMenu = interaction.laterMenu != nil
        let buttons = ButtonLines(
            interaction.current, heading: isMenu ? "Ask again in:" : nil, isSheet: isSheet,
            isLive: state.isLive, takesKeys: !interaction.isInForm, hasColours: hasColours,
            columns: columns)
        let gap = buttons.lines.isEmpty ? [] : [StyledLine()]
        if body.count + gap.count + buttons.lines.count + 1 <= rows {
            let lines = body + gap + buttons.lines + [hintLine(state, buttons, isScrolled: false)]
            let visible = Set(interaction.current.choices.indices)
            return Self.cut(lines, columns, Layout(lines: [], visible: visible))
        }

        // Too much for the window: the buttons get what they need, up to half of it; the text
        // gets the rest, and can be scrolled.
        let half = (rows - 1) / 2
        let shownButtons = buttons.window(rows: max(half, rows - 1 - body.count))
        let room = rows - 1 - shownButtons.lines.count
        var first = state.scroll
        let start = body.count - form.lines.count
        if state.followsCursor, let focus = form.focus {
            // Of an entry that is longer than the window, the line with the cursor is shown.
            let rows = max(1, room - 1)
            for line in [focus.lines.upperBound - 1, focus.lines.lowerBound, focus.cursor] {
                first = min(max(first, start + line - rows + 1), start + line)
            }
        }
        let (shown, scroll, page) = Self.window(body, from: first, rows: room)
        let showsFocus = form.focus.map { scroll..<scroll + page ~= start + $0.cursor } ?? true
        let layout = Layout(
            lines: [], scroll: scroll, page: page, maxScroll: max(0, body.count - page),
            visible: shownButtons.visible, showsFocus: showsFocus)
        let hint = hintLine(state, buttons, isScrolled: room < body.count)
        body = shown
        return Self.cut(body + shownButtons.lines + [hint], columns, layout)
    }

    static func isLargeEnough(_ size: Terminal.Size) -> Bool {
        size.columns >= smallest.columns && size.rows >= smallest.rows
    }

    /// The contents of a window that is too small to choose anything in.
    private static func tooSmall(columns: Int, rows: Int) -> Layout {
        let text = "Too small: make it \(smallest.columns) columns and \(smallest.rows) lines."
        let lines = DisplayWidth.wrapped(text, to: columns).prefix(rows).map { StyledLine($0) }
        return Self.cut(lines, columns, Layout(lines: [], isTooSmall: true))
    }

    private func wrap(to columns: Int) -> [StyledLine] {
        var lines = DisplayWidth.wrapped(title, to: columns).map { StyledLine($0, .bold) }
        if let message {
            lines += DisplayWidth.wrapped(message, to: columns).map { StyledLine($0) }
        }
        return lines
    }

    /// Short texts in a row, with line breaks between them where possible.
    private static func joined(_ texts: [String], to columns: Int) -> [String] {
        var lines: [String] = []
        for text in texts {
            if let last = lines.last, DisplayWidth.of(last + " · " + text) <= columns {
                lines[lines.count - 1] = last + " · " + text
            } else {
                lines += DisplayWidth.wrapped(text, to: columns)
            }
        }
        return lines
    }

    /// A part of the text, with a line that says how much more there is.
    private static func window(
        _ body: [StyledLine], from scroll: Int, rows: Int
    ) -> (lines: [StyledLine], first: Int, page: Int) {
        guard rows < body.count else { return (body, 0, body.count) }
        guard rows > 1 else { return (Array(body.prefix(rows)), 0, body.count) }
        let page = rows - 1
        let first = min(max(0, scroll), body.count - page)
        let left = body.count - first - page
        let lines = { (count: Int) in count == 1 ? "line" : "lines" }
        let note =
            left > 0
            ? "↓ \(left) more \(lines(left)) (PgDn)" : "↑ \(first) \(lines(first)) above (PgUp)"
        return (body[first..<first + page] + [StyledLine(note, .dim)], first, page)
    }

    private static func cut(_ lines: [StyledLine], _ columns: Int, _ layout: Layout) -> Layout {
        var layout = layout
        layout.lines = lines.map { $0.truncated(to: columns) }
        return layout
    }

    /// The keys that work now, the most important first, as many as fit.
    private func hintLine(
        _ state: State, _ buttons: ButtonLines, isScrolled: Bool
    ) -> StyledLine {
        if let storing = state.storing { return StyledLine(storing, .dim) }
        guard state.isLive else {
            let hint = buttons.columns < 21 ? "stop typing" : "stop typing to answer"
            return StyledLine(hint, .dim)
        }
        let interaction = state.interaction
        var hints: [String] = []
        if interaction.laterMenu != nil {
            hints = ["Enter chooses", "Esc back"]
        } else if !interaction.hasButtons {
            hints = ["Enter closes"]
        } else if let entry = interaction.form.focused {
            hints = Self.hints(entry, isNote: interaction.form.isInNote)
            if !interaction.form.isInNote { hints.append(escapeHint(interaction)) }
            if isScrolled { hints.append("PgDn scrolls") }
        } else {
            let arrows = buttons.isList ? "↑↓" : "←→"
            let list = interaction.buttons
            let enter = buttons.columns < 40 ? "Enter" : "Enter chooses"
            hints.append(list.selected == nil ? "\(arrows) select" : enter)
            if interaction.letterOffersTimes { hints.append("l later…") }
            hints.append(escapeHint(interaction))
            if isScrolled { hints.append("PgDn scrolls") }
            if list.selected != nil { hints.append("\(arrows) select") }
            hints.append("\(AlertInteraction.noteKey) note")
            if buttons.hasMarks { hints.append("! destroys") }
            // Not every keyboard can type the other letters.
            let letters = list.directLetters.filter { $0.utf8.allSatisfy { $0 < 0x80 } }
            if !letters.isEmpty, interaction.form.entries.isEmpty {
                let verb = letters.count == 1 ? "chooses" : "choose"
                hints.append(letters.joined(separator: ", ") + " \(verb)")
            }
        }
        var text = ""
        for hint in hints {
            let longer = text.isEmpty ? hint : text + " · " + hint
            if !text.isEmpty, DisplayWidth.of(longer) > buttons.columns { continue }
            text = longer
        }
        return StyledLine(text, .dim)
    }

    private func escapeHint(_ interaction: AlertInteraction) -> String {
        guard interaction.letterOffersTimes else { return "Esc later…" }
        let isTooLong = interaction.laterOptions.first?.isTooLong == true
        return isTooLong ? "Esc lets it expire" : "Esc snoozes \(ownSnooze)"
    }

    /// The keys of an entry of the form.
    private static func hints(_ entry: FormEntry, isNote: Bool) -> [String] {
        switch entry.content {
        case .text where isNote: ["Enter done", "Esc back"]
        case .text(let editor) where editor.isMultiline:
            ["Tab next", "Enter begins a line"]
        case .text: ["Enter next"]
        case .options(let picker) where picker.takesSeveral:
            ["Space selects", "←→ move", "Enter next"]
        case .options: ["←→ select", "Enter next"]
        }
    }
}
