import AlertCore

/// An alert as plain text with numbered buttons, which is written once and never redrawn: for dumb
/// terminals, screen readers and terminal logs.
struct NumberedPrompt {
    private let alert: Alert
    private let buttons: ChoiceList
    private let laterOptions: [AlertInteraction.LaterOption]
    private let emptyLine: String?

    /// - Parameter emptyLine: What an empty line does, such as “leave it waiting”; `nil` if it does
    ///   nothing.
    init(
        _ alert: Alert, laterOptions: [AlertInteraction.LaterOption], emptyLine: String? = nil
    ) {
        self.alert = alert
        self.laterOptions = laterOptions
        self.emptyLine = emptyLine
        buttons = AlertInteraction(alert, laterOptions: []).buttons
    }

    /// The alert with its choices, as lines of at most `columns` columns.
    func lines(facts: [String], columns: Int) -> [String] {
        var lines = DisplayWidth.wrapped(SafeText.line(alert.title), to: columns)
        if let message = alert.message {
            lines += DisplayWidth.wrapped(SafeText.lines(message), to: columns)
        }
        lines += DisplayWidth.wrapped(facts.joined(separator: " · "), to: columns)
        guard !buttons.choices.isEmpty else { return lines }
        for (index, choice) in buttons.choices.enumerated() {
            let label = PromptLabel.text(choice.title, choice.role)
            lines += item("\(index + 1)", label, columns)
        }
        for (index, option) in laterOptions.enumerated() {
            lines += item(index == 0 ? "l" : "l\(index + 1)", "later: " + option.title, columns)
        }
        return lines
    }

    /// The prompt itself, after which the person types.
    var question: String {
        let count = buttons.choices.count
        guard count > 0 else { return "Enter closes: " }
        var parts = [count == 1 ? "1" : "1 to \(count)"]
        if !laterOptions.isEmpty { parts.append("l for later") }
        if let emptyLine { parts.append("Enter to \(emptyLine)") }
        return parts.dropLast().joined(separator: ", ") + (parts.count > 1 ? ", or " : "")
            + (parts.last ?? "") + ": "
    }

    /// The choice that a line makes, by number, id or label; `nil` if it makes none.
    func read(_ line: String) -> PresenterChoice? {
        let text = Self.trimmed(line)
        guard !buttons.choices.isEmpty else { return .close }
        if text.isEmpty { return emptyLine == nil ? nil : .close }
        if let number = Int(text), buttons.choices.indices.contains(number - 1) {
            return .button(buttons.choices[number - 1].index)
        }
        if let button = alert.button(named: text) {
            return alert.buttons.firstIndex { $0.id.isIdentical(to: button.id) }
                .map { .button($0) }
        }
        guard text.first?.lowercased() == "l" else { return nil }
        let index = text.count == 1 ? 1 : Int(text.dropFirst()) ?? 0
        guard laterOptions.indices.contains(index - 1) else { return nil }
        return .later(laterOptions[index - 1].duration)
    }

    /// The name of a choice.
    func name(of choice: PresenterChoice) -> String {
        switch choice {
        case .button(let index): SafeText.line(alert.buttons[index].title)
        case .later: "later"
        case .close: emptyLine ?? "close"
        }
    }

    private func item(_ mark: String, _ title: String, _ columns: Int) -> [String] {
        let texts = DisplayWidth.wrapped(title, to: max(1, columns - 6))
        return texts.enumerated().map { index, text in
            (index == 0 ? DisplayWidth.padded("  " + mark + ")", to: 6) : "      ") + text
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
