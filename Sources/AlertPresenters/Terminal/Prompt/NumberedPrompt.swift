import AlertCore
import FoundationEssentials
import TextFormats

/// An alert as plain text with numbered buttons, which is written once and never redrawn: for dumb
/// terminals, screen readers and terminal logs.
struct NumberedPrompt {
    private let alert: Alert
    private let buttons: ChoiceList
    private let laterOptions: [AlertInteraction.LaterOption]
    private let emptyLine: String?
    private let characters: TerminalCharacters
    /// The beginning of the choices' marks: empty, or as many `#` as it takes that no button is
    /// named like the mark of another choice.
    private let markPrefix: String

    /// - Parameter emptyLine: What an empty line does, such as “leave it waiting”; `nil` if it does
    ///   nothing.
    init(
        _ alert: Alert, laterOptions: [AlertInteraction.LaterOption], emptyLine: String? = nil,
        characters: TerminalCharacters = .all
    ) {
        self.alert = alert
        self.laterOptions = laterOptions
        self.emptyLine = emptyLine
        self.characters = characters
        let choices = AlertInteraction(alert, laterOptions: [], characters: characters).buttons
        var prefix = ""
        while Self.isMisleading(prefix, alert, choices, laterOptions.count) { prefix += "#" }
        markPrefix = prefix
        buttons = choices
    }

    /// Whether a choice's mark would also be the name of a button that it does not mean.
    private static func isMisleading(
        _ prefix: String, _ alert: Alert, _ choices: ChoiceList, _ laterCount: Int
    ) -> Bool {
        let isNamed = { (mark: String, meant: Int?) in
            alert.buttons.enumerated().contains { index, button in
                let names = [button.id, button.title].map { trimmed(SafeText.title($0)) }
                return index != meant && names.contains { $0.lowercased() == mark }
            }
        }
        return choices.choices.enumerated().contains { isNamed(mark($0, prefix), $1.index) }
            || (0..<laterCount).contains { isNamed(laterMark($0, prefix), nil) }
    }

    private static func mark(_ index: Int, _ prefix: String) -> String { "\(prefix)\(index + 1)" }

    private static func laterMark(_ index: Int, _ prefix: String) -> String {
        prefix + (index == 0 ? "l" : "l\(index + 1)")
    }

    /// The alert with its choices, as lines of at most `columns` columns.
    func lines(facts: [String], columns: Int) -> [String] {
        var lines = DisplayWidth.wrapped(characters.title(alert.title), to: columns)
        lines += DisplayWidth.wrapped(facts.joined(separator: " · "), to: columns)
        if let message = alert.message {
            lines += DisplayWidth.wrapped(characters.message(message), to: columns)
        }
        guard !buttons.choices.isEmpty else { return lines }
        for (index, choice) in buttons.choices.enumerated() {
            let label = PromptLabel.text(choice.title, choice.role)
            lines += item(Self.mark(index, markPrefix), label, columns)
        }
        for (index, option) in laterOptions.enumerated() {
            lines += item(Self.laterMark(index, markPrefix), "later: " + option.title, columns)
        }
        return lines
    }

    /// The prompt itself, after which the person types.
    var question: String {
        let count = buttons.choices.count
        guard count > 0 else { return "Enter closes: " }
        let marks = (0..<count).map { Self.mark($0, markPrefix) }
        var parts = [count == 1 ? marks[0] : "\(marks[0]) to \(marks[count - 1])"]
        if !laterOptions.isEmpty { parts.append(Self.laterMark(0, markPrefix) + " for later") }
        parts.append("\(AlertInteraction.noteKey) and a text for a note")
        if let emptyLine { parts.append("Enter to \(emptyLine)") }
        return parts.dropLast().joined(separator: ", ") + (parts.count > 1 ? ", or " : "")
            + (parts.last ?? "") + ": "
    }

    /// What may be typed at the prompt, for a person who asks with `?`.
    var help: String {
        let mark = Self.laterMark(1, markPrefix)
        let later = laterOptions.count > 1 ? " \(mark) and so on are the other times." : ""
        return "A button's number, its label or the only first letter, and then Enter, choose it."
            + later
    }

    /// The choice that a line makes, by id, label or mark; `nil` if it makes none.
    ///
    /// - Parameter now: The time, which a choice of a date depends on.
    func read(_ line: String, now: Date = Date()) -> PresenterChoice? {
        let text = Self.trimmed(line)
        guard !buttons.choices.isEmpty else { return .close }
        if text.isEmpty { return emptyLine == nil ? nil : .close }
        if let button = alert.button(named: text) {
            return alert.buttons.firstIndex { $0.id.isIdentical(to: button.id) }
                .map { .button($0) }
        }
        return marked(text, now: now) ?? button(beginningWith: text).map { .button($0) }
    }

    /// The choice with a mark.
    private func marked(_ text: String, now: Date) -> PresenterChoice? {
        guard text.hasPrefix(markPrefix) else { return nil }
        let mark = text.dropFirst(markPrefix.count)
        if let number = Int(mark), buttons.choices.indices.contains(number - 1) {
            return .button(buttons.choices[number - 1].index)
        }
        guard mark.first?.lowercased() == "l" else { return nil }
        let index = mark.count == 1 ? 1 : Int(mark.dropFirst()) ?? 0
        guard laterOptions.indices.contains(index - 1) else { return nil }
        return laterOptions[index - 1].choice(at: now)
    }

    /// The only button whose label or id begins with a letter, as `y` does for “Yes”.
    private func button(beginningWith text: String) -> Int? {
        guard text.count == 1, text.first?.isLetter == true else { return nil }
        let letter = text.lowercased()
        let matches = alert.buttons.indices.filter { index in
            [alert.buttons[index].title, alert.buttons[index].id].contains {
                Choice(index: index, label: $0).letter == letter
            }
        }
        return matches.count == 1 ? matches[0] : nil
    }

    /// The note that a line gives, which may be empty; `nil` if it gives none.
    ///
    /// A line that chooses a button, which may have such a name, gives no note.
    func note(_ line: String) -> String? {
        let text = Self.trimmed(line)
        guard text.hasPrefix(AlertInteraction.noteKey) else { return nil }
        return Self.trimmed(String(text.dropFirst(AlertInteraction.noteKey.count)))
    }

    /// The name of a choice.
    func name(of choice: PresenterChoice) -> String {
        switch choice {
        case .button(let index, _): characters.title(alert.buttons[index].title)
        case .later: "later"
        case .close: emptyLine ?? "close"
        }
    }

    private func item(_ mark: String, _ title: String, _ columns: Int) -> [String] {
        let margin = 6 + markPrefix.count
        let texts = DisplayWidth.wrapped(title, to: max(1, columns - margin))
        return texts.enumerated().map { index, text in
            DisplayWidth.padded(index == 0 ? "  " + mark + ")" : "", to: margin) + text
        }
    }

    static func trimmed(_ line: String) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        guard let first = line.firstIndex(where: { !isBlank($0) }),
            let last = line.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(line[first...last])
    }
}
